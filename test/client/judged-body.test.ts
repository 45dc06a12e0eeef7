/** What a middleware sends of a visitor's request: always a body that verdictd takes, and none of the visitor's credentials. */
import fc from "fast-check";
import t from "tap";
import { judgedBody } from "../../src/client/judged-body.js";
import { Refusal } from "../../src/errors.js";
import { decodeVerdictBody } from "../../src/http/handlers/data-plane/verdict-body.js";
import { limits } from "../../src/limits.js";
import { holds } from "../support/property.js";

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
    fc.string({ unit: "binary", maxLength: 40 }),
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
