/** Holds the forward-auth endpoint to its statuses: only a verdict gives 401 or 403, and nobody but the proxy decides what is asked. */
import t from "tap";
import { RawClient } from "../support/raw-socket.js";
import { startVerdictd } from "./verdictd-process.js";

t.test("forward-auth", async (t) => {
  const verdictd = await startVerdictd(t);
  const key = { "X-Service-Private-Key": verdictd.privateKey };
  const cookie = { Cookie: `a=b; service_session=${verdictd.sessionToken}` };
  const ask = (headers: Record<string, string>, more = ""): Promise<Response> =>
    fetch(`${verdictd.baseUrl}/v1/forward-auth${more}`, { headers });
  const statusOf = async (headers: Record<string, string>, more?: string): Promise<number> =>
    (await ask({ ...key, ...cookie, ...headers }, more)).status;

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
      t.equal(response.headers.get("cache-control"), "no-store", "once");
      t.equal(response.headers.get("x-content-type-options"), "nosniff", "once");
      const [band, score] = [response.headers.get("x-verdict"), response.headers.get("x-verdict-score")];
      if (status === 204) {
        t.match(band, /^(likely_human|likely_automated|confident_automated|definite)$/);
        t.match(score, /^[1-9]\d?$/);
      } else t.same([band, score], [null, null], "a proxy may send the answer's headers to the visitor");
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
    // A proxy that appends writes behind what its visitor sent.
    t.equal(await statusOf({ "X-Forwarded-Uri": "/by-host", "X-Forwarded-Host": "evil.example, shop.example" }), 403);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/by-host", "X-Forwarded-Host": "shop.example,evil.example" }), 204);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/by-ip", "X-Forwarded-For": "192.0.2.1, 203.0.113.9:4711" }), 403);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/by-method", "X-Forwarded-Method": "DELETE" }), 403);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/by-agent", "User-Agent": "curly/8" }), 403);
  });

  t.test("one set of headers is read, never a mixture, and the path asked says which", async (t) => {
    t.equal(await statusOf({ "X-Forwarded-Uri": "/block", "X-Original-URI": "/ok" }), 403);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/ok", "X-Original-URI": "/block" }), 204);
    const original = "/x-original";
    t.equal(await statusOf({ "X-Forwarded-Uri": "/ok", "X-Original-URI": "/block" }, original), 403);
    t.equal(await statusOf({ "X-Forwarded-Uri": "/block", "X-Original-URI": "/ok" }, original), 204);
    t.equal(await statusOf({ "X-Original-URI": "/by-ip", "X-Real-IP": "203.0.113.9" }, original), 403);
    t.equal(await statusOf({ "X-Original-URI": "/by-ip", "X-Forwarded-For": "203.0.113.9" }, original), 204);
    t.equal(await statusOf({ "X-Original-URI": "http://shop.example//x/../block?y" }, original), 403);
  });

  t.test("a visitor's query, which proxies pass on, says nothing", async (t) => {
    const forged = { "X-Forwarded-Uri": "/block", "X-Original-URI": "/ok", "X-Real-IP": "66.249.66.1" };
    for (const query of [
      "?headers=x-original",
      "?headers=x-original&headers=x-forwarded",
      "?ip=66.249.66.1&path=/ok",
    ]) {
      const response = await ask({ ...key, ...cookie, ...forged }, query);
      t.equal(response.status, 403, query);
      t.not(response.headers.get("x-verdict"), "verified");
    }
    t.equal(await statusOf({ ...forged, "X-Forwarded-Uri": "/ok" }, "?headers=x-original&path=/block"), 204);
  });

  t.test("lines that a visitor sent before those of the proxy count for nothing", async (t) => {
    const raw = async (lines: readonly string[]): Promise<number> => {
      const client = await RawClient.open(Number(new URL(verdictd.baseUrl).port));
      const ours = [
        `X-Service-Private-Key: ${verdictd.privateKey}`,
        `Cookie: service_session=${verdictd.sessionToken}`,
      ];
      client.write(`GET /v1/forward-auth HTTP/1.1\r\nHost: a\r\n${[...lines, ...ours].join("\r\n")}\r\n\r\n`);
      const answer = await client.answer();
      client.leave();
      return answer?.status ?? 0;
    };
    t.equal(await raw(["X-Forwarded-Uri: /ok", "X-Forwarded-Uri: /block"]), 403);
    t.equal(await raw(["X_Forwarded_Uri: /ok", "X-Forwarded-Uri: /block", "X_Forwarded-Uri: /ok"]), 403);
    t.equal(await raw(["X-Service-Private-Key: sk_x", "X-Forwarded-Uri: /block"]), 403);
    t.equal(await raw(["Cookie: a=b", "X-Forwarded-Uri: /block"]), 403, "cookies of several lines");
    t.equal(await raw(["X-Service-Session: x", "X-Service-Session:", "X-Forwarded-Uri: /block"]), 403);
    const byIp = "X-Forwarded-Uri: /by-ip";
    const method = ["X-Forwarded-Method: GET", "X-Forwarded-Method: DELETE", "X-Forwarded-Uri: /by-method"];
    t.equal(await raw(method), 403);
    t.equal(await raw([byIp, "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 203.0.113.9"]), 403);
    t.equal(await raw([byIp, "X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: 192.0.2.1"]), 204);
    t.equal(await raw([byIp, "X-Forwarded-For: 203.0.113.9, 192.0.2.1"]), 204);
    t.equal(await raw([byIp, "Forwarded: for=203.0.113.9", "X-Forwarded-For: 192.0.2.1"]), 204);
  });

  t.test("a path has one meaning", async (t) => {
    for (const uri of [
      "//block",
      "/./block",
      "/x/../block",
      "/%62lock",
      "http://h/block",
      "/block;x",
      "/x.css/../block",
    ]) {
      t.equal(await statusOf({ "X-Forwarded-Uri": uri }), 403, uri);
      t.equal(await statusOf({ "X-Original-Uri": uri }, "/x-original"), 403, uri);
    }
    t.equal(await statusOf({ "X-Forwarded-Uri": "/BLOCK" }), 204, "case is kept");
    t.equal(await statusOf({ "X-Forwarded-Uri": "/x%2F..%2Fblock" }), 204, "as are encoded slashes");
    t.equal(await statusOf({ "X-Forwarded-Uri": `/${"x/../".repeat(2500)}block` }), 403, "cut after it is resolved");
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
    await verdictd.logged("forward-auth lets visitors in without a verdict");
    const warnings = verdictd.log.join("\n").match(/forward-auth lets visitors in without a verdict/g) ?? [];
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
