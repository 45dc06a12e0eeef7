/** A store of several environments as files: made, opened, checked, upgraded, swept, erased from and copied as one. */
import { copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { mintSessionToken, placeOfToken } from "../../src/contract/session-token.js";
import { rescoreSessions } from "../../src/control-plane/rescore.js";
import { sessionPage } from "../../src/control-plane/session-log.js";
import { eraseSession } from "../../src/control-plane/sessions-erase.js";
import { checkStore } from "../../src/control-plane/store-check.js";
import { Refusal } from "../../src/errors.js";
import { LongWork } from "../../src/long-work.js";
import { backupStore } from "../../src/store/backup.js";
import { sweep } from "../../src/store/expiry.js";
import { sessionKey } from "../../src/store/keys.js";
import { rowsOf, sessionStoreOf } from "../../src/store/session-stores.js";
import { openStore, type Store, schemaVersion } from "../../src/store/store.js";
import { sessionsFile, storeFileFault } from "../../src/store/store-file.js";
import { currentSchema, type Schema } from "../../src/store/upgrades.js";
import { newWriteCounts, WriteMarker, WriteWatch } from "../../src/store/write-watch.js";
import { openIngest } from "../resilience/ingest.js";
import { batch } from "../support/batches.js";
import { command, json } from "../support/process.js";
import { putSession } from "../support/stored-session.js";

const noon = Date.UTC(2026, 10, 21, 12);

t.test("a token leads to the place it was minted for, at the time it was minted", async (t) => {
  for (const of of [1, 2, 3, 7, 16]) {
    for (let place = 0; place < of; place++) {
      for (const ms of [0, 1, 499, 999]) {
        let bits = 0;
        const fill = (into: Uint8Array): void => {
          bits = 8 * into.fill(255).length;
        };
        const token = mintSessionToken(noon + ms, fill, { place, of });
        const late = token[4]! - Math.floor((ms * 256) / 1000);
        if (placeOfToken(token, of) !== place || bits !== 128 || Math.abs(late) >= of)
          t.fail(`${place} of ${of}, ${ms}`);
        if (token.readUInt32BE(0) !== noon / 1000) t.fail("another second");
      }
    }
  }
});

t.test("init makes as many as it is told, and nothing changes that afterwards", async (t) => {
  const dir = join(t.testdir(), "store");
  const wrong = await command(["init", "--session-stores", "17", "--data-dir", dir]);
  t.match(wrong, { code: 2, stderr: /--session-stores: expected 1 to 16/ });
  t.notOk(existsSync(dir));
  await json(dir, "init", "--session-stores", "3");
  t.match(await json(dir, "stats"), { session_stores: 3, schema_version: schemaVersion });
  const again = await command(["init", "--session-stores", "2", "--data-dir", dir]);
  t.match(again, { code: 1, stderr: /made with 3 session stores, which can't be changed/ });
});

const newer: Schema = {
  version: schemaVersion + 1,
  upgrades: [
    ...currentSchema.upgrades,
    {
      to: schemaVersion + 1,
      apply: ({ meta }) => meta.putSync("mark", 1),
      applyToSessions: ({ meta }) => meta.putSync("mark", 2),
    },
  ],
};

t.test("every environment is upgraded, after a copy of each; an older program refuses the store", async (t) => {
  const dir = t.testdir();
  await openStore(dir, currentSchema, 3).close();
  for (const time of ["first", "second"]) {
    const store = openStore(dir, newer);
    t.same(
      store.sessionStores.map(({ meta }) => [meta.get("mark"), meta.get("schemaVersion")]),
      [1, 2, 2].map((mark) => [mark, newer.version]),
      time,
    );
    await store.close();
  }
  t.ok(existsSync(`${sessionsFile(dir, 2)}.schema-${schemaVersion}`));
  t.throws(() => openStore(dir), { name: "StoreError", message: /newer verdictd/ });
});

t.test("a file that is missing, or of another store, is refused", async (t) => {
  const folder = t.testdir();
  const [one, other] = [join(folder, "one"), join(folder, "other")];
  for (const dir of [one, other]) await openStore(dir, currentSchema, 2).close();
  renameSync(sessionsFile(one, 1), join(folder, "aside"));
  t.throws(() => openStore(one), { name: "StoreError", message: /sessions-1\.mdb, .* is missing/ });
  t.notOk(existsSync(sessionsFile(one, 1)), "and not made anew");
  copyFileSync(sessionsFile(other, 1), sessionsFile(one, 1));
  t.throws(() => openStore(one), { name: "StoreError", message: /is not of this store/ });
  copyFileSync(join(folder, "aside"), sessionsFile(one, 1));
  await openStore(one).close();
});

t.test("what a start that was cut short has left is used when a store is made there", async (t) => {
  const dir = t.testdir();
  await openStore(dir, currentSchema, 2).close();
  rmSync(join(dir, "verdictd.mdb"));
  rmSync(join(dir, "verdictd.mdb-lock"));
  const store = openStore(dir, currentSchema, 3);
  t.equal(store.sessionStores.length, 3);
  await store.close();
});

interface Stored {
  readonly store: Store;
  readonly projectId: number;
  /** By first contact. */
  readonly tokens: readonly string[];
}

/** A store of three environments with sessions a second apart. */
async function stored(t: Test, count: number): Promise<Stored> {
  const { store, owner, take } = await openIngest(t, undefined, "full", 1e9, 3);
  const tokens = Array.from({ length: count }, (_, index) => {
    const [outcome] = take({ body: batch(`visit${index}x0`, 2), key: `k${index}`, nowMs: noon + index * 400 });
    return outcome !== undefined && "session_token" in outcome ? outcome.session_token : "";
  });
  t.ok(
    store.sessionStores.every(({ sessions }) => sessions.getCount() > 0),
    "all environments have sessions",
  );
  return { store, projectId: owner.projectId, tokens };
}

/** Tokens of the whole log, read in pages of seven. */
async function logOf(store: Store, projectId: number): Promise<string[]> {
  const found: string[] = [];
  const slices = new LongWork().begin();
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof sessionPage>> = await sessionPage(store, projectId, 7, cursor, slices);
    if (page === null || page instanceof Refusal) throw new Error("no page");
    found.push(...page.rows.map(({ token }) => token));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

t.test("the log of sessions is one, by first contact, page by page", async (t) => {
  const { store, projectId, tokens } = await stored(t, 25);
  const found = await logOf(store, projectId);
  t.same(found, tokens.toReversed());
});

for (const sessionStores of [1, 3]) {
  t.test(`the log leaves none out whose token is ahead of its first contact; files: ${sessionStores}`, async (t) => {
    const store = openStore(t.testdir(), currentSchema, sessionStores);
    t.teardown(() => store.close());
    // As two scoring threads mint them, one of which is ahead of the clock and at last in the next second.
    const tokens = Array.from({ length: 120 }, (_, index) =>
      putSession(store, 1, noon + 800 + index, index, undefined, index % 2 === 0 ? 5 * index : 0),
    );
    const found = await logOf(store, 1);
    t.equal(found.length, tokens.length);
    t.same([...found].sort(), [...tokens].sort());
  });
}

t.test("sessions are erased, expire and make room wherever they lie", async (t) => {
  const { store, projectId, tokens } = await stored(t, 40);
  const elsewhere = tokens.find((token) => placeOfToken(Buffer.from(token.slice(5), "base64url"), 3) === 2)!;
  t.match(await eraseSession(store, elsewhere), { projectId, sessions: 1, idempotency: 1 });
  t.equal(await eraseSession(store, elsewhere), null);
  t.same(await rescoreSessions(store), { sessions: 39, changed: 0, left: 0 });
  const long = { sessionMs: 1e12, blockMs: 1e12, trafficMs: 1e12, sessionsMax: 1e9 };
  const room = await sweep(store, { ...long, sessionsMax: 30 }, noon + 60_000);
  t.ok(room.sessions >= 39 - 28 && room.sessions <= 39 - 28 + 3, `${room.sessions} went, for 28 to stay`);
  t.same(checkStore(store).faults, []);
  const all = await sweep(store, { ...long, sessionMs: 1000, trafficMs: 1 }, noon + 3 * 86_400_000);
  t.equal(rowsOf(store, "sessions"), 0);
  t.match(all, { idempotencyKeys: 39, traffic: 3 });
  t.same(checkStore(store).faults, []);
});

t.test("the check finds what is wrong in any environment, and what lies in another than it should", async (t) => {
  const { store, projectId } = await stored(t, 12);
  const token = mintSessionToken(noon, (into) => into.fill(9), { place: 1, of: 3 });
  const [, second, third] = store.sessionStores;
  const row = [...second!.sessions.getRange({ limit: 1 })][0]!;
  third!.sessions.putSync(row.key, row.value);
  second!.usage.putSync([1, "2026-11"], 1);
  second!.sessions.putSync(sessionKey(projectId, token), Buffer.from("no record"));
  const faults = checkStore(store).faults.map(({ table, fault }) => `${table}: ${fault}`);
  for (const expected of [/^sessions: lies elsewhere/, /^usage: projects counted/, /^sessions: record can't be/]) {
    t.ok(
      faults.some((fault) => expected.test(fault)),
      `${expected} in ${faults.join("; ")}`,
    );
  }
});

t.test("a copy is a store of all environments, and each of its files is looked at", async (t) => {
  const { store, projectId, tokens } = await stored(t, 12);
  const target = join(t.testdir({}), "copy");
  const { bytes } = await backupStore(store, target);
  t.ok(bytes > 3 * 8192);
  t.equal(storeFileFault(target), null);
  const copy = openStore(target);
  t.equal(rowsOf(copy, "sessions"), 12);
  t.same(checkStore(copy).faults, []);
  for (const token of tokens) {
    const key = sessionKey(projectId, Buffer.from(token.slice(5), "base64url"));
    if (!sessionStoreOf(copy, key.subarray(4)).sessions.doesExist(key)) t.fail(`${token} is missing`);
  }
  await copy.close();
  copyFileSync(new URL(import.meta.url), sessionsFile(target, 1));
  t.match(storeFileFault(target), /sessions-1\.mdb is no store of verdictd/);
});

t.test("a transaction that hangs is seen although others go on in other environments", async (t) => {
  const counts = newWriteCounts(3);
  const watch = new WriteWatch(counts);
  const markers = [0, 1, 2].map((lock) => new WriteMarker(counts, lock));
  let ticks: number[] = [];
  const hanging = (): void => {
    for (let round = 0; round < 4; round++) {
      markers[0]!.asking(() => markers[0]!.holding(() => {}));
      ticks.push(watch.tick());
    }
    t.notOk(watch.isQuiet);
  };
  markers[2]!.asking(() => markers[2]!.holding(hanging));
  t.same(ticks, [0, 1, 2, 3]);
  ticks = [watch.tick()];
  t.same([ticks, watch.isQuiet], [[0], true], "it is over");
});
