/** What a middleware sends of a visitor's request: always a body that verdictd takes, and none of the visitor's credentials. */
import fc from "fast-check";
import t from "tap";
import { judgedBody } from "../../src/client/judged-body.js";
import { Refusal } from "../../src/errors.js";
import { decodeVerdictBody } from "../../src/http/handlers/data-plane/verdict-body.js";
import { limits } from "../../src/limits.js";
import { anyCharacter, holds } from "../support/property.js";

const secrets = ["Cookie", "AUTHORIZATION", "Proxy-Authorization", "X-Service-Session", "x-service-private-key"];

t.test("credentials stay in the backend, in whatever case", async (t) => {
  const headers = secrets.map((name) => [name, "secret-of-the-visitor"] as const);
  const body = judgedBody("sess_x", { path: "/a?b=c", method: "GET", headers: [...headers, ["Accept", "*/*"]] });
  t.notMatch(body, /secret-of-the-visitor/);
  t.same(JSON.parse(body), {
    session_token: "sess_x",
    request: { method: "GET", path: "/a?b=c", headers: { accept: ["*/*"] } },
  });
});

t.test("values are read as the backend had them", async (t) => {
  const read = (headers: [string, string | string[] | undefined][]) =>
    JSON.parse(judgedBody(null, { headers, userAgent: "-" })).request.headers;
  t.same(
    read([
      ["X-A", ["1", "2"]],
      ["x-b", undefined],
    ]),
    { "x-a": ["1", "2"], "user-agent": ["-"] },
  );
  t.same(read([["User-Agent", "Caf\xc3\xa9"]]), { "user-agent": ["Café"] }, "bytes, a character each, are UTF-8");
  t.same(
    read([
      ["__proto__", "1"],
      [":path", "/"],
    ]),
    JSON.parse('{"__proto__":["1"],"user-agent":["-"]}'),
  );
  t.equal(read([["Signature", "s".repeat(5000)]]).signature[0].length, 4096);
});

t.test("whatever a visitor sends, verdictd takes the body", async (t) => {
  const text = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.string({ unit: anyCharacter, maxLength: 40 }),
    fc.constant('\u0000"\\'.repeat(9000)),
  );
  const headers = fc.array(fc.tuple(text, fc.oneof(text, fc.array(text, { maxLength: 3 }))), { maxLength: 300 });
  holds(
    t,
    fc.property(headers, text, text, (sent, path, host) => {
      const body = Buffer.from(judgedBody(null, { headers: sent, path, host, userAgent: host }));
      const decoded = decodeVerdictBody(body, () => undefined);
      return body.length <= limits.controlBodyBytesMax && "request" in decoded;
    }),
    { numRuns: 200 },
  );
});

t.test("the longest body is below verdictd's bound, whatever characters it is made of", async (t) => {
  for (const character of ["a", '"', "\u0001", "\u00e9", "\u20ac", "\ud800", "\ud83d\ude00"]) {
    const long = character.repeat(10_000);
    const headers = Array.from({ length: 100 }, (_, index) => [`x-${index}`, long] as const);
    const request = { headers, path: long, method: long, host: long, ip: long, userAgent: long };
    const body = Buffer.from(judgedBody(`sess_${"a".repeat(128)}`, request));
    t.ok(body.length <= limits.controlBodyBytesMax, `${JSON.stringify(character)}: ${body.length}`);
    t.ok(body.length > 30_000, "and as long as it may be");
    t.notOk(decodeVerdictBody(body, () => undefined) instanceof Refusal);
  }
});

t.test("headers may be an object by name, as Node has them", async (t) => {
  const headers = { Accept: "*/*", "X-A": ["1", "2"], "x-b": undefined, Cookie: "secret" };
  t.same(JSON.parse(judgedBody(null, { headers })).request.headers, { accept: ["*/*"], "x-a": ["1", "2"] });
});

t.test("no headers of a visitor push out those that rules and signatures go by", async (t) => {
  const needed = [
    ["User-Agent", "python-requests/2.31"],
    ["X-Forwarded-Proto", "https"],
    ["Signature", "sig1=:AA==:"],
    ["Signature-Input", 'sig1=("@authority")'],
    ["Signature-Agent", '"https://agent.example"'],
  ] as const;
  const many = Array.from({ length: 110 }, (_, index) => [`x-${index}`, "y"] as const);
  const long = Array.from({ length: 60 }, (_, index) => [`x-${index}`, '"'.repeat(512)] as const);
  for (const others of [many, long]) {
    const { headers } = JSON.parse(judgedBody(null, { headers: [...others, ...needed] })).request;
    for (const [name, value] of needed) t.same(headers[name.toLowerCase()], [value]);
    t.same(JSON.parse(judgedBody(null, { headers: others, userAgent: "-" })).request.headers["user-agent"], ["-"]);
  }
});

t.test("credentials of visitors stay in the backend, by whatever name", async (t) => {
  const secrets = [
    ...[
      "Authorization",
      "Proxy-Authorization",
      "Cookie",
      "Cookie2",
      "X-Api-Key",
      "Api-Key",
      "apikey",
      "X-ApiKey",
      "X-API-KEY",
    ],
    ...[
      "X-Auth-Token",
      "X-Access-Token",
      "X-CSRF-Token",
      "X-XSRF-TOKEN",
      "Private-Token",
      "X-Amz-Security-Token",
      "X-Goog-Api-Key",
    ],
    ...[
      "Ocp-Apim-Subscription-Key",
      "X-Functions-Key",
      "X-Client-Secret",
      "X-Session-Id",
      "X-Service-Session",
      "X-Auth",
      "X-Password",
    ],
    ...[
      "X-Forwarded-Access-Token",
      "X-Shopify-AccessToken",
      "X-Vault-Token",
      "x_api_key",
      "X-Service-Private-Key",
      "X-JWT-Assertion",
    ],
  ];
  const ordinary = [
    ...[
      "Accept",
      "Accept-Encoding",
      "Accept-Language",
      "Cache-Control",
      "Content-Type",
      "DNT",
      "Host",
      "If-None-Match",
      "Origin",
    ],
    ...[
      "Priority",
      "Range",
      "Referer",
      "Sec-CH-UA-Platform",
      "Sec-Fetch-Mode",
      "Signature-Input",
      "User-Agent",
      "X-Forwarded-Proto",
    ],
    ...["X-Requested-With", "Keep-Alive", "Upgrade-Insecure-Requests"],
  ];
  const headers = [...secrets, ...ordinary].map((name) => [name, "value"] as const);
  const { request } = JSON.parse(judgedBody(null, { headers }));
  t.same(Object.keys(request.headers).sort(), ordinary.map((name) => name.toLowerCase()).sort());
});

t.test("HTTP/2's authority is the host where there is none", async (t) => {
  const headers = [[":authority", "shop.example:8443"]] as const;
  t.equal(JSON.parse(judgedBody(null, { headers })).request.host, "shop.example:8443");
  t.equal(JSON.parse(judgedBody(null, { headers, host: "given.example" })).request.host, "given.example");
  const both = JSON.parse(judgedBody(null, { headers: [...headers, ["Host", "a.example"]] }));
  t.equal(both.request.host, undefined, "verdictd reads the header");
});
