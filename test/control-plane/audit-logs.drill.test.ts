/** The logs of changes: many changes of one kind push out none of another, and repeated ones are one entry with a count. */
import t, { type Test } from "tap";
import { ClusterClient } from "../../src/cluster/cluster-client.js";
import { keySlot } from "../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { auditRow } from "../../src/cluster-store/keys.js";
import { clusterRecordedRows } from "../../src/cluster-store/recorded/cluster-recorded-rows.js";
import type { AuditAction, AuditEntry } from "../../src/contract/configuration/audit.js";
import { auditPage } from "../../src/control-plane/logs/audit.js";
import { limits } from "../../src/limits.js";
import { LongWork } from "../../src/runtime/long-work.js";
import { keepAuditBound, surplusChanges } from "../../src/store/audit-bound.js";
import { logChange, type NewAuditEntry, putAuditEntry } from "../../src/store/audit-rows.js";
import { changeControlPlane } from "../../src/store/control-plane-changes.js";
import { logNumberOf } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { good, startService } from "../http/service.js";
import { startRedis } from "../support/redis-cluster.js";

const startMs = Date.UTC(2026, 10, 1);

function change(action: AuditAction, subject: string, atMs = startMs, tokenId: number | null = 1): NewAuditEntry {
  const at = new Date(atMs).toISOString();
  return { accountId: 1, projectId: null, at, userId: 1, tokenId, action, subject, before: null, after: null };
}

function newStore(t: Test): Store {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  return store;
}

/** What the write of its latest entry returned. */
async function latestOf(store: Store): Promise<AuditEntry[]> {
  const log = logNumberOf(change("rule.changed", ""));
  return [...(await store.recorded.audit.before(log, Number.POSITIVE_INFINITY, 1))];
}

async function all(store: Store, kind: string | null = null): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  const times = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };
  for (let cursor: string | null = null; ; ) {
    const query = { accountId: 1, seesAccount: true, projectId: null, kind, ...times, limit: 100, cursor };
    const page = await auditPage(store, query, new LongWork().begin());
    if (page === null || "error" in page) throw new Error("no page");
    found.push(...page.rows);
    if (page.nextCursor === null) return found;
    cursor = page.nextCursor;
  }
}

t.test("ten thousand renames of rules erase no change of members, tokens, keys and settings", async (t) => {
  const store = newStore(t);
  const kept = ["member.removed", "token.created", "key.rotated", "settings.changed"] as const;
  await store.root.transaction(() => {
    for (const action of kept) putAuditEntry(store, change(action, "first"));
    for (let each = 0; each < limits.auditEntriesMax + limits.auditEntriesOver; each++)
      putAuditEntry(store, change("rule.changed", `rule ${each} "x"`, startMs + each));
  });
  await keepAuditBound(store.recorded.audit, await latestOf(store));
  const found = await all(store);
  t.equal(found.length, limits.auditEntriesMax + kept.length);
  t.same(
    found
      .slice(-kept.length)
      .map(({ action }) => action)
      .sort(),
    [...kept].sort(),
  );
  t.equal(new Set(found.map(({ id }) => id)).size, found.length, "each has an id of its own");
  t.same(
    found.map(({ at }) => at),
    found
      .map(({ at }) => at)
      .sort()
      .reverse(),
    "the latest first",
  );
  t.same(
    (await all(store, "member")).map(({ subject }) => subject),
    ["first"],
  );
});

t.test("however many changes one user makes, those of others stay, on one host and in a cluster alike", async (t) => {
  const [owner, flooder] = [1, 2];
  const store = newStore(t);
  const redis = await startRedis(t, { replicas: 0 });
  const client = new ClusterClient({ url: parseStoreUrl(redis.url) as StoreUrl });
  t.teardown(() => client.close());
  const inCluster = clusterRecordedRows({ client, acks: 0, sessionMs: 1, blockMs: 1, now: Date.now }).audit;
  await client.ready();

  /** Appends changes by this user, in both stores, and bounds their logs as a change does. */
  const append = async (userId: number, count: number): Promise<void> => {
    const entries = Array.from({ length: count }, (_, each) => {
      return { ...change("exception.created", `exception ${each}`), userId };
    });
    const ids = await store.root.transaction(() => entries.map((entry) => putAuditEntry(store, entry)));
    const written = entries.map((entry, index): AuditEntry => ({ id: ids[index]!, ...entry }));
    const fields = written.flatMap((entry) => [String(entry.id), JSON.stringify(entry)]);
    const row = auditRow(logNumberOf(written[0]!));
    await client.execute(["HSET", row, ...fields, "last", String(ids.at(-1))], keySlot(row), { deadlineMs: 60_000 });
    for (const changes of [store.recorded.audit, inCluster]) await keepAuditBound(changes, written);
  };
  const kept = async (): Promise<AuditEntry[]> => {
    const log = logNumberOf(change("exception.created", ""));
    const [onHost, clustered] = await Promise.all(
      [store.recorded.audit, inCluster].map(async (changes) => {
        const found: AuditEntry[] = [];
        for (let before = Number.POSITIVE_INFINITY; ; before = found.at(-1)!.id) {
          const entries = await changes.before(log, before, limits.pageMax);
          found.push(...entries);
          if (entries.length < limits.pageMax) return found;
        }
      }),
    );
    t.same(clustered, onHost, "both stores keep the same");
    return onHost!;
  };

  await append(owner, 1000);
  await append(flooder, limits.auditEntriesMax + 1500);
  let entries = await kept();
  t.equal(entries.length, limits.auditEntriesMax);
  t.same(
    entries.slice(-1000).map(({ id }) => id),
    Array.from({ length: 1000 }, (_, index) => 1000 - index),
    "all that the owner did before is there",
  );
  await append(owner, 1000);
  entries = await kept();
  t.equal(entries.length, limits.auditEntriesMax);
  t.equal(entries.filter(({ userId }) => userId === owner).length, 2000, "later changes replace those of the flood");
  t.equal((await all(store, "exception")).length, limits.auditEntriesMax, "pages go on over the ids that are gone");
});

t.test("of a full log the oldest change of whoever has most goes first", async (t) => {
  let id = 0;
  const by = (userId: number | null, count: number) => Array.from({ length: count }, () => ({ id: ++id, userId }));
  const full = [...by(1, 20), ...by(2, 70), ...by(null, 10)];
  t.same(surplusChanges(full, 100), []);
  t.same(surplusChanges([...full, ...by(1, 3)], 100), [21, 22, 23], "another's change replaces his");
  t.same(surplusChanges([...full, ...by(2, 2)], 100), [21, 22], "and so does his own");
  const halves = [...by(1, 50), ...by(2, 50)];
  t.same(surplusChanges([...halves, ...by(2, 1)], 100), [halves[50]!.id], "of equals that of whoever adds one");
  t.same(surplusChanges(by(7, 103), 100).length, 3, "the only user keeps his latest");
});

t.test("a log is bounded by the changes themselves", async (t) => {
  const store = newStore(t);
  const exceptions = (count: number): NewAuditEntry[] =>
    Array.from({ length: count }, (_, each) => change("exception.created", `exception ${each}`, startMs, null));
  const append = (count: number) => changeControlPlane(store, () => ({ result: null, entries: exceptions(count) }));
  for (let each = 0; each < 4; each++) await append(limits.auditEntriesMax / 4);
  await append(limits.auditEntriesOver - 1);
  t.equal(store.audit.getKeysCount(), limits.auditEntriesMax + limits.auditEntriesOver - 1);
  await append(1);
  t.equal(store.audit.getKeysCount(), limits.auditEntriesMax);
});

t.test("what one token does again within a minute is one entry with a count", async (t) => {
  const store = newStore(t);
  await store.root.transaction(() => {
    for (let each = 0; each < 5; each++) {
      logChange(store, {
        ...change("rule.changed", `rule 7 "name ${each}"`, startMs + 10_000 * each),
        before: { name: `name ${each - 1}` },
        after: { name: `name ${each}` },
      });
    }
    logChange(store, change("rule.changed", 'rule 8 "other"', startMs + 50_000));
    logChange(store, change("rule.changed", 'rule 7 "by another"', startMs + 50_000, 2));
    logChange(store, change("rule.changed", 'rule 7 "later"', startMs + 60_000));
    for (let each = 0; each < 2; each++)
      logChange(store, change("sessions.deleted", 'project 1 "p"', startMs + 70_000));
    for (let each = 0; each < 2; each++)
      logChange(store, change("rule.changed", 'rule 9 "cli"', startMs + 80_000, null));
  });
  const found = (await all(store)).reverse();
  t.same(
    found.map(({ subject, count = 1 }) => [subject, count]),
    [
      ['rule 7 "name 4"', 5],
      ['rule 8 "other"', 1],
      ['rule 7 "by another"', 1],
      ['rule 7 "later"', 1],
      ['project 1 "p"', 1],
      ['project 1 "p"', 1],
      ['rule 9 "cli"', 1],
      ['rule 9 "cli"', 1],
    ],
  );
  t.match(found[0], { before: { name: "name -1" }, after: { name: "name 4" }, at: new Date(startMs).toISOString() });
});

t.test("entries of an earlier version, all in one log, are told with the others", async (t) => {
  const store = newStore(t);
  await store.root.transaction(() => {
    store.audit.putSync([1, 1], { id: 1, ...change("rule.changed", "older") });
    putAuditEntry(store, change("rule.changed", "newer", startMs + 1));
  });
  t.same(
    (await all(store, "rule")).map(({ subject }) => subject),
    ["newer", "older"],
  );
});

t.test("over HTTP the log shows the count", async (t) => {
  const service = await startService(t);
  const one = await service.tenant("renaming");
  const body = { name: "a", expression: "score < 9", action: "block" };
  const { id } = (await service.ask("POST", `/v1/projects/${one.project.id}/rules`, { as: one.token, body })).json;
  for (const name of ["b", "c", "d"])
    await service.ask("PATCH", `/v1/projects/${one.project.id}/rules/${id}`, { as: one.token, body: { name } });
  const { data } = (await service.ask("GET", "/v1/audit?kind=rule", { as: one.token })).json;
  const changed = data.filter(({ action }: { action: string }) => action === "rule.changed");
  t.match(changed, [{ count: 3, before: { name: "a" }, after: { name: "d" } }]);
  t.equal(changed.length, 1);
  good(await service.server.accounts.createUser("somebody", "somebody@renaming.example"));
});
