/** Credentials over HTTP: which one opens what, how it is sent, when it ends; subscription, membership, abilities. */
import t from "tap";
import { roles } from "../../src/contract/configuration/entities.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { batch } from "../support/batches.js";
import { type Answer, anotherTenant, firstTenant, newToken, startServer } from "../support/server.js";

const refused = ({ status, json }: Answer) => [status, json?.code];

t.test("credentials", async (t) => {
  const server = await startServer(t);
  const tenant = await firstTenant(server);
  const project = `/v1/projects/${tenant.projectId}`;
  const { json: made } = await server.ask("POST", "/v1/events", {
    headers: { "x-service-site-key": tenant.siteKey },
    body: batch("creds000"),
  });
  const session = `/v1/sessions/${made.session_token}`;
  const controlPlane: [string, string, unknown?][] = [
    ["POST", `${project}/scoring`],
    ["GET", `${project}/scoring`],
    ["POST", `${project}/scoring/rotate`, {}],
    ["PUT", `${project}/scoring/settings`, {}],
    ["GET", `${project}/request-scoring`],
    ["PUT", `${project}/request-scoring`, {}],
    ["GET", `${project}/rules`],
    ["POST", `${project}/rules`, {}],
    ["PATCH", `${project}/rules/1`, {}],
    ["PUT", `${project}/rules/1`, {}],
    ["DELETE", `${project}/rules/99999`],
    ["GET", "/v1/account"],
    ["GET", "/user"],
  ];
  const privateKeyPlane: [string, string, unknown?][] = [
    ["GET", `${session}/verdict`],
    ["POST", `${session}/logged-in`],
  ];

  await t.test("the control plane is 401 UNAUTHENTICATED for anything but an account token", async (t) => {
    const odd: Record<string, string>[] = [
      {},
      { authorization: "" },
      { authorization: "Bearer" },
      { authorization: "Bearer " },
      { authorization: tenant.token },
      { authorization: `Basic ${tenant.token}` },
      { authorization: `Bearer ${tenant.token}x` },
      { authorization: `Bearer ${tenant.siteKey}` },
      { authorization: `Bearer ${tenant.privateKey}` },
      { "x-service-private-key": tenant.privateKey },
      { "x-service-site-key": tenant.siteKey },
    ];
    // Side by side: wrong tokens are answered later and later, and the waiting need not add up.
    await Promise.all(
      controlPlane.flatMap(([method, path, body]) =>
        odd.map(async (headers) => {
          const answer = await server.ask(method, path, { headers, body });
          t.same(refused(answer), [401, "UNAUTHENTICATED"], `${method} ${path} ${Object.keys(headers)}`);
        }),
      ),
    );
  });

  await t.test("verdict and assertion are 401 UNAUTHENTICATED for anything but a private key", async (t) => {
    for (const [method, path] of privateKeyPlane) {
      for (const headers of [
        {},
        { authorization: `Bearer ${tenant.token}` },
        { authorization: `Bearer ${tenant.siteKey}` },
        { authorization: `Bearer ${tenant.privateKey}x` },
        { "x-service-private-key": tenant.siteKey },
        { "x-service-private-key": "sk_" },
        { "x-service-private-key": "s".repeat(3000) },
      ] as Record<string, string>[]) {
        t.same(refused(await server.ask(method, path, { headers })), [401, "UNAUTHENTICATED"], `${method} ${path}`);
      }
    }
  });

  await t.test("the private key is taken as bearer or in X-Service-Private-Key", async (t) => {
    for (const headers of [
      { authorization: `Bearer ${tenant.privateKey}` },
      { authorization: `bearer ${tenant.privateKey}` },
      { "x-service-private-key": tenant.privateKey },
    ] as Record<string, string>[]) {
      for (const [method, path] of privateKeyPlane) t.equal((await server.ask(method, path, { headers })).status, 200);
    }
  });

  await t.test("the site key reads no verdict and changes no configuration", async (t) => {
    const headers = { "x-service-site-key": tenant.siteKey, authorization: `Bearer ${tenant.siteKey}` };
    await Promise.all(
      [...privateKeyPlane, ...controlPlane].map(async ([method, path, body]) => {
        t.equal((await server.ask(method, path, { headers, body })).status, 401, path);
      }),
    );
  });

  await t.test("a token revoked is refused from the next request on", async (t) => {
    const ids = ["--account", String(tenant.accountId), "--user", String(tenant.userId)];
    const token = await server.command("token", "create", ...ids);
    t.equal((await server.ask("GET", "/v1/account", { token: token.account_token })).status, 200);
    await server.command("token", "revoke", String(token.id));
    t.same(refused(await server.ask("GET", "/v1/account", { token: token.account_token })), [401, "UNAUTHENTICATED"]);
    t.equal((await server.ask("GET", "/v1/account", { token: tenant.token })).status, 200, "the others live on");
  });

  await t.test("a token whose user left the account is not bound: 403 without code", async (t) => {
    const other = await anotherTenant(server, "leaver");
    const ids = ["--account", String(other.accountId), "--user", String(other.userId)];
    await server.command("member", "remove", ...ids);
    const account = await server.ask("GET", "/v1/account", { token: other.token });
    t.equal(account.status, 403);
    t.notOk("code" in account.json);
    for (const [method, path] of [
      ["GET", "/rules"],
      ["POST", "/scoring"],
    ] as const) {
      const answer = await server.ask(method, `/v1/projects/${other.projectId}${path}`, { token: other.token });
      t.equal(answer.status, 403, path);
      t.notOk("code" in answer.json);
    }
    t.equal((await server.ask("GET", "/user", { token: other.token })).status, 200, "the user is still who he is");
    await server.command("member", "set", ...ids, "--role", "viewer");
    t.equal((await server.ask("GET", "/v1/account", { token: other.token })).status, 403, "not revived");
  });

  await t.test("without an active subscription the data plane is 402, the control plane works", async (t) => {
    const other = await anotherTenant(server, "lapsed");
    const ingest = { headers: { "x-service-site-key": other.siteKey }, body: batch("lapsed00") };
    const live = (await server.ask("POST", "/v1/events", ingest)).json;
    await server.command("account", "set", String(other.accountId), "--subscription", "inactive");
    const read = `/v1/sessions/${live.session_token}`;
    for (const answer of [
      await server.ask("POST", "/v1/events", ingest),
      await server.ask("POST", "/v1/events", { ...ingest, body: "{" }),
      await server.ask("POST", "/v1/events", { body: { ...batch("lapsed01"), site_key: other.siteKey } }),
      await server.ask("GET", `${read}/verdict`, { token: other.privateKey }),
      await server.ask("GET", "/v1/sessions/nonsense/verdict", { token: other.privateKey }),
      await server.ask("POST", `${read}/logged-in`, { token: other.privateKey }),
      await server.ask("POST", "/v1/sessions/nonsense/logged-in?x=1", { token: other.privateKey, body: "x" }),
    ]) {
      t.same(refused(answer), [402, "NO_ACTIVE_SUBSCRIPTION"]);
    }
    const path = `/v1/projects/${other.projectId}`;
    const { token } = other;
    const draft = { name: "r", expression: "score < 5", action: "log" };
    const rule = await server.ask("POST", `${path}/rules`, { token, body: draft });
    t.equal(rule.status, 201);
    for (const [method, rest, body] of [
      ["POST", "/scoring"],
      ["PUT", "/scoring/settings", {}],
      ["GET", "/rules"],
      ["PATCH", `/rules/${rule.json.id}`, {}],
      ["POST", "/scoring/rotate", { type: "site" }],
    ] as const) {
      const answer = await server.ask(method, path + rest, { token, body });
      t.equal(answer.status, 200, `${method} ${rest}`);
    }
    t.equal((await server.ask("GET", "/v1/account", { token })).status, 200);
    t.equal((await server.ask("GET", "/user", { token })).status, 200);
    await server.command("account", "set", String(other.accountId), "--subscription", "active");
    t.equal((await server.ask("GET", `${read}/verdict`, { token: other.privateKey })).status, 200, "back at once");
  });

  await t.test("most control-plane endpoints take any valid token", async (t) => {
    const reader = await anotherTenant(server, "reader", { role: "member", abilities: ["content:read"] });
    const path = `/v1/projects/${reader.projectId}`;
    const { token } = reader;
    t.equal((await server.ask("GET", `${path}/rules`, { token })).status, 200);
    t.equal((await server.ask("PUT", `${path}/scoring/settings`, { token, body: {} })).status, 200);
    t.equal((await server.ask("POST", `${path}/scoring/rotate`, { token, body: { type: "site" } })).status, 200);
    t.equal((await server.ask("GET", "/v1/account", { token })).status, 200);
    t.ok(
      server.log.some(({ level, msg }) => level === "warn" && String(msg).includes("--strict-abilities")),
      "and the start says so",
    );
  });

  await t.test("a role that is lowered holds for every token of the user from the next request on", async (t) => {
    const ids = ["--account", String(tenant.accountId), "--user"];
    const user = await server.command("user", "create", "--name", "lowered", "--email", "lowered@example.com");
    await server.command("member", "set", ...ids, String(user.id), "--role", "admin");
    const { account_token: token } = await server.command("token", "create", ...ids, String(user.id));
    const settings = () => server.ask("PUT", `${project}/scoring/settings`, { token, body: {} });
    t.equal((await settings()).status, 200);
    await server.command("member", "set", ...ids, String(user.id), "--role", "viewer");
    t.same(refused(await settings()), [403, "INSUFFICIENT_TOKEN_ABILITY"]);
    const minted = await server.ask("POST", "/v1/tokens", { token, body: { abilities: ["*"] } });
    t.same(refused(minted), [403, "INSUFFICIENT_TOKEN_ABILITY"]);
  });

  await t.test(
    "of a member of two accounts each token has the role of its own account, and reaches no other",
    async (t) => {
      const other = await anotherTenant(server, "elsewhere", { role: "viewer" });
      const accounts = new Accounts(server.store, Date.now);
      await accounts.setMember(tenant.accountId, other.userId, "owner");
      const asOwner = await newToken(server, tenant.accountId, other.userId, ["*"]);
      const settings = (projectId: number, token: string) =>
        server.ask("PUT", `/v1/projects/${projectId}/scoring/settings`, { token, body: {} });
      t.equal((await settings(tenant.projectId, asOwner)).status, 200);
      t.same(refused(await settings(other.projectId, other.token)), [403, "INSUFFICIENT_TOKEN_ABILITY"]);
      t.same(refused(await settings(other.projectId, asOwner)), [403, undefined]);
      t.same(refused(await settings(tenant.projectId, other.token)), [403, undefined]);
      const listed = (await server.ask("GET", "/v1/tokens", { token: other.token })).json;
      t.equal(listed.meta.count, 1, "nor does it list the tokens that the user has elsewhere");
    },
  );
});

t.test("with --strict-abilities a change of configuration asks for projects:write", async (t) => {
  const server = await startServer(t, ["--strict-abilities"]);
  t.notOk(
    server.log.some(({ msg }) => String(msg).includes("--strict-abilities requires")),
    "then the start does not warn",
  );
  const owner = await firstTenant(server);
  const accounts = new Accounts(server.store, Date.now);
  const path = `/v1/projects/${owner.projectId}`;
  const draft = { name: "r", expression: "score < 5", action: "log" };
  const { json: rule } = await server.ask("POST", `${path}/rules`, { token: owner.token, body: draft });
  const changes: [string, string, unknown?][] = [
    ["POST", "/scoring"],
    ["POST", "/scoring/rotate", { type: "site" }],
    ["PUT", "/scoring/settings", {}],
    ["PUT", "/request-scoring", {}],
    ["POST", "/rules", draft],
    ["PATCH", `/rules/${rule.id}`, {}],
    ["PUT", `/rules/${rule.id}`, {}],
    ["DELETE", "/rules/99999"],
  ];
  for (const role of roles) {
    await accounts.setMember(owner.accountId, owner.userId, role);
    for (const abilities of [["*"], ["projects:write"], ["projects:read"], ["content:read", "content:write"]]) {
      const token = await newToken(server, owner.accountId, owner.userId, abilities);
      const may = role !== "viewer" && (abilities.includes("*") || abilities.includes("projects:write"));
      for (const [method, rest, body] of changes) {
        const answer = await server.ask(method, path + rest, { token, body });
        if (may) t.ok(answer.status < 300 || answer.status === 404, `${role} with ${abilities}: ${method} ${rest}`);
        else
          t.same(refused(answer), [403, "INSUFFICIENT_TOKEN_ABILITY"], `${role} with ${abilities}: ${method} ${rest}`);
      }
      t.equal((await server.ask("GET", `${path}/rules`, { token })).status, 200, "reading asks for nothing");
    }
  }
});
