/** Lists of an account: what they read is bounded by the account, cut into slices, and paged. */
import t, { type Test } from "tap";
import { accountOfServer } from "../../src/contract/configuration/audit.js";
import { auditPage } from "../../src/control-plane/logs/audit.js";
import { Rules } from "../../src/control-plane/rules/rules.js";
import { LongWork } from "../../src/runtime/long-work.js";
import { accountRows, putToken } from "../../src/store/account-rows.js";
import { putAuditEntry } from "../../src/store/audit-rows.js";
import { recordControlPlane } from "../../src/store/control-plane-changes.js";
import { openStore } from "../../src/store/open-store.js";
import { good, startService } from "../http/service.js";

const service = await startService(t);
const { accounts, store } = service.server;

/** Slices whose clock runs by a millisecond a look, and how many there were. */
function countedSlices(): { readonly slices: ReturnType<LongWork["begin"]>; readonly count: () => number } {
  let nowMs = 0;
  const slices = new LongWork(() => nowMs++).begin();
  const { next } = slices;
  let count = 0;
  slices.next = () => {
    count++;
    return next.call(slices);
  };
  return { slices, count: () => count };
}

/** Looks at rows of a table while `work` runs. */
async function readsOf(t: Test, table: "tokens" | "projects", work: () => Promise<unknown>): Promise<number> {
  const rows = store[table] as typeof store.tokens;
  const { get, getRange } = rows;
  let reads = 0;
  rows.get = ((...given: Parameters<typeof get>) => {
    reads++;
    return get.apply(rows, given);
  }) as typeof get;
  rows.getRange = ((...given: Parameters<typeof getRange>) => {
    return getRange.apply(rows, given).map((row) => {
      reads++;
      return row;
    });
  }) as typeof getRange;
  t.teardown(() => Object.assign(rows, { get, getRange }));
  await work();
  Object.assign(rows, { get, getRange });
  return reads;
}

t.test("an account's tokens and projects are found without those of others", async (t) => {
  const one = await service.tenant("one");
  const many = await service.tenant("many");
  const { token } = good(
    await accounts.createToken({ accountId: many.account.id, userId: many.user.id, abilities: ["*"] }),
  );
  await recordControlPlane(store, () => {
    for (let id = 1000; id < 3000; id++) putToken(store, { ...token, id, hash: `none-${id}` });
  });
  const ask = async (path: string) => t.equal((await service.ask("GET", path, { as: one.token })).status, 200);
  t.ok((await readsOf(t, "tokens", () => ask("/v1/tokens"))) < 20);
  t.ok((await readsOf(t, "tokens", () => ask("/v1/members"))) < 20);
  t.ok((await readsOf(t, "projects", () => ask("/v1/projects"))) < 20);
});

t.test("tokens and members are told page by page, each once", async (t) => {
  const one = await service.tenant("paged");
  for (let each = 0; each < 7; each++) {
    const user = good(await accounts.createUser(`u${each}`, `u${each}@paged.example`));
    good(await accounts.setMember(one.account.id, user.id, "member"));
    good(await accounts.createToken({ accountId: one.account.id, userId: user.id, abilities: ["*"] }));
  }
  for (const [path, idOf] of [
    ["/v1/tokens", (row: { id: number }) => row.id],
    ["/v1/members", (row: { user: { id: number } }) => row.user.id],
  ] as const) {
    const whole = (await service.ask("GET", path, { as: one.token })).json;
    t.match(whole.meta, { count: 8, next_cursor: null });
    const ids: number[] = [];
    for (let cursor = ""; ; ) {
      const { data, meta } = (await service.ask("GET", `${path}?limit=3${cursor}`, { as: one.token })).json;
      t.equal(meta.count, 8);
      ids.push(...data.map(idOf));
      if (meta.next_cursor === null) break;
      cursor = `&cursor=${meta.next_cursor}`;
    }
    t.same(ids, whole.data.map(idOf), path);
    for (const query of ["limit=0", "limit=101", "cursor=x"])
      t.equal((await service.ask("GET", `${path}?${query}`, { as: one.token })).status, 422, `${path}?${query}`);
  }
});

t.test("a filter that a full log of changes does not meet is looked for in slices", async (t) => {
  const one = await service.tenant("logged");
  await recordControlPlane(store, () => {
    for (let each = 0; each < 2000; each++) {
      putAuditEntry(store, {
        accountId: one.account.id,
        projectId: one.project.id,
        at: new Date().toISOString(),
        userId: null,
        tokenId: null,
        action: "rule.changed",
        subject: `rule ${each}`,
        before: null,
        after: null,
      });
    }
  });
  const { slices, count } = countedSlices();
  const all = { projectId: null, fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };
  const query = { ...all, accountId: one.account.id, seesAccount: true, kind: "signed_agent", limit: 50, cursor: null };
  t.same(await auditPage(store, query, slices), { rows: [], nextCursor: null });
  t.ok(count() > 100, "others had their turn all the time");
  t.equal(accountOfServer, 0);
});

t.test("a thousand rules are read in slices", async (t) => {
  const one = await service.tenant("ruled");
  const { project } = one;
  const rules = new Rules(store, Date.now);
  const first = good(
    await rules.create(project.id, {
      name: "a",
      expressionSource: "score < 9",
      action: "block",
      isActive: true,
      sortOrder: 0,
    }),
  );
  await recordControlPlane(store, () => {
    for (let id = 1000; id < 1990; id++) store.rules.putSync([project.id, id], { ...first, id });
  });
  const { slices, count } = countedSlices();
  const listed = await rules.listInSlices(project.id, slices);
  t.same(listed, rules.list(project.id));
  t.ok(listed!.length > 990);
  t.ok(count() > 1);
});

t.test("an older store's tokens and projects are indexed when it is upgraded", async (t) => {
  const dir = t.testdir();
  const older = openStore(dir);
  await older.root.transaction(() => {
    older.tokens.putSync(7, { id: 7, accountId: 3, userId: 5, hash: "x", abilities: ["*"], createdAt: "" });
    older.projects.putSync(9, { id: 9, accountId: 3 } as never);
    older.meta.putSync("schemaVersion", 5);
  });
  await older.close();
  const store = openStore(dir);
  t.teardown(() => store.close());
  t.same([...accountRows(store, "token", 3)], [{ id: 7, userId: 5 }]);
  t.same([...accountRows(store, "project", 3)], [{ id: 9, userId: 0 }]);
  t.same([...accountRows(store, "token", 2)], []);
});
