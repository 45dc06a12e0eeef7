/** The routes that the console needs beside the contract's: projects, usage and tokens of an account, and nobody else's. */
import t from "tap";
import type { Role } from "../../src/contract/configuration/entities.js";
import { good, startService } from "../http/service.js";
import { batch } from "../support/batches.js";

/** One server for all tests but those that want flags of their own; each has tenants of its own. */
const service = await startService(t);

t.test("projects and usage are those of the token's account", async (t) => {
  const one = await service.tenant("one", { plan: "free" });
  const other = await service.tenant("other");
  good(await service.server.projects.create(one.account.id, "later"));
  await service.ingest(one, batch("first", 3));
  const projects = await service.ask("GET", "/v1/projects", { as: one.token });
  t.same(
    projects.json.data.map(({ name, scoring_enabled }: Record<string, unknown>) => [name, scoring_enabled]),
    [
      ["one", true],
      ["later", false],
    ],
  );
  const usage = (await service.ask("GET", "/v1/usage", { as: one.token })).json;
  t.match(usage, { events: 3, quota: 100_000, plan: "free" });
  t.equal(usage.month, new Date().toISOString().slice(0, 7));
  t.match((await service.ask("GET", "/v1/usage", { as: other.token })).json, { events: 0 });
});

t.test("a token grants no more than it has itself", async (t) => {
  const make = async (as: string, ...abilities: string[]) =>
    service.ask("POST", "/v1/tokens", { as, body: { abilities } });
  const owner = await service.tenant("owner");
  const writer = await service.tenant("writer", { role: "member", abilities: ["projects:write"] });
  const viewer = await service.tenant("viewer", { role: "viewer" });
  t.equal((await make(owner.token, "*")).status, 200);
  t.equal((await make(writer.token, "projects:write")).status, 200);
  for (const [as, ability] of [
    [writer.token, "*"],
    [writer.token, "projects:read"],
    [writer.token, "content:read"],
    [viewer.token, "projects:read"],
    [viewer.token, "*"],
  ] as const) {
    const refused = await make(as, "projects:write", ability);
    t.equal(refused.status, 403);
    t.equal(refused.json.code, "INSUFFICIENT_TOKEN_ABILITY");
  }
  for (const abilities of [[], ["everything"], "*", ["*", 1], Array(6).fill("*")]) {
    const { status, json } = await service.ask("POST", "/v1/tokens", { as: owner.token, body: { abilities } });
    t.same([status, json.code], [422, "INVALID_PAYLOAD"]);
  }
  const twice = (await make(owner.token, "projects:read", "projects:read")).json;
  const { data } = (await service.ask("GET", "/v1/tokens", { as: owner.token })).json;
  t.same(data.find(({ id }: { id: number }) => id === twice.id).abilities, ["projects:read"]);
});

t.test("tokens are listed without secrets and revoked at once, by their account only", async (t) => {
  const one = await service.tenant("one");
  const other = await service.tenant("other");
  const { accounts } = service.server;
  const member = good(await accounts.createUser("member", "member@example.com"));
  good(await accounts.setMember(one.account.id, member.id, "member"));
  const request = { accountId: one.account.id, userId: member.id, abilities: ["*"] };
  const { secret: ofMember } = good(await accounts.createToken(request));
  const made = (await service.ask("POST", "/v1/tokens", { as: one.token, body: { abilities: ["*"] } })).json;

  const list = await service.ask("GET", "/v1/tokens", { as: one.token });
  t.same(
    list.json.data.map(({ user, current }: { user: { name: string }; current: boolean }) => [user.name, current]),
    [
      ["one", true],
      ["member", false],
      ["one", false],
    ],
  );
  t.notMatch(JSON.stringify(list.json), /hash|vat_/);
  const own = await service.ask("GET", "/v1/tokens", { as: ofMember });
  t.same(own.json.meta.count, 1, "a member sees only the member's");

  const path = `/v1/tokens/${made.id}`;
  t.equal((await service.ask("DELETE", path, { as: other.token })).status, 404, "foreign");
  t.equal((await service.ask("DELETE", path, { as: ofMember })).status, 404, "another user's, for a member");
  for (const id of ["0", "-1", "x", "1e3", "99999999999999999999"]) {
    t.equal((await service.ask("DELETE", `/v1/tokens/${id}`, { as: one.token })).status, 404, id);
  }
  t.equal((await service.ask("GET", "/v1/account", { as: made.account_token })).status, 200);
  t.same((await service.ask("DELETE", path, { as: one.token })).json, { id: made.id, revoked: true });
  t.equal((await service.ask("GET", "/v1/account", { as: made.account_token })).status, 401);
  t.equal((await service.ask("DELETE", path, { as: one.token })).status, 404, "gone");
  const { status, headers } = await service.ask("PUT", "/v1/tokens", { as: one.token });
  t.same([status, headers.get("allow")], [405, "GET, POST"]);
});

t.test("a token of a user who left is bound to nothing", async (t) => {
  const one = await service.tenant("one");
  good(await service.server.accounts.removeMember(one.account.id, one.user.id));
  for (const path of ["/v1/projects", "/v1/usage", "/v1/tokens"]) {
    const { status, json } = await service.ask("GET", path, { as: one.token });
    t.same([status, json.code], [403, undefined], path);
  }
  const { status } = await service.ask("POST", "/v1/tokens", { as: one.token, body: { abilities: ["*"] } });
  t.equal(status, 403);
});

t.test("no token revokes one that is above it, by role or by abilities", async (t) => {
  const one = await service.tenant("one");
  const { accounts } = service.server;
  const tokenOf = async (role: Role, abilities: readonly string[], userId?: number) => {
    const user = userId ?? good(await accounts.createUser(role, `${role}-${abilities}-above@example.com`)).id;
    good(await accounts.setMember(one.account.id, user, role));
    const made = good(await accounts.createToken({ accountId: one.account.id, userId: user, abilities }));
    return { user, id: made.token.id, secret: made.secret };
  };
  const revoke = async (as: string, id: number) => {
    const { status, json } = await service.ask("DELETE", `/v1/tokens/${id}`, { as });
    return [status, json.code];
  };
  const isLive = async (as: string) => (await service.ask("GET", "/user", { as })).status === 200;
  const above = [403, "INSUFFICIENT_TOKEN_ABILITY"];
  const owner = (await service.ask("GET", "/v1/tokens", { as: one.token })).json.data[0].id;
  const admin = await tokenOf("admin", ["*"]);
  const narrow = await tokenOf("admin", ["projects:write", "projects:read"]);
  const member = await tokenOf("member", ["*"]);
  const own = await tokenOf("member", ["projects:write"], member.user);

  t.same(await revoke(admin.secret, owner), above, "an admin, the owner's");
  t.same(await revoke(narrow.secret, admin.id), above, "some abilities, a wildcard of the same role");
  t.same(await revoke(narrow.secret, member.id), above, "some abilities, a wildcard of a lower role");
  t.same(await revoke(own.secret, member.id), above, "some abilities, the same user's wildcard");
  for (const secret of [one.token, admin.secret, member.secret]) t.ok(await isLive(secret));

  t.same(await revoke(own.secret, own.id), [200, undefined], "a token may revoke itself");
  t.same(await revoke(admin.secret, member.id), [200, undefined], "an admin, a member's");
  t.same(await revoke(one.token, admin.id), [200, undefined], "an owner, an admin's");
  good(await accounts.removeMember(one.account.id, narrow.user));
  t.same(await revoke(narrow.secret, narrow.id), [403, undefined], "who left can't change anything, not even that");
  t.same(await revoke(one.token, narrow.id), [200, undefined], "an owner, the token of one who left");
});

t.test("nobody removes or demotes a member with a token above the calling one", async (t) => {
  const one = await service.tenant("guarded");
  const { accounts } = service.server;
  const second = good(await accounts.createUser("second", "second@guarded.example"));
  good(await accounts.setMember(one.account.id, second.id, "owner"));
  const request = { accountId: one.account.id, userId: second.id };
  const { secret: narrow } = good(await accounts.createToken({ ...request, abilities: ["projects:write"] }));
  const path = `/v1/members/${one.user.id}`;
  const refusedCode = async (method: string, at: string, body?: object) => {
    const { status, json } = await service.ask(method, at, { as: narrow, ...(body && { body }) });
    return [status, json?.code];
  };
  const beyond = [403, "INSUFFICIENT_TOKEN_ABILITY"];
  t.same(await refusedCode("DELETE", path), beyond, "whose * token it can't revoke");
  for (const role of ["admin", "member", "viewer"]) t.same(await refusedCode("PATCH", path, { role }), beyond, role);
  t.equal((await service.ask("GET", "/v1/account", { as: one.token })).json.role, "owner", "nothing changed");
  t.same(await refusedCode("PATCH", path, { role: "owner" }), [200, undefined], "nothing is lost");
  const member = good(await accounts.createUser("narrow", "narrow@guarded.example"));
  good(await accounts.setMember(one.account.id, member.id, "member"));
  good(await accounts.createToken({ accountId: one.account.id, userId: member.id, abilities: ["projects:write"] }));
  t.same(await refusedCode("PATCH", `/v1/members/${member.id}`, { role: "viewer" }), [200, undefined]);
  t.same(await refusedCode("DELETE", `/v1/members/${member.id}`), [200, undefined], "no token of it is above");
});

t.test("a removed member's tokens lose the account for good, also when the user is added again", async (t) => {
  const one = await service.tenant("left");
  const { accounts } = service.server;
  const user = good(await accounts.createUser("back", "back@left.example"));
  const join = async () => good(await accounts.setMember(one.account.id, user.id, "member"));
  const make = async () =>
    good(await accounts.createToken({ accountId: one.account.id, userId: user.id, abilities: ["*"] })).secret;
  const account = async (as: string) => {
    const { status, json } = await service.ask("GET", "/v1/account", { as });
    return [status, json.code];
  };
  await join();
  const old = await make();
  t.same(await account(old), [200, undefined]);
  t.equal((await service.ask("DELETE", `/v1/members/${user.id}`, { as: one.token })).status, 200);
  t.same(await account(old), [403, undefined]);
  await join();
  t.same(await account(old), [403, undefined], "a member again");
  t.equal((await service.ask("GET", `/v1/projects/${one.project.id}/scoring`, { as: old })).status, 403);
  const fresh = await make();
  t.same(await account(fresh), [200, undefined]);
  const { data } = (await service.ask("GET", "/v1/members", { as: one.token })).json;
  t.equal(data.find((row: { user: { id: number } }) => row.user.id === user.id).tokens, 1, "that counts");
});

t.test("adding a member says nothing of who uses the server with another account", async (t) => {
  const one = await service.tenant("asking");
  const other = await service.tenant("asked");
  const add = (email: string) =>
    service.ask("POST", "/v1/members", { as: one.token, body: { name: "Ada", email, role: "viewer" } });
  const known = await add(other.user.email.toUpperCase());
  const unknown = await add("nobody@nowhere.example");
  t.same([known.status, unknown.status], [200, 200]);
  t.same(Object.keys(known.json), Object.keys(unknown.json));
  t.not(known.json.user.id, other.user.id, "another user, of this account");
  t.equal((await add("NOBODY@nowhere.example")).status, 409, "who is a member here");
  t.equal((await service.ask("GET", "/v1/account", { as: known.json.account_token })).json.id, one.account.id);
});
