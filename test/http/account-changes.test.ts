/** What an operator does over HTTP beyond the contract: members, tokens with name and last use, keys that overlap, deletion by expression. */

import t from "tap";
import { Credentials } from "../../src/auth/credentials.js";
import { TokenUses } from "../../src/auth/token-uses.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { Projects } from "../../src/control-plane/accounts/projects.js";
import { IpLists } from "../../src/control-plane/lists/ip-lists.js";
import { VerifiedBotCatalogues } from "../../src/control-plane/lists/verified-bot-catalogue.js";
import { limits } from "../../src/limits.js";
import { openStore } from "../../src/store/open-store.js";
import { batch } from "../support/batches.js";
import { countRows, isOnCluster } from "../support/test-store.js";
import { waitUntil } from "../support/wait-until.js";
import { good, startService, toolHeaders } from "./service.js";

const service = await startService(t, { "verdict-ttl": "0" });
const hourMs = 3_600_000;

t.test("a rotated key works until the end that its owner chose, and is refused then", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const clock = { ms: Date.parse("2026-01-01T00:00:00Z") };
  const now = () => clock.ms;
  const accounts = new Accounts(store, now);
  const projects = new Projects(store, now);
  const credentials = new Credentials(store, undefined, now);
  const made = { name: "a", slug: "a", plan: "pro", isPersonal: false, subscription: "active" } as const;
  const account = good(await accounts.createAccount(made));
  const { id } = good(await projects.create(account.id, "a"));
  const first = good(await projects.enableScoring(id)).privateKey!;
  const knows = (key: string) => credentials.authenticatedKey("private", key) !== null;
  const second = good(await projects.rotateKey(id, "private", 2));
  t.same([knows(first), knows(second.key)], [true, true]);
  t.equal(second.oldKeyEndsAt, "2026-01-01T02:00:00.000Z");
  clock.ms += 2 * hourMs - 1;
  t.ok(knows(first), "to the last millisecond");
  clock.ms += 1;
  t.same([knows(first), knows(second.key)], [false, true], "without a change of the store");
  t.same(projects.oldKeysOf(projects.find(id)!), []);
  const third = good(await projects.rotateKey(id, "private", 1));
  const fourth = good(await projects.rotateKey(id, "private"));
  t.same(
    [second, third, fourth].map(({ key }) => knows(key)),
    [false, false, true],
    "without an overlap all old ones end",
  );
  let last = fourth.key;
  for (let each = 0; each < limits.oldKeysMax; each++) last = good(await projects.rotateKey(id, "private", 5)).key;
  t.match(await projects.rotateKey(id, "private", 5), { error: "conflict" });
  t.ok(knows(last) && knows(fourth.key));
  t.equal(await projects.endOldKeys(id, "private"), limits.oldKeysMax);
  t.same([knows(last), knows(fourth.key)], [true, false]);
  t.equal(store.keys.getKeysCount({}), 2, "no row is left behind");
});

t.test("over HTTP a key overlaps only where that is asked for", async (t) => {
  const one = await service.tenant("keys");
  const at = `/v1/projects/${one.project.id}/scoring`;
  const as = one.token;
  const isRead = async (key: string) =>
    (await service.ask("GET", "/v1/sessions/sess_nobody/verdict", { as: key })).status === 200;
  const body = { type: "private", overlap_hours: 3 };
  const rotated = (await service.ask("POST", `${at}/rotate`, { as, body })).json;
  t.same(Object.keys(rotated), ["type", "key", "old_key_ends_at"]);
  t.same([await isRead(one.privateKey), await isRead(rotated.key)], [true, true]);
  const { old_keys } = (await service.ask("GET", at, { as })).json;
  t.match(old_keys, [{ type: "private", ends_at: rotated.old_key_ends_at }]);
  const ended = await service.ask("POST", `${at}/end-old-keys`, { as, body: { type: "private" } });
  t.same(ended.json, { type: "private", ended: 1 });
  t.same([await isRead(one.privateKey), await isRead(rotated.key)], [false, true]);
  t.notOk("old_keys" in (await service.ask("GET", at, { as })).json);
  for (const overlap_hours of [-1, 0.5, 721, "1"]) {
    const refused = await service.ask("POST", `${at}/rotate`, { as, body: { type: "site", overlap_hours } });
    t.equal(refused.status, 422);
  }
  const plain = (await service.ask("POST", `${at}/rotate`, { as, body: { type: "private" } })).json;
  t.same(Object.keys(plain), ["type", "key"], "as in the contract");
  t.notOk(await isRead(rotated.key));
});

t.test("a token has a name, and its last use is stored once a minute at most", async (t) => {
  const one = await service.tenant("tokens");
  const { store } = service.server;
  const body = { abilities: ["projects:read"], name: "Dashboard" };
  const { id, account_token } = (await service.ask("POST", "/v1/tokens", { as: one.token, body })).json;
  const row = async () =>
    (await service.ask("GET", "/v1/tokens", { as: one.token })).json.data.find(
      (each: { id: number }) => each.id === id,
    );
  t.match(await row(), { name: "Dashboard", last_used_at: null });
  await service.ask("GET", "/v1/account", { as: account_token });
  const used = await waitUntil(row, ({ last_used_at }) => last_used_at !== null);
  t.ok(Math.abs(Date.now() - Date.parse(used.last_used_at)) < 60_000);
  const long = { ...body, name: "x".repeat(101) };
  t.equal((await service.ask("POST", "/v1/tokens", { as: one.token, body: long })).status, 422);

  const clock = { ms: Date.parse(used.last_used_at) };
  const uses = [0, 1].map(
    () =>
      new TokenUses(
        store,
        () => clock.ms,
        (error) => t.error(error),
      ),
  );
  const record = async (thread: number, afterMs: number): Promise<number> => {
    clock.ms = Date.parse(used.last_used_at) + afterMs;
    uses[thread]!.record(id);
    await uses[thread]!.flush();
    return service.server.accounts.lastUseOf(id)! - Date.parse(used.last_used_at);
  };
  const everyMs = isOnCluster ? limits.tokenUseClusterMs : limits.tokenUseMs;
  t.equal(await record(0, everyMs - 1), 0);
  t.equal(await record(0, everyMs), 0, "this thread recorded it a moment ago");
  t.equal(await record(1, everyMs), everyMs);
  t.equal(await record(0, 2 * everyMs + 1), 2 * everyMs + 1);
  t.equal(await record(1, 2 * everyMs + 1000), 2 * everyMs + 1, "another thread was here a moment ago");
  await service.ask("DELETE", `/v1/tokens/${id}`, { as: one.token });
  t.equal(service.server.accounts.lastUseOf(id), null);
});

t.test("owners and admins change members up to their own role, and the account keeps an owner", async (t) => {
  const one = await service.tenant("members");
  const add = (name: string, role: string, as: string) =>
    service.ask("POST", "/v1/members", { as, body: { name, email: `${name}@members.example`, role } });
  const admin = (await add("Ada", "admin", one.token)).json;
  const viewer = (await add("Vic", "viewer", admin.account_token)).json;
  t.equal((await add("Own", "owner", admin.account_token)).status, 403, "nobody above the own role");
  t.equal((await add("Ada", "viewer", one.token)).status, 409, "an address is taken once");
  t.equal((await add("Eve", "viewer", viewer.account_token)).status, 403);
  const list = (await service.ask("GET", "/v1/members", { as: one.token })).json;
  t.match(list.data, [
    { user: { name: "members" }, role: "owner", tokens: 1, current: true },
    { user: { name: "Ada", email: "Ada@members.example" }, role: "admin", tokens: 1, current: false },
    { user: { name: "Vic" }, role: "viewer" },
  ]);
  const seen = (await service.ask("GET", "/v1/members", { as: viewer.account_token })).json.data;
  t.ok(
    seen.every((row: { user: { email: null } }) => row.user.email === null),
    "no addresses for a viewer",
  );
  const own = `/v1/members/${one.user.id}`;
  t.equal((await service.ask("DELETE", own, { as: admin.account_token })).status, 403, "not the owner");
  t.equal(
    (await service.ask("PATCH", own, { as: one.token, body: { role: "admin" } })).status,
    409,
    "the last owner stays",
  );
  t.equal((await service.ask("DELETE", own, { as: one.token })).status, 409);
  const other = `/v1/members/${admin.user.id}`;
  t.same((await service.ask("PATCH", other, { as: one.token, body: { role: "owner" } })).json, {
    user_id: admin.user.id,
    role: "owner",
  });
  t.equal((await service.ask("PATCH", own, { as: one.token, body: { role: "admin" } })).status, 200);
  t.equal((await service.ask("DELETE", `/v1/members/${viewer.user.id}`, { as: one.token })).status, 200);
  t.equal((await service.ask("GET", "/v1/account", { as: viewer.account_token })).status, 403, "no member any more");
  const two = await service.tenant("members-other");
  t.equal((await service.ask("DELETE", other, { as: two.token })).status, 404, "another account's members");
});

t.test("the log of changes has one place for everything, filtered by project, kind and time", async (t) => {
  const one = await service.tenant("log");
  const { store } = service.server;
  const as = one.token;
  good(await new IpLists(store).put("office", { count: 0, ranges: [], asns: [] } as never, Date.now()));
  await new VerifiedBotCatalogues(store).replace({ version: "9", entries: [] });
  const draft = { name: "R", expression: "score < 3", action: "log", is_active: true };
  await service.ask("POST", `/v1/projects/${one.project.id}/rules`, { as, body: draft });
  const log = async (query: string, token = as) =>
    (await service.ask("GET", `/v1/audit?limit=100${query}`, { as: token })).json.data;
  const all: { scope: string; action: string; project_id: number; at: string }[] = await log("");
  const times = all.map(({ at }) => at);
  t.same(times, [...times].sort().reverse(), "newest first");
  const made = [
    "project rule.created",
    "server verified_bots.imported",
    "server ip_list.imported",
    "account token.created",
    "project scoring.enabled",
    "project project.created",
    "account member.set",
    "account account.created",
  ];
  // What happened in one millisecond comes in any order.
  const seen = all.map(({ scope, action, at }) => ({ what: `${scope} ${action}`, at }));
  seen.sort((one, other) => other.at.localeCompare(one.at) || made.indexOf(one.what) - made.indexOf(other.what));
  t.same(
    seen.map(({ what }) => what),
    made,
  );
  t.notOk(
    all.some(({ action }) => action === "user.created"),
    "users of nobody's account are not shown",
  );
  const pages: unknown[] = [];
  for (let cursor = ""; ; ) {
    const page = (await service.ask("GET", `/v1/audit?limit=2${cursor}`, { as })).json;
    pages.push(...page.data);
    if (page.meta.next_cursor === null) break;
    cursor = `&cursor=${page.meta.next_cursor}`;
  }
  t.same(pages, all, "page by page the same");
  t.same(
    (await log(`&project=${one.project.id}&kind=rule`)).map(({ action }: { action: string }) => action),
    ["rule.created"],
  );
  t.same(await log("&from=2099-01-01"), []);
  t.same(await log("&to=2020-01-01"), []);
  const other = await service.tenant("log-other");
  t.same(await log(`&project=${one.project.id}`, other.token), [], "not those of another account's project");
  for (const query of ["kind=cat", "project=x", "from=yesterday"]) {
    t.equal((await service.ask("GET", `/v1/audit?${query}`, { as })).status, 422, query);
  }
});

t.test("sessions are deleted by expression with all their rows, as many as were agreed to, and logged", async (t) => {
  const one = await service.tenant("delete");
  const { store } = service.server;
  const as = one.token;
  const at = `/v1/projects/${one.project.id}`;
  const rule = { name: "Block", expression: "score < 30", action: "block" };
  await service.ask("POST", `${at}/rules`, { as, body: rule });
  const bots: string[] = [];
  const key = { "idempotency-key": "delete-first-contact" };
  for (let each = 0; each < 4; each++) {
    bots.push(await service.ingest(one, batch(`deletebot${each}`), { ...toolHeaders, ...(each === 0 && key) }));
  }
  const person = await service.ingest(one, batch("deleteperson"));
  await service.ask("GET", `/v1/sessions/${bots[0]}/verdict`, { as: one.privateKey });
  await service.ask("PUT", `${at}/sessions/${bots[0]}/mark`, { as, body: { as: "bot" } });
  const tokens = async () =>
    (await service.ask("GET", `${at}/sessions`, { as })).json.data.map(
      (row: { session_token: string }) => row.session_token,
    );
  const del = async (body: object) => (await service.ask("POST", `${at}/sessions/delete`, { as, body })).json;
  const which = { expression: "score < 30", from: new Date(Date.now() - hourMs).toISOString() };
  const log = async () => (await service.ask("GET", "/v1/audit?kind=sessions", { as })).json.data;
  t.match(await del({ ...which, dry_run: true }), { scanned: 5, matched: 4, deleted: 0, next_cursor: null });
  t.equal((await tokens()).length, 5);
  t.same(await log(), [], "counting is not logged");
  t.match(await del({ ...which, at_most: 1 }), { matched: 1, deleted: 1, next_cursor: null });
  t.match(await del({ ...which, at_most: 0 }), { deleted: 0 });
  await waitUntil(
    async () => (await service.ask("GET", `${at}/blocks`, { as })).json.data.length,
    (count) => count === 1,
  );
  t.match(await del(which), { deleted: 3, next_cursor: null });
  t.same(await tokens(), [person]);
  t.same((await service.ask("GET", `${at}/blocks`, { as })).json.data, [], "its blocks went as well");
  t.same((await service.ask("GET", `${at}/marks`, { as })).json.data, [], "and its mark");
  const gone = new Set(bots);
  // A cluster keeps there, under a hash, that a token was erased.
  const remembered = isOnCluster ? bots.length : 0;
  t.equal(await countRows(store, "idempotency"), remembered, "and what its first contact would resolve to");
  t.notOk(gone.has(await service.ingest(one, batch("deletebot9"), { ...toolHeaders, ...key })));
  t.match(await log(), [
    { action: "sessions.deleted", user: { name: "delete" }, after: { expression: "score < 30", sessions: 3 } },
    { action: "sessions.deleted", after: { sessions: 1 } },
  ]);
  for (const body of [
    { ...which, expression: "score <" },
    { ...which, expression: "" },
    { expression: "score < 30" },
  ]) {
    t.equal((await service.ask("POST", `${at}/sessions/delete`, { as, body })).status, 422);
  }
  const early = { ...which, from: "2020-01-01", to: "2020-02-01" };
  t.match(await del(early), { scanned: 0, deleted: 0 });
});
