/** Verified bots over HTTP: the export with its plan, ability and subscription, and the short-circuit of the verdict. */
import t from "tap";
import { roles } from "../../src/contract/configuration/entities.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { automatedBatch, batch, browserHeaders } from "../support/batches.js";
import { type Answer, anotherTenant, firstTenant, newToken, startServer } from "../support/server.js";

interface Entry {
  readonly name: string;
  readonly category: string;
  readonly match_method: string;
  readonly match_value: string;
}

t.test("verified bots", async (t) => {
  const server = await startServer(t, ["--verdict-ttl", "0", "--trusted-proxies", "127.0.0.1"]);
  const owner = await firstTenant(server);
  const business = await anotherTenant(server, "business", { plan: "business" });
  const accounts = new Accounts(server.store, Date.now);
  const ask = (token?: string): Promise<Answer> =>
    server.ask("GET", "/v1/verified-bots/export", token === undefined ? {} : { token });
  const refused = ({ status, json }: Answer) => [status, json?.code];

  await t.test("the export lists the whole allowlist with its count", async (t) => {
    const { status, json } = await ask(owner.token);
    t.equal(status, 200);
    t.same(Object.keys(json), ["data", "meta"]);
    t.strictSame(json.meta, { count: json.data.length });
    t.ok(json.data.length > 1000);
    const categories = new Set(["search", "ai_crawler", "ai_search", "monitoring", "seo"]);
    const odd = (json.data as Entry[]).filter(
      (entry) =>
        Object.keys(entry).sort().join() !== "category,match_method,match_value,name" ||
        entry.name === "" ||
        !categories.has(entry.category) ||
        !(entry.match_method === "ip_cidr"
          ? /^[0-9a-f.:]+\/\d+$/.test(entry.match_value)
          : entry.match_method === "rdns_suffix" && /^\.?[a-z0-9.-]+$/.test(entry.match_value)),
    );
    t.same(odd, [], "each entry has the four fields and no inner bounds");
  });

  await t.test("it is identical for all subscribers", async (t) => {
    t.equal((await ask(owner.token)).text, (await ask(business.token)).text);
  });

  await t.test("a plan without the feature is 403 FEATURE_NOT_AVAILABLE", async (t) => {
    for (const plan of ["free", "pro"]) {
      await accounts.changeAccount(business.accountId, { plan });
      t.same(refused(await ask(business.token)), [403, "FEATURE_NOT_AVAILABLE"], plan);
    }
    for (const plan of ["business", "owner_lifetime"]) {
      await accounts.changeAccount(business.accountId, { plan });
      t.equal((await ask(business.token)).status, 200, plan);
    }
  });

  await t.test("a token without projects:read is 403 INSUFFICIENT_TOKEN_ABILITY, whatever the role", async (t) => {
    for (const role of roles) {
      await accounts.setMember(business.accountId, business.userId, role);
      for (const ability of ["*", "projects:read", "projects:write", "content:read", "content:write"]) {
        const answer = await ask(await newToken(server, business.accountId, business.userId, [ability]));
        if (ability === "*" || ability === "projects:read") t.equal(answer.status, 200, `${role}, ${ability}`);
        else t.same(refused(answer), [403, "INSUFFICIENT_TOKEN_ABILITY"], `${role}, ${ability}`);
      }
    }
  });

  await t.test("credential, ownership, subscription, feature and ability are checked in this order", async (t) => {
    const weakToken = () => newToken(server, business.accountId, business.userId, ["content:read"]);
    let weak = await weakToken();
    await accounts.changeAccount(business.accountId, { plan: "free", subscription: "inactive" });
    for (const token of [undefined, "wrong", business.siteKey, business.privateKey]) {
      t.same(refused(await ask(token)), [401, "UNAUTHENTICATED"]);
    }
    await accounts.removeMember(business.accountId, business.userId);
    const unbound = await ask(weak);
    t.equal(unbound.status, 403);
    t.notOk("code" in unbound.json);
    await accounts.setMember(business.accountId, business.userId, "owner");
    t.equal((await ask(weak)).status, 403, "not revived");
    weak = await weakToken();
    t.same(refused(await ask(weak)), [402, "NO_ACTIVE_SUBSCRIPTION"]);
    await accounts.changeAccount(business.accountId, { subscription: "active" });
    t.same(refused(await ask(weak)), [403, "FEATURE_NOT_AVAILABLE"]);
    await accounts.changeAccount(business.accountId, { plan: "business" });
    t.same(refused(await ask(weak)), [403, "INSUFFICIENT_TOKEN_ABILITY"]);
  });

  const entries = (await ask(owner.token)).json.data as Entry[];
  const google = entries.find(
    ({ name, match_method, match_value }) =>
      /google/i.test(name) && match_method === "ip_cidr" && match_value.includes("."),
  )!;
  const googleIp = google.match_value.split("/")[0]!;
  const project = `/v1/projects/${owner.projectId}`;
  const send = async (body: object, ip: string, userAgent = browserHeaders["user-agent"] as string): Promise<string> =>
    (
      await server.ask("POST", "/v1/events", {
        headers: {
          ...browserHeaders,
          "user-agent": userAgent,
          "x-forwarded-for": ip,
          "x-service-site-key": owner.siteKey,
        },
        body,
      })
    ).json.session_token;
  const read = (session: string, query = "") =>
    server.ask("GET", `/v1/sessions/${session}/verdict${query}`, { token: owner.privateKey });

  await t.test(
    "a verified bot is allowed before any rule while allow_verified is true, and rules decide when it is false",
    async (t) => {
      const { json: rule } = await server.ask("POST", `${project}/rules`, {
        token: owner.token,
        body: { name: "Everybody", expression: "score < 100", action: "block" },
      });
      const session = await send(
        automatedBatch("googlebot"),
        googleIp,
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
      );
      const { json } = await read(session);
      t.match(json, { verdict: "verified", action: "allow", verified_bot_category: google.category });
      await server.ask("PUT", `${project}/scoring/settings`, { token: owner.token, body: { allow_verified: false } });
      t.match((await read(session)).json, { verdict: "verified", action: "block" });
      await server.ask("PUT", `${project}/scoring/settings`, { token: owner.token, body: { allow_verified: true } });
      await server.ask("DELETE", `${project}/rules/${rule.id}`, { token: owner.token });
    },
  );

  await t.test("a session at another address has no verified_bot_category", async (t) => {
    const session = await send(batch("visitor0", 2), "203.0.113.9");
    const { json } = await read(session);
    t.not(json.verdict, "verified");
    t.notOk("verified_bot_category" in json);
  });

  await t.test("the address of the request that asks verifies a visitor", async (t) => {
    const session = await send(batch("visitor1", 2), "203.0.113.9");
    t.match((await read(session, `?ip=${googleIp}`)).json, { verdict: "verified", action: "allow" });
  });
});
