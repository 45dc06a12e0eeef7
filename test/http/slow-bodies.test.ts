/** Requests whose body is complete only after their credential has ended: nobody outlasts a revocation by sending slowly. */
import t from "tap";
import { actAs } from "../../src/auth/actor.js";
import { Projects } from "../../src/control-plane/accounts/projects.js";
import { RevokedError, refuse } from "../../src/errors.js";
import { RawClient, rawRequest } from "../support/raw-socket.js";
import { firstTenant, newToken, startServer } from "../support/server.js";

const server = await startServer(t, ["--http-threads", "1"]);
const owner = await firstTenant(server);

/** Sends all of the request but its last byte, and returns what sends that and reads the answer. */
async function held(method: string, path: string, credential: string, body: object) {
  const client = await RawClient.open(server.port);
  t.teardown(() => client.leave());
  const text = rawRequest(method, path, { Authorization: `Bearer ${credential}` }, JSON.stringify(body));
  await client.write(text.slice(0, -1));
  // Answered by the same thread after it has read what came before.
  await server.ask("GET", "/healthz");
  return async () => {
    await client.write(text.slice(-1));
    const { status, body } = (await client.answer())!;
    return { status, json: body === "" ? null : JSON.parse(body) };
  };
}

const unauthenticated = { status: 401, json: { code: "UNAUTHENTICATED" } };

t.test("a token that is revoked meanwhile mints no other", async (t) => {
  const stolen = await newToken(server, owner.accountId, owner.userId, ["*"]);
  const { json } = await server.ask("GET", "/v1/tokens", { token: owner.token });
  const id = Math.max(...json.data.map(({ id }: { id: number }) => id));
  const finish = await held("POST", "/v1/tokens", stolen, { user_id: owner.userId, abilities: ["*"] });
  t.equal((await server.ask("DELETE", `/v1/tokens/${id}`, { token: owner.token })).status, 200);
  t.match(await finish(), unauthenticated);
  const left = (await server.ask("GET", "/v1/tokens", { token: owner.token })).json;
  t.equal(left.data.length, json.data.length - 1);
});

t.test("a private key that is rotated meanwhile judges no request", async (t) => {
  const finish = await held("POST", "/v1/verdict", owner.privateKey, { request: { path: "/" } });
  const path = `/v1/projects/${owner.projectId}/scoring/rotate`;
  const rotated = await server.ask("POST", path, { token: owner.token, body: { type: "private" } });
  t.match(await finish(), unauthenticated);
  const again = await held("POST", "/v1/verdict", rotated.json.key, { request: { path: "/" } });
  t.match(await again(), { status: 200, json: { subject: "request" } });
});

t.test("settings that are changed meanwhile apply", async (t) => {
  const { json } = await server.ask("POST", `/v1/projects/${owner.projectId}/scoring/rotate`, {
    token: owner.token,
    body: { type: "private" },
  });
  const request = { path: "/", headers: [["User-Agent", "curl/8.0"]] };
  const finish = await held("POST", "/v1/verdict", json.key, { request });
  const path = `/v1/projects/${owner.projectId}/request-scoring`;
  await server.ask("PUT", path, { token: owner.token, body: { enabled: true } });
  t.match(await finish(), { status: 200, json: { verdict: "definite" } });
});

t.test("a change that waited while its token was revoked is not made", async (t) => {
  const projects = new Projects(server.store, Date.now);
  const refused = () => refuse("unauthenticated", "a valid account token is required");
  const change = () => projects.create(owner.accountId, "Too late");
  const actor = { userId: owner.userId, tokenId: 1, refused };
  await t.rejects(actAs(actor, change), RevokedError);
  const names = [...server.store.projects.getRange({})].map(({ value }) => value.name);
  t.notOk(names.includes("Too late"));
  t.ok(await actAs({ ...actor, refused: () => null }, change));
});
