/** A store that an earlier version split over several files is merged into one when it is opened, and nothing of it is lost. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { Credentials } from "../../src/auth/credentials.js";
import type { Traffic } from "../../src/contract/entities.js";
import { defaultPlans } from "../../src/contract/plans.js";
import { unidentified } from "../../src/contract/visitor.js";
import { checkStore } from "../../src/control-plane/store-check.js";
import { commitToLmdb } from "../../src/ingest/lmdb-commit.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { TokenMint } from "../../src/ingest/token-mint.js";
import { unpackCrossSessionCount } from "../../src/store/cross-session-count.js";
import { Environment } from "../../src/store/environment.js";
import { GroupWriter } from "../../src/store/group-writer.js";
import { solvedChallengeKey } from "../../src/store/keys.js";
import { openStore, schemaVersion } from "../../src/store/open-store.js";
import { sessionCountKey } from "../../src/store/session-count.js";
import { openSessionTables, type SessionTables } from "../../src/store/session-tables.js";
import { sessionsFile, storeFile, storeFileFault } from "../../src/store/store-file.js";
import { currentSchema } from "../../src/store/upgrades.js";
import { newWriteCounts, WriteMarker } from "../../src/store/write-watch.js";
import { batch } from "../support/batches.js";
import { type Owner, ownerOf } from "../support/owner.js";
import { noFacts } from "./ingest.js";

const noon = Date.UTC(2026, 10, 21, 12);
const files = 3;
/** More than a transaction of the merge takes. */
const sessionsInFirst = 1300;
const schema4 = { version: 4, upgrades: currentSchema.upgrades.filter(({ to }) => to <= 4) };

/** Mints as a store of several files did: a byte of the token says which file its session is in. */
class FileMint extends TokenMint {
  readonly #file: number;
  constructor(file: number) {
    super();
    this.#file = file;
  }
  override mint(nowMs: number): Buffer {
    return super.mint(nowMs, files * Math.floor((nowMs % 1000) / 12) + this.#file);
  }
}

interface Rows {
  /** Tables whose rows are copied: "table key" and the value. */
  readonly copied: Map<string, unknown>;
  readonly counts: Map<string, number>;
  readonly usage: Map<string, number>;
  readonly traffic: Map<string, Traffic>;
}

const copiedTables = ["sessions", "repeats", "idempotency", "trails", "solvedChallenges"] as const;

/** Adds the rows of a file to those of others, in the test's own way. */
function addRows(rows: Rows, tables: SessionTables): void {
  for (const name of copiedTables)
    for (const { key, value } of tables[name].getRange({})) rows.copied.set(`${name} ${key.toString("hex")}`, value);
  for (const { key, value } of tables.crossSessionCounts.getRange({})) {
    const name = key.toString("hex");
    rows.counts.set(name, (rows.counts.get(name) ?? 0) + unpackCrossSessionCount(value)!);
  }
  for (const { key, value } of tables.usage.getRange({})) {
    rows.usage.set(key.join(), (rows.usage.get(key.join()) ?? 0) + value);
  }
  for (const { key, value } of tables.traffic.getRange({})) {
    const before = rows.traffic.get(key.join());
    rows.traffic.set(key.join(), {
      events: (before?.events ?? 0) + value.events,
      sessions: (before?.sessions ?? 0) + value.sessions,
      // Only the main file has these.
      verdicts: { ...before?.verdicts, ...value.verdicts },
      actions: { ...before?.actions, ...value.actions },
    });
  }
}

const noRows = (): Rows => ({ copied: new Map(), counts: new Map(), usage: new Map(), traffic: new Map() });

interface Split {
  readonly owner: Owner;
  readonly rows: Rows;
  readonly sessions: number;
  /** A session of each file, with the name of its batch. */
  readonly known: readonly { readonly token: string; readonly name: string }[];
}

/** Sends batches as a scoring thread does; their tokens. */
function sender(tables: SessionTables, credentials: Credentials, owner: Owner, mint: TokenMint) {
  const commit = {
    unit: new LmdbUnitOfWork(tables),
    writer: new GroupWriter(tables, "process", new WriteMarker(newWriteCounts())),
    context: { credentials, mint, plans: defaultPlans, ipStorage: "full", sessionsMax: 1e9 },
    onFired: () => {},
  } as const;
  return (bodies: readonly { readonly body: unknown; readonly key: string; readonly atMs: number }[]) =>
    commitToLmdb(
      commit,
      bodies.map(({ body, key, atMs }, index) => ({
        siteKey: owner.siteKey,
        idempotencyKey: key,
        identity: unidentified,
        identifies: "",
        score: true,
        facts: { ...noFacts, nowMs: atMs, ip: `203.0.113.${index % 50}` },
        body: Buffer.from(JSON.stringify(body)),
      })),
    ).map((outcome) => {
      if (!("session_token" in outcome)) throw new Error(JSON.stringify(outcome));
      return outcome;
    });
}

/** Makes such a store, its files as verdictd wrote them up to schema 4. */
async function makeSplit(dataDir: string): Promise<Split> {
  const main = openStore(dataDir, schema4);
  const owner = await ownerOf(main);
  const rows = noRows();
  const known: { token: string; name: string }[] = [];
  let sessions = 0;
  const credentials = new Credentials(main);
  for (let file = 0; file < files; file++) {
    const tables = file === 0 ? main : openSessionTables(new Environment(sessionsFile(dataDir, file)));
    const send = sender(tables, credentials, owner, new FileMint(file));
    const count = file === 1 ? sessionsInFirst : 200;
    const bodies = Array.from({ length: count }, (_, index) => ({
      body: batch(`file${file}x${index}`, 2),
      key: `${file}/${index}`,
      // The months differ, and so do the hours.
      atMs: noon + index * 700 + (index % 3 === 1 ? 12 * 86_400_000 : 0),
    }));
    const outcomes = send(bodies);
    sessions += count;
    const token = outcomes[0]!.session_token;
    for (let more = 0; more < 4; more++)
      send([{ body: batch(`more${file}x${more}`, 100, token), key: "x", atMs: noon + more }]);
    known.push({ token, name: `file${file}x0` });
    tables.root.transactionSync(() => {
      const key = [...tables.sessions.getKeys({ limit: 1 })][0]!;
      tables.trails.putSync(key, {
        startedAtMs: noon,
        noted: 1,
        points: [],
        moments: [{ at: 0, type: "page", count: 1 }],
      });
      tables.solvedChallenges.putSync(solvedChallengeKey(noon, `${file}`.repeat(32)), Buffer.from([1]));
      tables.meta.putSync("sessionStores", files);
      tables.meta.putSync("storeId", 4711);
      if (file > 0) tables.meta.putSync("sessionStore", file);
      // The last file's upgrade was cut short.
      if (file > 0) tables.meta.putSync("schemaVersion", file === 2 ? 3 : 4);
      if (file > 0) return;
      const [hour] = [...tables.traffic.getRange({ limit: 1 })];
      tables.traffic.putSync(hour!.key, { ...hour!.value, verdicts: { definite: 7 }, actions: { block: 7 } });
    });
    addRows(rows, tables);
    if (file > 0) await tables.root.close();
  }
  await main.close();
  return { owner, rows, sessions, known };
}

const program = fileURLToPath(new URL("./killed-opening.js", import.meta.url));

/** Opens the store in a process that is killed in its `killAt`th write transaction; whether it came so far. */
function openKilled(dataDir: string, killAt: number): boolean {
  const { status, signal, stderr } = spawnSync(process.execPath, [program, dataDir, String(killAt)], {
    encoding: "utf8",
  });
  if (signal === null && status !== 0) throw new Error(stderr);
  return signal === "SIGKILL";
}

t.test("split over several files", async (t) => {
  const folder = t.testdir({ made: {} });
  const made = join(folder, "made");
  const split = await makeSplit(made);
  const copyOf = (name: string): string => {
    const dir = join(folder, name);
    mkdirSync(dir);
    for (const file of readdirSync(made)) if (file.endsWith(".mdb")) copyFileSync(join(made, file), join(dir, file));
    return dir;
  };

  await t.test("killed in one transaction after another, the merge ends with all rows, each sum once", async (t) => {
    const dir = copyOf("killed");
    let kills = 0;
    // The first transaction upgrades, each opening after that has one that looks whether there is more to do.
    for (const killAt of [1, 2, 4, 3, 7, 5, 9, 6, 20]) if (openKilled(dir, killAt)) kills++;
    t.ok(kills >= 5, `${kills} kills`);
    const store = openStore(dir);
    t.teardown(() => store.close());
    const rows = noRows();
    addRows(rows, store);
    for (const name of ["copied", "counts", "usage", "traffic"] as const) t.same(rows[name], split.rows[name], name);
    t.equal(store.meta.get(sessionCountKey(split.owner.projectId)), split.sessions);
    t.same(
      ["sessionStores", "storeId", "sessionFilesMerged", "schemaVersion"].map((key) => store.meta.get(key)),
      [undefined, undefined, undefined, schemaVersion],
    );
    t.same(checkStore(store).faults, []);
    const send = sender(store, new Credentials(store), split.owner, new TokenMint());
    for (const { token, name } of split.known) {
      const atMs = noon + 60_000;
      const [again, more] = send([
        { body: batch(name, 2), key: `${name[4]}/0`, atMs },
        { body: batch(`further${name}`, 3, token), key: "x", atMs },
      ]);
      t.same(again, { session_token: token, accepted: 0, duplicates: 2 }, "its retry finds the session");
      t.same(more, { session_token: token, accepted: 3, duplicates: 0 });
    }
    t.same(checkStore(store).faults, []);
  });

  await t.test("the files are kept beside it, as they were, under the name of copies", async (t) => {
    const dir = copyOf("kept");
    await openStore(dir).close();
    const kept = readdirSync(dir).sort();
    const expected = ["sessions-1.mdb.schema-4", "sessions-2.mdb.schema-3", "sessions-2.mdb.schema-4", "verdictd.mdb"];
    t.same(kept, [...expected, "verdictd.mdb-lock", "verdictd.mdb.schema-4"].sort());
    const back = join(folder, "back");
    mkdirSync(back);
    for (const name of kept.filter((each) => each.endsWith(".schema-4")))
      copyFileSync(join(dir, name), join(back, name.replace(".schema-4", "")));
    const rows = noRows();
    for (const path of [storeFile(back), sessionsFile(back, 1), sessionsFile(back, 2)]) {
      const tables = openSessionTables(new Environment(path));
      t.equal(tables.meta.get("schemaVersion"), 4);
      addRows(rows, tables);
      await tables.root.close();
    }
    t.same(rows, split.rows);
  });

  await t.test("processes that open it at once merge it once", async (t) => {
    const dir = copyOf("both");
    const opening = [1, 2, 3].map(() => spawn(process.execPath, [program, dir, "never"]));
    const codes = await Promise.all(opening.map(async (child) => (await once(child, "exit"))[0]));
    t.same(codes, [0, 0, 0]);
    const store = openStore(dir);
    t.teardown(() => store.close());
    const rows = noRows();
    addRows(rows, store);
    t.same(rows.usage, split.rows.usage);
    t.equal(rows.copied.size, split.rows.copied.size);
    t.same(checkStore(store).faults, []);
  });

  await t.test(
    "a file that is missing, of another store or cut short is refused, and nothing is changed",
    async (t) => {
      const dir = copyOf("refused");
      renameSync(sessionsFile(dir, 2), join(folder, "aside"));
      t.throws(() => openStore(dir), { name: "StoreError", message: /sessions-2\.mdb, .* is missing/ });
      t.notOk(existsSync(sessionsFile(dir, 2)), "and not made anew");
      copyFileSync(sessionsFile(dir, 1), sessionsFile(dir, 2));
      t.throws(() => openStore(dir), { name: "StoreError", message: /sessions-2\.mdb is not of this store/ });
      truncateSync(sessionsFile(dir, 2), 8192);
      t.match(storeFileFault(dir), /sessions-2\.mdb was cut short/);
      copyFileSync(join(folder, "aside"), sessionsFile(dir, 2));
      const store = openStore(dir);
      t.equal(store.meta.get(sessionCountKey(split.owner.projectId)), split.sessions);
      await store.close();
    },
  );
});
