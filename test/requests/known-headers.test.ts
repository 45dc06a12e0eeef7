/** Header lines that are known again: the same answers as for new ones, whatever the lines and whatever else the request says, in bounded memory. */
import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import type { DeclaredBot } from "../../src/contract/declared-bots.js";
import type { ExaminedRequest, RequestFindings } from "../../src/contract/judged-request.js";
import { noVisitEvidence } from "../../src/contract/visit-facts.js";
import { crawlerClaims, type VisitorIdentity } from "../../src/contract/visitor.js";
import { scoreRequest } from "../../src/engines/score-request.js";
import { Refusal } from "../../src/errors.js";
import { forwardedQuestion } from "../../src/http/handlers/data-plane/forwarded-request.js";
import { untrimmed } from "../../src/http/handlers/data-plane/header-lines.js";
import { KnownHeaders, KnownLines } from "../../src/http/handlers/data-plane/known-headers.js";
import { type DecodedQuestion, decodeVerdictBody } from "../../src/http/handlers/data-plane/verdict-body.js";
import { limits } from "../../src/limits.js";
import { examine } from "../../src/requests/examiner.js";
import { holds } from "../support/property.js";
import { navigation } from "./asking.js";
import { headersOf, kinds, ways } from "./browser-headers.js";
import { libraries } from "./dishonest-headers.js";
import { browsers } from "./honest-headers.js";

const nobody: VisitorIdentity = { verifiedBot: null, crawlerClaim: "none" };
const canonicalIp = (text: string) => (text === "" ? undefined : text);
const decode = (body: string | Buffer, known?: KnownHeaders) =>
  decodeVerdictBody(Buffer.from(body), canonicalIp, known);

/** A question without what is remembered. */
function told(question: DecodedQuestion | Refusal): object {
  if (question instanceof Refusal) return { refused: question.message };
  const { memo: _, ...request } = question.request;
  return { ...question, request };
}

const isKnown = (question: DecodedQuestion | Refusal) =>
  !(question instanceof Refusal) && question.request.memo !== undefined;

const browserLines = fc
  .tuple(fc.constantFrom(...browsers), fc.constantFrom(...kinds), fc.constantFrom(...ways))
  .map(([browser, kind, way]) => headersOf(browser, kind, way));
const toolLines = fc.constantFrom(...libraries).map(({ lines, ownAgent }) => lines(ownAgent));
const oddText = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    "x]]",
    "}",
    '"headers":[["a","b"]]',
    "é\u0007",
    "\ud800",
    "a".repeat(600),
    ":authority",
    "Signature-Input",
  ),
);
const oddLines = fc.array(fc.tuple(oddText, oddText), { maxLength: 6 });
const headers = fc.oneof(
  { weight: 3, arbitrary: browserLines },
  toolLines,
  oddLines,
  oddLines.map((lines) =>
    Object.fromEntries(lines.map(([name, value], index) => [name, index % 2 ? [value, "2"] : value])),
  ),
  fc.constantFrom<unknown>([], {}, null, "text", [["a"]], [["a", 1]], { a: { b: "c" } }),
);
const maybe = <Value>(...values: readonly Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const rest = fc.record({
  method: maybe("GET", "POST", "post", "x y"),
  path: fc.option(fc.oneof(fc.constantFrom("/", "/a.js", "/b.mjs", "/film.mp4", "/favicon.ico"), oddText), {
    nil: undefined,
  }),
  host: maybe("shop.example", "localhost", "Shop.example:8443", ""),
  ip: maybe("198.51.100.7", "2001:db8::1"),
  http_version: maybe("1.1", "2", "HTTP/3", "9"),
  ja4: maybe("t13d1516h2_8daaf6152771_b186095e22b6", "x"),
});
const outer = fc.record({
  session_token: maybe<unknown>("sess_x", 5, null),
  issue_token: maybe<unknown>(true, "yes"),
  wait_ms: maybe(0, 5000),
});
const bot: DeclaredBot = { name: "Feedly", operator: "Feedly", category: "feed" };
const findings: fc.Arbitrary<RequestFindings> = fc.record({
  declaredBot: fc.constantFrom(null, bot, { ...bot, category: "library" as const }),
  crawlerClaim: fc.constantFrom(...crawlerClaims),
  signature: fc.constantFrom("none", "verified", "unverified", "invalid"),
  visit: fc.oneof(
    fc.constant(noVisitEvidence),
    fc.record({
      silentPages: maybe(4, 12),
      unkeptTokens: maybe(3, 9),
      isPagelessPost: maybe(true, false),
      walkedPages: maybe(0, 8, 30),
      isInstalled: fc.constantFrom(true as const, undefined),
    }),
  ),
});

t.test(
  "a body with known headers is read and scored as a new one, in whatever order and among whatever else",
  async (t) => {
    const known = new KnownHeaders();
    let again = 0;
    const one = fc.record({ rest, outer, findings, isSpaced: fc.boolean(), isFirst: fc.boolean() });
    const isSame = fc.property(headers, fc.array(one, { minLength: 5, maxLength: 8 }), (sent, questions) => {
      for (const each of questions) {
        const request = each.isFirst ? { headers: sent, ...each.rest } : { ...each.rest, headers: sent };
        const text = JSON.stringify(each.isFirst ? { request, ...each.outer } : { ...each.outer, request });
        const body = each.isSpaced ? text.replace('"headers":', '"headers": ') : text;
        const found = decode(body, known);
        const fresh = decode(body);
        assert.deepStrictEqual(told(found), told(fresh));
        if (found instanceof Refusal || fresh instanceof Refusal) continue;
        if (isKnown(found)) again++;
        assert.deepStrictEqual(
          scoreRequest(found.request, each.findings),
          scoreRequest(fresh.request, each.findings),
          JSON.stringify([body, each.findings]),
        );
      }
    });
    holds(t, isSame, { numRuns: 400 });
    t.ok(again > 500, `${again} questions were about known headers`);
  },
);

t.test("a proxy's lines that are known are read and scored as new ones, whatever the cookie", async (t) => {
  const known = new KnownLines();
  let again = 0;
  const cookie = fc.constantFrom("", "a=1", "a=2; b=3", "x".repeat(600));
  const asked = fc.record({ rest, findings, cookie, scheme: fc.constantFrom("", "https"), host: oddText });
  const lines = fc.oneof({ weight: 2, arbitrary: browserLines }, toolLines, oddLines);
  const isSame = fc.property(lines, fc.array(asked, { minLength: 6, maxLength: 8 }), (sent, questions) => {
    const host = questions[0]!.host;
    for (const each of questions) {
      const context = Object.fromEntries(Object.entries(each.rest).filter(([, value]) => value !== undefined));
      const small = sent.map(([name, value]) => [name.toLowerCase(), value] as const);
      const forwarded = {
        lines: [
          ...small.slice(0, 2),
          ["cookie", each.cookie] as const,
          ...small.slice(2),
          ["x-cut", "y".repeat(513)] as const,
        ],
        context,
        sessionToken: null,
        wantsToken: false,
        isAskedAgain: false,
        target: "/",
        authority: host,
        scheme: each.scheme,
        ja4Header: "",
        isTrusted: false,
      };
      const [trimmed, trimmedFresh] = [untrimmed(), untrimmed()];
      const found = forwardedQuestion(forwarded, trimmed, known);
      const fresh = forwardedQuestion(forwarded, trimmedFresh);
      const isAgain = found.request.memo !== undefined;
      if (isAgain) again++;
      const { memo: _, headers, ...request } = found.request;
      const kept = fresh.request.headers.filter(([name]) => name !== "cookie" || !isAgain);
      assert.deepStrictEqual([trimmed, headers], [trimmedFresh, kept]);
      const { memo: _none, headers: _lines, ...freshRequest } = fresh.request;
      assert.deepStrictEqual(request, freshRequest);
      const before = scoreRequest({ ...fresh.request }, each.findings);
      assert.deepStrictEqual(scoreRequest(found.request, each.findings), before, JSON.stringify(forwarded));
    }
  });
  holds(t, isSame, { numRuns: 300 });
  t.ok(again > 500, `${again} questions were about known lines`);
});

t.test("lines with a signature, too many or too long ones are new each time", async (t) => {
  const known = new KnownLines();
  const isMemo = (lines: readonly (readonly [string, string])[]) => {
    for (let time = 0; time < 3; time++) known.read(lines, untrimmed());
    return known.read(lines, untrimmed()).memo !== undefined;
  };
  t.ok(isMemo([["user-agent", "a"]]));
  t.notOk(
    isMemo([
      ["user-agent", "a"],
      ["signature-input", "sig1=()"],
    ]),
  );
  t.notOk(isMemo(Array.from({ length: 101 }, (_, n) => [`x-${n}`, "a"] as const)));
  t.notOk(isMemo(Array.from({ length: 9 }, (_, n) => [`x-${n}`, "a".repeat(500)] as const)));
});

const bodyOf = (lines: string, more = "") => `{"request":{"path":"/a","headers":${lines}${more}}}`;
const twice = (known: KnownHeaders, lines: string) => {
  for (let time = 0; time < 2; time++) decode(bodyOf(lines), known);
};
const linesOf = (n: number) => JSON.stringify([...navigation, ["X-Number", String(n)]]);

t.test("a known text counts in its place alone", async (t) => {
  const known = new KnownHeaders();
  const lines = linesOf(1);
  twice(known, lines);
  t.ok(isKnown(decode(bodyOf(lines), known)));
  for (const body of [
    `{"headers":${lines},"request":{"path":"/a"}}`,
    `{"headers":${lines},"request":{"path":"/a","headers":${linesOf(2)}}}`,
    bodyOf(lines, ',"headers":[["Accept","text/html"]]'),
    bodyOf(lines, ',"headers":7'),
    `{"request":{"headers":${lines}},"request":{"path":"/b"}}`,
    `{"request":{"path":${JSON.stringify(`"headers":${lines}`)}}}`,
    `{"request":{"headers":{"a"headers"":"b","c":"d"}}}`,
  ]) {
    const found = decode(body, known);
    t.notOk(isKnown(found), body);
    t.strictSame(told(found), told(decode(body)));
  }
  for (const broken of [bodyOf(`${lines}]`), bodyOf(lines).slice(0, -1), `${bodyOf(lines)},`, bodyOf(`${lines}"x"`)]) {
    t.match(decode(broken, known), { error: "invalidPayload" }, broken);
  }
  const bytes = Buffer.from(bodyOf(JSON.stringify([["User-Agent", "café"]])));
  bytes[bytes.indexOf(0xc3)] = 0xff;
  for (let time = 0; time < 3; time++) t.strictSame(told(decode(bytes, known)), told(decode(bytes)));
  t.ok(isKnown(decode(bytes, known)), "bytes that are no UTF-8 are the same each time, too");
});

t.test("a text is kept from its second time on, and not what is too long", async (t) => {
  const known = new KnownHeaders();
  t.notOk(isKnown(decode(bodyOf(linesOf(1)), known)));
  t.ok(isKnown(decode(bodyOf(linesOf(1)), known)));
  const long = JSON.stringify(Array.from({ length: 20 }, (_, n) => [`x-${n}`, "a".repeat(300)]));
  t.ok(long.length > limits.knownHeadersBytesMax);
  twice(known, long);
  t.notOk(isKnown(decode(bodyOf(long), known)));
});

t.test("texts that come once take nobody's place, and those that come twice hardly that of one in use", async (t) => {
  const known = new KnownHeaders();
  const used = Array.from({ length: 20 }, (_, n) => linesOf(n));
  const stillKnown = (lines: readonly string[]) => lines.filter((each) => isKnown(decode(bodyOf(each), known)));
  let held: readonly string[] = used;
  // Two may have been given one slot, and then take it from each other: the others stay known.
  for (let time = 0; time < 40; time++) {
    const found = stillKnown(used);
    if (time >= 20) held = held.filter((each) => found.includes(each));
  }
  t.ok(held.length >= 16, `${held.length} of 20`);
  for (let n = 100; n < 20_100; n++) decode(bodyOf(`[["x-number","${n}"]]`), known);
  t.strictSame(stillKnown(held), held, "after 20,000 that came once");
  let lost = 0;
  for (let n = 0; n < 10_000; n++) {
    twice(known, `[["x-other","${n}"]]`);
    if (n % 500 === 0) lost += held.length - stillKnown(held).length;
  }
  t.ok(lost <= 4, `${lost} of ${20 * held.length} questions found nothing`);
});

t.test("the bot that a user agent names is that of the list in force", async (t) => {
  const known = new KnownHeaders();
  twice(known, linesOf(1));
  const { request, hasHeaders, ...question } = decode(bodyOf(linesOf(1)), known) as DecodedQuestion;
  const list = (name: string | null) => ({ of: () => (name === null ? undefined : { ...bot, name }) });
  const examined = (declaredBots: ReturnType<typeof list>, more = {}) => {
    const sources = {
      declaredBots: () => declaredBots,
      identities: { peek: () => nobody, resolve: async () => nobody },
      judgeSignature: () => ({ signature: "unverified" as const }),
      countRequest: () => 1,
      score: scoreRequest,
    };
    const asked = { ...question, hasHeaders, request: { ...request, ...more } };
    return examine(sources, 1, asked, null, 0, undefined) as ExaminedRequest;
  };
  const [one, none] = [list("One"), list(null)];
  t.match(
    [examined(one), examined(one), examined(none), examined(list("Two"))].map((each) => each.declaredBot?.name),
    ["One", "One", undefined, "Two"],
  );
  t.equal(examined(one).signature, "none", "no line of it may belong to a signature");
  t.equal(examined(one, { memo: undefined }).signature, "unverified");
});
