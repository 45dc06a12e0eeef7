/** Holds the forward-auth endpoint to its statuses: only a verdict gives 401 or 403, and nobody but the proxy decides what is asked. */
import t from "tap";
import { startVerdictd } from "./verdictd-process.js";

t.test("forward-auth", async (t) => {
  const verdictd = await startVerdictd(t);
  const key = { "X-Service-Private-Key": verdictd.privateKey };
  const cookie = { Cookie: `a=b; service_session=${verdictd.sessionToken}` };
  const ask = (headers: Record<string, string>, query = ""): Promise<Response> =>
    fetch(`${verdictd.baseUrl}/v1/forward-auth${query}`, { headers });
  const statusOf = async (headers: Record<string, string>, query?: string): Promise<number> =>
    (await ask({ ...key, ...cookie, ...headers }, query)).status;

  t.test("actions are statuses", async (t) => {
    const cases = [
      ["/ok", 204, "allow"],
      ["/delay", 204, "delay"],
      ["/challenge?x=1", 401, "challenge"],
      ["/block", 403, "block"],
      ["/bl%6Fck", 403, "block"],
    ] as const;
    for (const [uri, status, action] of cases) {
      const response = await ask({ ...key, ...cookie, "X-Forwarded-Uri": uri });
      t.equal(response.status, status, uri);
      t.equal(response.headers.get("x-verdict-action"), action);
      t.match(response.headers.get("x-verdict"), /^(likely_human|likely_automated|confident_automated|definite)$/);
      t.match(response.headers.get("x-verdict-score"), /^[1-9]\d?$/);
      t.equal(response.headers.get("x-verdict-error"), null);
      t.equal(response.headers.get("www-authenticate"), null);
    }
  });

  t.test("a blocked browser gets a page with the verdict's id and no score", async (t) => {
    const response = await ask({ ...key, ...cookie, "X-Forwarded-Uri": "/block", Accept: "text/html" });
    const html = await response.text();
    const id = response.headers.get("x-verdict-id") ?? "";
    t.equal(id, response.headers.get("x-request-id"));
    t.match(response.headers.get("content-type"), /^text\/html/);
    t.ok(id !== "" && html.includes(id));
    t.notMatch(html, /score|definite|automated \(/i);
  });

  t.test("the whole context reaches the rules", async (t) => {
    t.equal(await statusOf({ "X-Forwarded-Uri": "/by-ip", "X-Forwarded-For": "203.0.113.9" }), 403);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/by-ip", "X-Forwarded-For": "203.0.113.9, 192.0.2.1" }), 204);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/by-ip", "X-Forwarded-For": "192.0.2.1, 203.0.113.9" }), 403);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/by-host", "X-Forwarded-Host": "shop.example" }), 403);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/by-method", "X-Forwarded-Method": "DELETE" }), 403);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/by-agent", "User-Agent": "curly/8" }), 403);
  });

  t.test("one set of headers is read, never a mixture", async (t) => {
    t.equal(await statusOf({ "X-Forwarded-Uri": "/block", "X-Original-URI": "/ok" }), 403);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/ok", "X-Original-URI": "/block" }), 204);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/ok", "X-Original-URI": "/block" }, "?headers=x-original"), 403);
    t.equal(await statusOf({ "X-Original-URI": "/by-ip", "X-Real-IP": "203.0.113.9" }, "?headers=x-original"), 403);
  });

  t.test("the session comes from the cookie or the header", async (t) => {
    const block = { ...key, "X-Forwarded-Uri": "/block" };
    t.equal((await ask({ ...block, "X-Service-Session": verdictd.sessionToken })).status, 403);
    for (const headers of [{}, { Cookie: "service_session=sess_unknown" }, { Cookie: "service_session=%00;;=" }]) {
      const response = await ask({ ...block, ...headers });
      t.equal(response.status, 204);
      t.equal(response.headers.get("x-verdict"), "not_computed");
      t.equal(response.headers.get("x-verdict-action"), "allow");
    }
  });

  t.test("the key may come in either header, and a visitor's own Authorization does not spoil it", async (t) => {
    const block = { ...cookie, "X-Forwarded-Uri": "/block" };
    t.equal((await ask({ ...block, Authorization: `Bearer ${verdictd.privateKey}` })).status, 403);
    t.equal((await ask({ ...block, ...key, Authorization: "Bearer visitor" })).status, 403);
    t.equal((await ask({ ...block, ...key, Authorization: "Basic eDp5" })).status, 403);
    const crossed = { Authorization: `Bearer ${verdictd.privateKey}`, "X-Service-Private-Key": "visitor" };
    t.equal((await ask({ ...block, ...crossed })).status, 403);
  });

  t.test("a wrong key lets in, says so, and is logged once", async (t) => {
    for (const wrong of [{}, { "X-Service-Private-Key": "sk_wrong" }, { Authorization: "Bearer sk_wrong" }]) {
      const response = await ask({ ...cookie, ...wrong, "X-Forwarded-Uri": "/block" });
      t.equal(response.status, 204);
      t.equal(response.headers.get("x-verdict-error"), "unauthenticated");
      t.equal(response.headers.get("x-verdict-action"), "allow");
    }
    await verdictd.logged("forward-auth lets visitors in unseen");
    const warnings = verdictd.log.join("\n").match(/forward-auth lets visitors in unseen/g) ?? [];
    t.equal(warnings.length, 1);
    t.notMatch(verdictd.log.join("\n"), /sk_wrong/);
  });

  t.test("an account that is not paid up lets in", async (t) => {
    await verdictd.command("account", "set", "1", "--subscription", "inactive");
    const response = await ask({ ...key, ...cookie, "X-Forwarded-Uri": "/block" });
    t.equal(response.status, 204);
    t.equal(response.headers.get("x-verdict-error"), "no_active_subscription");
    await verdictd.command("account", "set", "1", "--subscription", "active");
    t.equal(await statusOf({ "X-Forwarded-Uri": "/block" }), 403);
  });
});
