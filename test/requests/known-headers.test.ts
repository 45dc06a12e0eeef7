/** Header lines that are known again: the same answers as for new ones, whatever the lines and whatever else the request says, in bounded memory. */
import assert from "node:assert/strict";
import fc from "fast-check";
import t from "tap";
import type { DeclaredBot } from "../../src/contract/bots/declared-bots.js";
import { noVisitEvidence } from "../../src/contract/evidence/visit-facts.js";
import { crawlerClaims, type VisitorIdentity } from "../../src/contract/evidence/visitor.js";
import type { ProjectSettings } from "../../src/contract/sessions/session.js";
import type { ExaminedRequest, RequestFindings, VerdictQuestion } from "../../src/contract/verdicts/judged-request.js";
import { isNavigationOf } from "../../src/contract/verdicts/navigation.js";
import { scoreRequest } from "../../src/engines/score-request.js";
import { Refusal } from "../../src/errors.js";
import { forwardedQuestion } from "../../src/http/handlers/data-plane/forwarded-request.js";
import { type Trimming, untrimmed } from "../../src/http/handlers/data-plane/header-lines.js";
import { CountedHeaders, countedPart, headerParts } from "../../src/http/handlers/data-plane/header-parts.js";
import { HeaderTemplates } from "../../src/http/handlers/data-plane/header-templates.js";
import { KnownHeaders, KnownLines } from "../../src/http/handlers/data-plane/known-headers.js";
import { type DecodedQuestion, decodeVerdictBody } from "../../src/http/handlers/data-plane/verdict-body.js";
import { limits } from "../../src/limits.js";
import { examine } from "../../src/requests/examiner.js";
import { unjudged } from "../../src/verdict/unjudged.js";
import { holds } from "../support/property.js";
import { navigation } from "./asking.js";
import { type Browser, headersOf, type Kind, kinds, ways } from "./browser-headers.js";
import { libraries } from "./dishonest-headers.js";
import { browsers } from "./honest-headers.js";
import { type HeaderLine, noFindings } from "./judged.js";

const nobody: VisitorIdentity = { verifiedBot: null, crawlerClaim: "none" };
const canonicalIp = (text: string) => (text === "" ? undefined : text);
const decode = (body: string | Buffer, known?: KnownHeaders) =>
  decodeVerdictBody(Buffer.from(body), canonicalIp, known);

/** A question without what is remembered, and of its lines what others than scoring read. */
function told(question: DecodedQuestion | Refusal): object {
  if (question instanceof Refusal) return { refused: question.message };
  const { memo, headers, ...request } = question.request;
  const isNavigation = memo?.isNavigation ?? isNavigationOf(headers);
  const options = { request: { ...request, headers, context: { ...request.context, method: "OPTIONS" } } };
  const isPreflight = unjudged({} as ProjectSettings, options, () => []) !== null;
  return { ...question, request, isNavigation, isPreflight };
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
/** Lines that change from one request of a browser to the next, and such as only look like them. */
const pages = [
  "https://shop.example/",
  "https://shop.example/lamps?page=2",
  "https://shop.example/orders/17",
  "https://shop.example/mjs?.js?",
  "https://shop.example/\u00e9\u0007/a",
  "https://shop.example/app.js",
  "https://shop.example/worker.mjs?v=3",
  "https://shop.example/.js",
  "https://other.example/lamps",
  "https://shop.example",
  "https://x.js",
  "https://translate.google.com/translate?u=x",
  "https://shop-example.translate.goog/lamps",
  `https://shop.example/${"a".repeat(500)}.js`,
  "a page.js",
  "",
];
const odd = [
  "0",
  "1",
  "2",
  '"etag"',
  "x]]",
  "}",
  '"headers":[["a","b"]]',
  "\u00e9\u0007",
  "\ud800",
  "a".repeat(600),
  "",
];
const changing: readonly (readonly [name: string, values: readonly string[]])[] = [
  ...["Referer", "referer", "REFERER"].map((name) => [name, pages] as const),
  ["Origin", ["https://shop.example", "https://shop.example/lamps", "https://other.example", "null", ""]],
  ["Range", ["bytes=0-", "bytes=500-999", "bytes=7-9", ""]],
  [
    "Content-Type",
    ["multipart/form-data; boundary=a", "multipart/form-data; boundary=b", "multipart/form-data", ";a", ""],
  ],
  ["Content-Type", ["application/reports+json", "application/reports+json; charset=utf-8", "application/json"]],
  ...["If-None-Match", "Cookie", "traceparent", "X-Request-Id", "Via", "A", "Z", "K\u212a"].map(
    (name) => [name, odd] as const,
  ),
  ["Sec-Purpose", ["prefetch", "other", ""]],
  ["Sec-Fetch-Dest", ["document", "empty", "script", ""]],
  ["Access-Control-Request-Method", ["GET", ""]],
  ["Signature-Input", ["sig1=()", ""]],
];
const places = fc.array(fc.tuple(fc.nat(14), fc.constantFrom(...changing)), { maxLength: 3 });
const picks = fc.array(fc.nat(1000), { minLength: 3, maxLength: 3 });
type Place = readonly [at: number, line: (typeof changing)[number]];
type Change = readonly [at: number, line: HeaderLine];
const changesAt = (at: readonly Place[], picked: readonly number[]): Change[] =>
  at.map(([place, [name, values]], index) => [place, [name, values[picked[index]! % values.length]!]]);

/** The lines, with others between them. */
function changed<Line>(lines: readonly Line[], others: readonly (readonly [at: number, Line])[]): Line[] {
  const all = [...lines];
  for (const [at, line] of others) all.splice(Math.min(at, all.length), 0, line);
  return all;
}

/** The same of `headers` in any form. */
function changedHeaders(sent: unknown, others: readonly Change[]): unknown {
  if (Array.isArray(sent)) return changed<unknown>(sent, others);
  if (typeof sent !== "object" || sent === null) return sent;
  const lines = others.map(([at, [name, value]]) => [at, [name, at % 2 ? [value] : value]] as const);
  return Object.fromEntries(changed<readonly [string, unknown]>(Object.entries(sent), lines));
}

const oddLines = fc.array(fc.tuple(oddText, oddText), { maxLength: 6 });
const headers = fc.oneof(
  { weight: 3, arbitrary: browserLines },
  browserLines.map((lines) => Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), [value]]))),
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
    const one = fc.record({ rest, outer, findings, picks, isSpaced: fc.boolean(), isFirst: fc.boolean() });
    const isSame = fc.property(
      headers,
      places,
      fc.array(one, { minLength: 6, maxLength: 9 }),
      (same, at, questions) => {
        for (const each of questions) {
          const sent = changedHeaders(same, changesAt(at, each.picks));
          const request = each.isFirst ? { headers: sent, ...each.rest } : { ...each.rest, headers: sent };
          const text = JSON.stringify(each.isFirst ? { request, ...each.outer } : { ...each.outer, request });
          const body = each.isSpaced ? text.replaceAll(/"(?:[:,]|\],)(?=["[])/g, "$& ") : text;
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
      },
    );
    holds(t, isSame, { numRuns: 600 });
    t.ok(again > 400, `${again} questions were about known headers`);
  },
);

t.test(
  "a proxy's lines that are known are read and scored as new ones, whatever the cookie and the page",
  async (t) => {
    const known = new KnownLines();
    let again = 0;
    const cookie = fc.constantFrom("", "a=1", "a=2; b=3", "x".repeat(600));
    const asked = fc.record({ rest, findings, picks, cookie, scheme: fc.constantFrom("", "https"), host: oddText });
    const lines = fc.oneof({ weight: 2, arbitrary: browserLines }, toolLines, oddLines);
    const isSame = fc.property(
      lines,
      places,
      fc.array(asked, { minLength: 6, maxLength: 8 }),
      (sent, at, questions) => {
        const host = questions[0]!.host;
        for (const each of questions) {
          const context = Object.fromEntries(Object.entries(each.rest).filter(([, value]) => value !== undefined));
          const small = changed(sent, changesAt(at, each.picks)).map(
            ([name, value]) => [name.toLowerCase(), value] as const,
          );
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
          if (found.request.memo !== undefined) again++;
          const asDecoded = (question: VerdictQuestion, trimming: Trimming) =>
            told({ ...question, trimming, waitMs: 0 });
          assert.deepStrictEqual(asDecoded(found, trimmed), asDecoded(fresh, trimmedFresh));
          const before = scoreRequest({ ...fresh.request }, each.findings);
          assert.deepStrictEqual(scoreRequest(found.request, each.findings), before, JSON.stringify(forwarded));
        }
      },
    );
    holds(t, isSame, { numRuns: 600 });
    t.ok(again > 500, `${again} questions were about known lines`);
  },
);

t.test("of a line counts what is read of it, in a body as of a proxy", async (t) => {
  const counted = new CountedHeaders(limits.knownHeadersBytesMax);
  for (const [name, values] of changing) {
    const part = headerParts.get(name.toLowerCase()) ?? "none";
    for (const value of values) {
      const text = JSON.stringify([
        ["Accept", "*/*"],
        [name, value],
      ]);
      const body = Buffer.from(text);
      const ofProxy = countedPart(part, value);
      if (!counted.read(body, 0)) {
        t.ok(ofProxy === null || /^[^ -~]/.test(name.slice(1)), text);
        continue;
      }
      t.equal(counted.end, body.length);
      const ofBody = JSON.parse(counted.bytes.toString("utf8", 0, counted.length))[1][1];
      // What JSON may write in several ways counts whole.
      t.ok(ofBody === ofProxy || (ofBody === value && /\\/.test(text)), `${text}: ${ofBody}, ${ofProxy}`);
    }
  }
  t.equal(countedPart("page", "https://shop.example/lamps?page=2"), "https://shop.example/");
  t.equal(countedPart("page", "https://shop.example/app.mjs?v=3"), "https://shop.example/.js");
});

t.test("lines that fit a template are those that a walk through them would know", async (t) => {
  const counted = new CountedHeaders(limits.knownHeadersBytesMax);
  const templates = new HeaderTemplates<string>(7);
  let fits = 0;
  const isSame = fc.property(headers, places, fc.array(picks, { minLength: 9, maxLength: 12 }), (same, at, all) => {
    for (const each of all) {
      const body = Buffer.from(JSON.stringify({ headers: changedHeaders(same, changesAt(at, each)), path: "/a" }));
      const start = '{"headers":'.length;
      const found = templates.find(body, start);
      const text = counted.read(body, start) ? counted.bytes.toString("utf8", 0, counted.length) : null;
      if (found !== undefined) {
        assert.deepStrictEqual([found, templates.end], [text, counted.end], body.toString());
        fits++;
      } else if (text !== null) templates.keep(start, counted.end, counted.holes, text);
    }
  });
  holds(t, isSame, { numRuns: 600 });
  t.ok(fits > 600, `${fits} fitted`);
});

t.test("the script that a script is loaded from is known by its name", async (t) => {
  const known = new KnownHeaders();
  const own = headersOf(browsers[0]!, "fetch", ways[0]!).filter(([name]) => !/^(?:sec-|referer)/i.test(name));
  const loaded = [
    ...own,
    ["sec-fetch-site", "same-origin"],
    ["sec-fetch-mode", "no-cors"],
    ["sec-fetch-dest", "script"],
  ];
  const scores = [...pages, ...pages].map((page) => {
    const found = decode(bodyOf(JSON.stringify([...loaded, ["referer", page]])), known) as DecodedQuestion;
    const fresh = decode(bodyOf(JSON.stringify([...loaded, ["referer", page]]))) as DecodedQuestion;
    const score = scoreRequest(fresh.request, noFindings);
    t.strictSame(scoreRequest(found.request, noFindings), score, page);
    return score.score;
  });
  t.ok(new Set(scores).size > 1, "it makes a difference");
});

/** What a visitor's browser asks a shop for, page by page: each page from the one before, its images, and its scripts' fetches. */
function visit(browser: Browser, number: number): HeaderLine[][] {
  const way = ways[0]!;
  const pages = Array.from(
    { length: 20 },
    (_, n) => `https://shop.example/lamps/${(number * 31 + n * 7) % 900}?page=${n}`,
  );
  const from = (kind: Kind, page: string, tag: number) =>
    headersOf(browser, kind, way).flatMap(([name, value]): HeaderLine[] =>
      name.toLowerCase() === "referer"
        ? [
            [name, page],
            ["if-none-match", `"${number}-${tag}"`],
            ["traceparent", `00-${number}${tag}-01`],
          ]
        : [[name, value]],
    );
  return pages.flatMap((page, n) => [
    n === 0 ? headersOf(browser, "typed address", way) : from("link", pages[n - 1]!, n),
    from("image", page, 1),
    from("image", page, 2),
    from("fetch of JSON", page, 3),
    from("fetch", page, n),
  ]);
}

t.test("most requests of visitors' browsers, each from another page, are of known lines", async (t) => {
  const [known, knownLines] = [new KnownHeaders(), new KnownLines()];
  const requests = Array.from({ length: 40 }, (_, n) => visit(browsers[(n * n) % browsers.length]!, n)).flat();
  const found = { list: 0, object: 0, lines: 0 };
  for (const lines of requests) {
    const byName = Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), [value]]));
    if (isKnown(decode(bodyOf(JSON.stringify(lines)), known))) found.list++;
    if (isKnown(decode(JSON.stringify({ request: { headers: byName } }), known))) found.object++;
    const small = lines.map(([name, value]): HeaderLine => [name.toLowerCase(), value]);
    if (knownLines.read(small, untrimmed()).memo !== undefined) found.lines++;
  }
  for (const [form, count] of Object.entries(found)) {
    const share = count / requests.length;
    t.ok(share > 0.85, `${form}: ${(100 * share).toFixed(1)} % of ${requests.length} requests`);
  }
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
  t.notOk(isMemo([["origin", "https://shop.example/page"]]), "an Origin with a path, which browsers don't send");
  t.notOk(isMemo(Array.from({ length: 101 }, (_, n) => [`x-${n}`, "a"] as const)));
  t.notOk(isMemo(Array.from({ length: 9 }, () => ["accept", "a".repeat(500)] as const)));
});

const bodyOf = (lines: string, more = "") => `{"request":{"path":"/a","headers":${lines}${more}}}`;
const twice = (known: KnownHeaders, lines: string) => {
  for (let time = 0; time < 2; time++) decode(bodyOf(lines), known);
};
const linesOf = (n: number) => JSON.stringify([...navigation, [`X-Number-${n}`, "1"]]);

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
  const long = JSON.stringify(Array.from({ length: 20 }, () => ["accept", "a".repeat(300)]));
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
  for (let n = 100; n < 20_100; n++) decode(bodyOf(`[["x-number-${n}","1"]]`), known);
  t.strictSame(stillKnown(held), held, "after 20,000 that came once");
  let lost = 0;
  for (let n = 0; n < 10_000; n++) {
    twice(known, `[["x-other-${n}","1"]]`);
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
