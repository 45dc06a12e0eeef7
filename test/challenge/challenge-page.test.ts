/** `POST /v1/challenge-page`: the page of the verdict or of the action, its policy and its words, and what is refused. */
import t from "tap";
import { batch, browserHeaders } from "../support/batches.js";
import { anotherTenant, askUntil, firstTenant, startServer } from "../support/server.js";

t.test("pages for backends in any language", async (t) => {
  const server = await startServer(t);
  const tenant = await firstTenant(server);
  const other = await anotherTenant(server, "other");
  const project = `/v1/projects/${tenant.projectId}`;
  const configure = (body: object) => server.ask("PUT", `${project}/challenge`, { token: tenant.token, body });
  const ask = (body: unknown, token = tenant.privateKey) => server.ask("POST", "/v1/challenge-page", { token, body });
  for (const action of ["block", "challenge"]) {
    const body = { name: action, expression: `path starts_with "/${action}"`, action };
    await server.ask("POST", `${project}/rules`, { token: tenant.token, body });
  }
  const headers = { ...browserHeaders, "x-service-site-key": tenant.siteKey };
  const session = (await server.ask("POST", "/v1/events", { headers, body: batch("paged") })).json.session_token;
  await askUntil(
    () => server.ask("GET", `${project}/sessions/${session}`, { token: tenant.token }),
    ({ json }) => json.verdict !== "not_computed",
  );
  const page = (path: string, more: object = {}, lines: readonly string[][] = [["Accept", "text/html"]]) =>
    ask({
      session_token: session,
      request: { method: "GET", path, host: "shop.example:8443", headers: lines },
      ...more,
    });

  await t.test("a project without a challenge of its own has a page that says so", async (t) => {
    const { json } = await page("/challenge", { texts: { title: "Who <are> you?" } });
    t.match(json.body, /<h1>Who &lt;are&gt; you\?<\/h1>/);
    t.match(json, { status: 403, headers: { "X-Verdict-Action": "challenge" }, body: /could not confirm otherwise/ });
    t.notMatch(json.body, /<script/);
  });

  await configure({ enabled: true });

  await t.test("the verdict decides between the two pages, and `action` over it", async (t) => {
    const challenge = await page("/challenge");
    t.equal(challenge.status, 200);
    t.same(Object.keys(challenge.json), ["status", "headers", "body"]);
    const id = challenge.headers.get("x-request-id");
    t.match(challenge.json, {
      status: 403,
      headers: {
        "Content-Type": "text/html; charset=utf-8",
        "Cache-Control": "no-store",
        "Content-Security-Policy": /script-src 'self'; connect-src 'self'; worker-src 'self'; style-src 'sha256-/,
        "X-Verdict-Action": "challenge",
        "X-Verdict-Id": id,
      },
      body: new RegExp(`src="/sdk.js" data-site-key="${tenant.siteKey}" data-cookie-name="service_session"></script>`),
    });
    t.match(challenge.json.body, /<p>shop\.example:8443<\/p>/, "the site as its visitor knows it");
    t.match((await page("/ok")).json.body, /challenge\.js/, "who is not blocked can be challenged");
    const block = (await page("/block")).json;
    t.match(block, { status: 403, headers: { "X-Verdict-Action": undefined }, body: /<h1>Access denied<\/h1>/ });
    t.match((await page("/block", { action: "challenge", verdict_id: "id-1" })).json, {
      headers: { "X-Verdict-Id": "id-1" },
      body: /challenge\.js/,
    });
    t.match((await page("/ok", { action: "block", texts: { contact: "Call us" } })).json.body, /<p>Call us<\/p>/);
    const blocks = await server.ask("GET", `${project}/blocks`, { token: tenant.token });
    t.ok(blocks.json.data.length > 0, "a block that this call found is recorded");
  });

  await t.test("JSON for who takes no HTML, and the visitor's language", async (t) => {
    const { json } = await page("/block", {}, [["accept", "application/json"]]);
    t.match(json.headers, { "Content-Type": /^application\/json/ });
    t.match(JSON.parse(json.body), { code: "REQUEST_BLOCKED", verdict_id: json.headers["X-Verdict-Id"] });
    t.match(JSON.parse((await page("/challenge", {}, [])).json.body), { code: "CHALLENGE_REQUIRED" });
    const lines = [
      ["ACCEPT", "text/html"],
      ["accept-language", "xx, de;q=0.8"],
    ];
    t.match((await page("/challenge", {}, lines)).json.body, /<html lang="de"/);
    const form = await ask({
      session_token: null,
      action: "challenge",
      request: { method: "POST", headers: { Accept: "text/html" } },
    });
    t.match(form.json.body, /data-form="Done\. Your form was not sent\./);
  });

  await t.test("origin and prefix of the script are settings, the body's before the project's", async (t) => {
    await configure({ script_origin: "https://v.example:8443", path_prefix: "/bots" });
    const { headers, body } = (await page("/challenge", { cookie_name: "sid", cookie_domain: "shop.example" })).json;
    t.match(body, 'src="https://v.example:8443/bots/sdk.js"');
    t.match(body, 'data-cookie-name="sid" data-cookie-domain="shop.example"');
    t.match(body, 'data-endpoint="https://v.example:8443/bots"', "else the SDK would report without the prefix");
    t.match(body, 'src="https://v.example:8443/bots/challenge.js"');
    const source = "https://v.example:8443";
    t.match(
      headers["Content-Security-Policy"],
      `default-src 'none'; script-src ${source}; connect-src ${source}; worker-src ${source};`,
    );
    const own = (await page("/challenge", { script_origin: "" })).json;
    t.match(own.body, 'src="/bots/sdk.js"');
    t.match(own.body, 'data-endpoint="/bots"');
    t.match(own.headers["Content-Security-Policy"], "script-src 'self'; connect-src 'self'");
    const bare = (await page("/challenge", { script_origin: "http://[::1]:81", path_prefix: "" })).json;
    t.match(bare.body, 'src="http://[::1]:81/challenge.js"');
    t.notMatch(bare.body, "data-endpoint");
    const forwarded = await server.ask("GET", "/v1/forward-auth", {
      token: tenant.privateKey,
      headers: { accept: "text/html", "x-forwarded-uri": "/challenge", cookie: `service_session=${session}` },
    });
    t.equal(forwarded.status, 401);
    t.match(forwarded.text, 'src="https://v.example:8443/bots/challenge.js"', "the proxies' page goes by them too");
    await configure({ script_origin: "", path_prefix: "" });
  });

  await t.test("what a visitor wrote is refused for nothing, what the backend wrote by its name", async (t) => {
    const hostile = [
      ["Accept", "text/html"],
      ["Accept-Language", "x".repeat(5000)],
      "no pair",
      ["X\u0000", "\ud800"],
      [1, 2],
    ];
    const request = { method: "<b>", path: "\u0000", host: '"><script>', ip: 1, headers: hostile };
    const { status, json } = await ask({ session_token: 5, request });
    t.equal(status, 200);
    t.notMatch(json.body, '"><script>');
    for (const [more, path] of [
      [{ action: "allow" }, "action"],
      [{ verdict_id: "a\r\nX: y" }, "verdict_id"],
      [{ site_key: 1 }, "site_key"],
      [{ site_key: "pk_unknown" }, "site_key"],
      [{ site_key: other.siteKey }, "site_key"],
      [{ script_origin: "javascript:alert(1)" }, "script_origin"],
      [{ script_origin: "https://v.example; script-src *" }, "script_origin"],
      [{ path_prefix: '/a"b' }, "path_prefix"],
      [{ cookie_name: "a=b" }, "cookie_name"],
      [{ texts: { title: 1 } }, "texts.title"],
      [{ request: undefined }, "request"],
    ] as const) {
      const refused = await page("/challenge", more);
      t.same([refused.status, refused.json.code], [422, "INVALID_PAYLOAD"], JSON.stringify(more));
      t.ok(refused.json.message.startsWith(path), refused.json.message);
    }
    t.equal((await page("/challenge", { site_key: tenant.siteKey })).status, 200);
    t.same((await ask("{")).json.code, "INVALID_PAYLOAD");
    t.same((await ask({ request: {}, filler: "x".repeat(66_000) })).status, 422);
    t.same((await ask({ request: {} }, tenant.siteKey)).status, 401);
  });
});
