/** The logs of changes: many changes of one kind push out none of another, and repeated ones are one entry with a count. */
import t, { type Test } from "tap";
import type { AuditAction, AuditEntry } from "../../src/contract/audit.js";
import { auditPage } from "../../src/control-plane/audit.js";
import { limits } from "../../src/limits.js";
import { LongWork } from "../../src/runtime/long-work.js";
import { logChange, type NewAuditEntry, putAuditEntry } from "../../src/store/audit-rows.js";
import { openStore } from "../../src/store/open-store.js";
import type { Store } from "../../src/store/store.js";
import { good, startService } from "../http-additive/service.js";

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
    for (let each = 0; each < limits.auditEntriesMax + 50; each++)
      putAuditEntry(store, change("rule.changed", `rule ${each} "x"`, startMs + each));
  });
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
