/** verdictd's own challenge over HTTP: settings, the two routes, the clearance in verdicts, and what is counted. */
import t from "tap";
import { eraseSession } from "../../src/control-plane/erasure/erase-session.js";
import { readStoredSession } from "../../src/control-plane/sessions/stored-session.js";
import { automatedBatch, batch, browserHeaders, event } from "../support/batches.js";
import { ChallengedVisitor } from "../support/challenges.js";
import { anotherTenant, askUntil, firstTenant, startServer, type Tenant } from "../support/server.js";

t.test("challenges", async (t) => {
  const server = await startServer(t);
  const tenant = await firstTenant(server);
  const other = await anotherTenant(server, "other");
  const settingsPath = `/v1/projects/${tenant.projectId}/challenge`;
  const set = (body: unknown, { token, projectId }: Tenant = tenant) =>
    server.ask("PUT", `/v1/projects/${projectId}/challenge`, { token, body });
  const visitor = new ChallengedVisitor(server, tenant);
  const agent = browserHeaders["user-agent"];
  const newSession = async (body: object = batch("visitor"), { siteKey }: Tenant = tenant): Promise<string> =>
    (await server.ask("POST", "/v1/events", { headers: { ...browserHeaders, "x-service-site-key": siteKey }, body }))
      .json.session_token;
  const verdict = async (session: string, userAgent: string = agent, path = "/") =>
    (
      await server.ask("GET", `/v1/sessions/${session}/verdict?path=${path}`, {
        token: tenant.privateKey,
        headers: { "x-service-client-ua": userAgent },
      })
    ).json;
  const rule = async (expression: string, action: string): Promise<number> =>
    (
      await server.ask("POST", `/v1/projects/${tenant.projectId}/rules`, {
        token: tenant.token,
        body: { name: `${action} it`, expression, action },
      })
    ).json.id;
  const human = await newSession(batch("first"));
  const scored = async (session: string): Promise<void> => {
    await askUntil(
      () => server.ask("GET", `/v1/projects/${tenant.projectId}/sessions/${session}`, { token: tenant.token }),
      ({ json }) => json.verdict !== "not_computed",
    );
  };
  await scored(human);

  await t.test("settings: defaults, partial changes, what is refused", async (t) => {
    const where = { script_origin: "", path_prefix: "" };
    const defaults = { enabled: false, difficulty: "normal", clearance_minutes: 60, clearance_networks: 4, ...where };
    t.same((await server.ask("GET", settingsPath, { token: tenant.token })).json, defaults);
    t.same((await set({})).json, defaults);
    for (const body of [
      { enabled: 1 },
      { difficulty: "hard" },
      { clearance_minutes: 0 },
      { clearance_minutes: 1441 },
      { clearance_minutes: 1.5 },
      { clearance_networks: 0 },
      { clearance_networks: 17 },
      { script_origin: "verdictd.example" },
      { script_origin: "https://verdictd.example/" },
      { script_origin: "https://verdictd.example; script-src *" },
      { path_prefix: "bots" },
      { path_prefix: "/bots/" },
      { path_prefix: '/"><script>' },
    ]) {
      const { status, json } = await set(body);
      t.same([status, json.code], [422, "INVALID_PAYLOAD"], JSON.stringify(body));
    }
    t.same((await set({ difficulty: "low", unknown: 1 })).json, { ...defaults, difficulty: "low" });
    t.equal((await server.ask("GET", settingsPath, { token: other.token })).status, 403);
    t.equal((await server.ask("GET", settingsPath)).status, 401);
  });

  await t.test("while it is not enabled both routes answer 409 without code, and nothing is cleared", async (t) => {
    for (const path of ["/v1/challenges", "/v1/challenges/solution"]) {
      const { status, json } = await visitor.post(path, { session_token: human, solution: "e30=" });
      t.same([status, "code" in json], [409, false]);
      const unknown = await visitor.post(path, { session_token: "sess_unknown", solution: "e30=" });
      t.same([unknown.status, unknown.json.code], [404, "UNKNOWN_SESSION"], "the session comes first");
    }
  });

  await set({ enabled: true });

  await t.test("credentials, bodies and sessions are checked in the contract's order", async (t) => {
    for (const path of ["/v1/challenges", "/v1/challenges/solution"]) {
      const code = async (body: unknown, key?: string) => {
        const { status, json, headers } = await visitor.post(path, body, key);
        t.equal(headers.get("access-control-allow-origin"), "*");
        return [status, json.code];
      };
      t.same(await code({ session_token: human }, "pk_wrong"), [401, "UNAUTHENTICATED"]);
      t.same(await code({ session_token: human }, ""), [401, "UNAUTHENTICATED"]);
      t.same(await code("{", ""), [401, "UNAUTHENTICATED"]);
      t.same(await code("{"), [422, "INVALID_PAYLOAD"]);
      t.same(await code([]), [422, "INVALID_PAYLOAD"]);
      t.same(await code({}), [422, "INVALID_PAYLOAD"]);
      t.same(await code({ session_token: 1 }), [422, "INVALID_PAYLOAD"]);
      t.same(await code({ session_token: "malformed" }), [404, "UNKNOWN_SESSION"]);
      t.same(await code({ session_token: human }, other.siteKey), [404, "UNKNOWN_SESSION"], "another project's");
      t.same(await code({ session_token: human, filler: "x".repeat(8192) }), [422, "INVALID_PAYLOAD"], "over 8 KiB");
      const preflight = await server.ask("OPTIONS", path);
      t.match(preflight.headers.get("access-control-allow-headers"), /X-Service-Site-Key/);
    }
    t.equal((await visitor.post("/v1/challenges", { session_token: human, site_key: tenant.siteKey }, "")).status, 200);
    t.same((await visitor.post("/v1/challenges/solution", { session_token: human })).json.code, "INVALID_PAYLOAD");
  });

  await t.test("a pass turns challenge into allow at once, for cached verdicts too, and only that", async (t) => {
    const session = await newSession(batch("passes"));
    await scored(session);
    const id = await rule('path starts_with "/c"', "challenge");
    await rule('path starts_with "/b"', "block");
    const before = await verdict(session, agent, "/c");
    t.equal(before.action, "challenge");
    t.match(before.reason, /Challenged by rule "challenge it"\.$/);
    const { status, json } = await visitor.pass(session);
    t.equal(status, 200);
    t.same(Object.keys(json), ["cleared", "expires_at"]);
    const inMinutes = (Date.parse(json.expires_at) - Date.now()) / 60_000;
    t.ok(inMinutes > 59 && inMinutes <= 60);
    const after = await verdict(session, agent, "/c");
    t.equal(after.action, "allow");
    t.match(after.reason, /Challenged by rule "challenge it"\. Passed at \d{4}-.*Z\.$/);
    t.equal((await verdict(session, agent, "/b")).action, "block");
    t.equal((await verdict(session, `${agent} other`, "/c")).action, "challenge", "another user agent is not cleared");
    const detail = (
      await server.ask("GET", `/v1/projects/${tenant.projectId}/sessions/${session}`, { token: tenant.token })
    ).json;
    t.equal(Date.parse(detail.cleared_at) + 3_600_000, Date.parse(json.expires_at));

    await t.test("the settings end it at once, and bring it back", async (t) => {
      await set({ enabled: false });
      t.equal((await verdict(session, agent, "/c")).action, "challenge");
      await set({ enabled: true });
      t.equal((await verdict(session, agent, "/c")).action, "allow");
    });

    await t.test("it ends at once when the score falls into a worse band", async (t) => {
      const worse = { ...automatedBatch("turnedbot"), session_token: session };
      await server.ask("POST", "/v1/events", {
        headers: { ...browserHeaders, "x-service-site-key": tenant.siteKey },
        body: worse,
      });
      const fallen = await askUntil(
        () =>
          server.ask("GET", `/v1/sessions/${session}/verdict?path=/c`, {
            token: tenant.privateKey,
            headers: { "x-service-client-ua": agent },
          }),
        ({ json }) => json.action !== "allow",
      );
      t.equal(fallen.json.verdict, "definite");
      t.equal(fallen.json.action, "challenge", "the cached answer does not outlive the band");
    });

    await t.test("issued, passed and failed are counted by rule", async (t) => {
      const path = `/v1/projects/${tenant.projectId}/stats?by=rule`;
      const { json: stats } = await server.ask("GET", path, { token: tenant.token });
      type Counts = Readonly<Record<"issued" | "passed" | "failed", number>>;
      // Of all hours: one may have ended since.
      const sum = (counts: readonly (Counts | undefined)[]) => {
        const of = (name: keyof Counts) => counts.reduce((total, each) => total + (each?.[name] ?? 0), 0);
        return { issued: of("issued"), passed: of("passed"), failed: of("failed") };
      };
      const rows: { challenges: Counts; challenges_by_rule: Record<number, Counts> }[] = stats.data;
      t.same(sum(rows.map((row) => row.challenges_by_rule[id])), { issued: 1, passed: 1, failed: 0 });
      const all = sum(rows.map((row) => row.challenges));
      t.ok(all.issued >= 2 && all.passed === 1);
      t.equal((await server.ask("GET", `${path.replace("rule", "band")}`, { token: tenant.token })).status, 422);
    });
  });

  await t.test("rules read `cleared`", async (t) => {
    const session = await newSession(batch("cleared"));
    await scored(session);
    await rule('path == "/r" AND NOT cleared', "block");
    t.equal((await verdict(session, agent, "/r")).action, "block");
    t.equal((await visitor.pass(session)).status, 200);
    t.equal((await verdict(session, agent, "/r")).action, "allow");
    t.equal((await verdict(session, "another agent", "/r")).action, "block");
  });

  await t.test(
    "the logged-in policy applies first: a block that it softens to a challenge can be passed",
    async (t) => {
      const session = await newSession(batch("softened"));
      await scored(session);
      await server.ask("PUT", `/v1/projects/${tenant.projectId}/scoring/settings`, {
        token: tenant.token,
        body: { logged_in_policy: "never_block" },
      });
      await server.ask("POST", `/v1/sessions/${session}/logged-in`, { token: tenant.privateKey });
      t.equal((await verdict(session, agent, "/b")).action, "challenge");
      await visitor.pass(session);
      const passed = await verdict(session, agent, "/b");
      t.equal(passed.action, "allow");
      t.match(passed.reason, /Softened to challenge: .* Passed at /);
    },
  );

  await t.test("erasing the session erases its clearance", async (t) => {
    const session = await newSession({ session_token: null, events: [event("erased-00000000")] });
    await visitor.pass(session);
    t.ok((await readStoredSession(server.store, session))?.state.clearance);
    await eraseSession(server.store, session);
    t.equal(await readStoredSession(server.store, session), null);
    t.equal((await visitor.issue(session)).json.code, "UNKNOWN_SESSION");
  });

  await t.test("an inactive subscription answers 402", async (t) => {
    await server.command("account", "set", String(other.accountId), "--subscription", "inactive");
    const { status, json } = await new ChallengedVisitor(server, other).issue("sess_any");
    t.same([status, json.code], [402, "NO_ACTIVE_SUBSCRIPTION"]);
  });
});
