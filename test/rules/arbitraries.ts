/** Random trees, facts and sources for the properties of the rules language. Literals and facts share small pools, so that they meet. */
import fc from "fast-check";
import { agentCertainties } from "../../src/contract/bots/agents.js";
import { botCategories } from "../../src/contract/bots/bot-categories.js";
import { signatureStates } from "../../src/contract/bots/signed-agents.js";
import { noVisitEvidence } from "../../src/contract/evidence/visit-facts.js";
import type { ExaminedRequest } from "../../src/contract/verdicts/judged-request.js";
import { bands } from "../../src/contract/verdicts/verdict.js";
import type { Comparison, Expression, Literal } from "../../src/rules/ast.js";
import { operatorsOfType } from "../../src/rules/check.js";
import { type Field, fields } from "../../src/rules/fields.js";
import type { RuleFacts } from "../../src/rules/input.js";

const pieces = ["a", "A", "b", "/", "*", "?", ".", '"', "\\", "é", "🤖", "İ", "ß", "login", "GET", " AND "];
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((parts) => parts.join(""));
const integer = fc.oneof(
  fc.integer({ min: 0, max: 6 }),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  fc.constantFrom(-(2 ** 31), 2 ** 31 - 1, 99, 30),
);
const detectionId = fc.constantFrom(100101, 200101, 300101);

const addresses = [
  "203.0.113.7",
  "203.0.113.200",
  "10.0.0.1",
  "0.0.0.0",
  "255.255.255.255",
  "::ffff:203.0.113.7",
  "::ffff:a00:1",
  "2001:db8::1",
  "2001:DB8:0:1::ffff",
  "::",
  "::1",
  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
];
const address = fc.constantFrom(...addresses);
const range = fc.tuple(address, fc.nat(128)).map(([base, bits]) => {
  if (!base.includes(":")) return `${base}/${bits % 33}`;
  return base.startsWith("::ffff:") ? `${base}/${96 + (bits % 33)}` : `${base}/${bits}`;
});

function literal(field: Field): fc.Arbitrary<Literal> {
  switch (field.type) {
    case "integer":
      return integer;
    case "string":
    case "string-set":
      return text;
    case "band":
    case "category":
      return fc.constantFrom(...field.members);
    case "boolean":
      return fc.boolean();
    case "ip":
      return fc.oneof(address, range);
    case "id-set":
      return detectionId;
  }
}

const isWhole: ReadonlySet<string> = new Set(["==", "!=", "in"]);

/** Fields of strings with closed lists take no other value. */
function listedOf(field: Field): fc.Arbitrary<Literal> {
  if (field.type === "string" && field.known !== undefined) return fc.constantFrom(...field.known);
  if (field.name === "country") return fc.constantFrom("DE", "us");
  if (field.name === "method") return fc.constantFrom("GET", "get", "a", "M-SEARCH");
  return literal(field);
}

/** Every comparison the type table allows. */
export const comparison: fc.Arbitrary<Comparison> = fc.constantFrom(...fields).chain((field) =>
  fc.constantFrom(...operatorsOfType[field.type]).chain((op): fc.Arbitrary<Comparison> => {
    const one = isWhole.has(op) ? listedOf(field) : literal(field);
    const value = op === "in" ? fc.array(one, { minLength: 1, maxLength: 8 }) : one;
    return value.map((each): Comparison => ({ type: "cmp", op, field: field.name, value: each }));
  }),
);

/** Any tree of bounded size, a chain inside a chain of its own kind included. */
export const expression: fc.Arbitrary<Expression> = fc.letrec<{ tree: Expression }>((tie) => {
  const nodes = fc.array(tie("tree"), { minLength: 2, maxLength: 4 });
  return {
    tree: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      comparison,
      nodes.map((each): Expression => ({ type: "and", nodes: each })),
      nodes.map((each): Expression => ({ type: "or", nodes: each })),
      tie("tree").map((node): Expression => ({ type: "not", node })),
    ),
  };
}).tree;

function maybe<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.option(arbitrary, { nil: undefined });
}

const addressLookup = fc
  .record({ country: maybe(text), asn: maybe(integer), asName: maybe(text) })
  .chain((network) =>
    fc.array(text, { maxLength: 3 }).map((lists) => ({ networkOf: () => network, listsOf: () => lists })),
  );

const request: fc.Arbitrary<ExaminedRequest> = fc.record({
  score: fc.option(integer),
  detectionIds: fc.uniqueArray(detectionId),
  verifiedBot: fc.constant(null),
  declaredBot: fc.option(fc.record({ name: text, operator: text, category: fc.constantFrom(...botCategories) })),
  signature: fc.constantFrom(...signatureStates),
  signedAgent: maybe(
    fc.record({ host: fc.constantFrom("a", "b.a"), name: text, category: fc.constantFrom(...botCategories) }),
  ),
  requestsPerMinute: maybe(integer),
  visit: maybe(
    fc.record({
      pages: integer,
      silentPages: integer,
      seconds: maybe(integer),
      posts: integer,
      cookieKept: maybe(fc.boolean()),
      evidence: fc.constant(noVisitEvidence),
    }),
  ),
  ja4: maybe(text),
  httpVersion: maybe(fc.constantFrom("1.0", "1.1", "2", "3")),
  hasHeaders: fc.boolean(),
});

export const facts: fc.Arbitrary<RuleFacts> = fc.record({
  score: integer,
  band: fc.constantFrom(...bands),
  verifiedBot: fc.boolean(),
  verifiedBotCategory: maybe(fc.constantFrom(...botCategories)),
  path: maybe(text),
  method: maybe(fc.constantFrom("GET", "get", "a", "")),
  host: maybe(text),
  userAgent: maybe(text),
  ip: maybe(fc.oneof(address, fc.constantFrom("", "no address", "1.2.3.4:80"))),
  staticResource: maybe(fc.boolean()),
  detectionIds: fc.uniqueArray(detectionId),
  agent: maybe(
    fc
      .record({
        name: text,
        category: fc.constantFrom(...botCategories),
        certainty: fc.constantFrom(...agentCertainties),
      })
      .map((agent) => () => agent),
  ),
  jsDetected: fc.boolean(),
  heuristicsScore: fc.oneof(integer, fc.constantFrom(null, undefined)),
  behavioralScore: fc.oneof(integer, fc.constantFrom(null, undefined)),
  eventCount: maybe(integer),
  sessionAgeSeconds: maybe(integer),
  likelyBotThreshold: integer,
  hasSession: maybe(fc.boolean()),
  addresses: maybe(addressLookup),
  request: maybe(request),
  isCleared: maybe(fc.boolean().map((isCleared) => () => isCleared)),
});

const tokens = [
  ...fields.map((field) => field.name),
  ...["AND", "or", "NOT", "(", ")", "{", "}", ",", "==", "!=", "<", "<=", ">", ">=", "in", "contains", "wildcard"],
  ...[
    "starts_with",
    "ends_with",
    "true",
    "false",
    "0",
    "-1",
    "30",
    "2147483648",
    '"definite"',
    '"1.2.3.0/24"',
    '"a\\"b"',
  ],
  ...["__proto__", "bogus", '"', "\\", "=", "!", "🤖", "\n", "\ud800", "\u0000"],
];

/** Words of the language in no order. */
export const tokenSoup = fc
  .array(fc.tuple(fc.constantFrom(...tokens), fc.constantFrom("", " ", "\n")), { maxLength: 60 })
  .map((parts) => parts.flat().join(""));

/** A good source with a few characters taken out, put in or doubled: almost right is where parsers slip. */
export function damaged(source: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const wound = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom("", ...tokens), fc.nat(3));
  return fc.tuple(source, fc.array(wound, { minLength: 1, maxLength: 3 })).map(([whole, wounds]) =>
    wounds.reduce((now, [place, inserted, cut]) => {
      const at = Math.floor(place * now.length);
      return now.slice(0, at) + inserted + now.slice(at + cut);
    }, whole),
  );
}
