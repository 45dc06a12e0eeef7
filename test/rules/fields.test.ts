/** The table of fields: its rows are whole, and every field takes exactly the operators and literals of its type. */
import fc from "fast-check";
import t from "tap";
import { operators } from "../../src/rules/ast.js";
import { compileRule } from "../../src/rules/compile-rule.js";
import { isRuleFault } from "../../src/rules/fault.js";
import { type Field, type FieldType, fieldOf, fields, requestFieldNames } from "../../src/rules/fields.js";
import { type RuleFacts, RuleInput } from "../../src/rules/input.js";
import { holds } from "../support/property.js";
import { facts } from "./arbitraries.js";
import { valuesOf } from "./interpreter.js";

/** One good literal of each type, and the operators it goes with. */
const good: Record<FieldType, { literal: string; operators: string }> = {
  integer: { literal: "30", operators: "== != < <= > >= in" },
  string: { literal: '"any text"', operators: "== != contains starts_with ends_with wildcard in" },
  band: { literal: '"definite"', operators: "== != in" },
  category: { literal: '"search"', operators: "== != in" },
  boolean: { literal: "false", operators: "== !=" },
  ip: { literal: '"203.0.113.0/24"', operators: "== != in" },
  "id-set": { literal: "100101", operators: "contains" },
  "string-set": { literal: '"tor-exits"', operators: "contains" },
};

/** Values of fields that have a form. */
const formed: Readonly<Record<string, string>> = { method: '"POST"', country: '"de"' };

/** A literal of a field of strings that takes no other in `==`, `!=` and `in`; undefined: it takes any. */
function listedOf(field: Field): string | undefined {
  if (field.type !== "string") return undefined;
  return field.known === undefined ? formed[field.name] : JSON.stringify(field.known[0]);
}

function literalOf(field: Field, type: FieldType): string {
  return (type === "string" ? listedOf(field) : undefined) ?? good[type].literal;
}

/** Whether a getter of a field of this type may return it. */
const isOfType: Readonly<Record<FieldType, (value: unknown) => boolean>> = {
  integer: Number.isSafeInteger,
  string: (value) => typeof value === "string",
  band: (value) => typeof value === "string",
  category: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  ip: (value) => typeof value === "object",
  "id-set": (value) => Array.isArray(value) && value.every(Number.isSafeInteger),
  "string-set": (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
};

const stringTypes: readonly FieldType[] = ["string", "band", "category", "ip", "string-set"];
const anyStringTypes: readonly FieldType[] = ["string", "string-set"];
const integerTypes: readonly FieldType[] = ["integer", "id-set"];

/** Whether a literal of one type is one of another: any string is a `string`, and both number types take integers. */
function fits(literalOf: FieldType, type: FieldType): boolean {
  if (literalOf === type) return true;
  return (
    (anyStringTypes.includes(type) && stringTypes.includes(literalOf)) ||
    (integerTypes.includes(type) && integerTypes.includes(literalOf))
  );
}

t.test("the fields are those that the naive interpreter has, each with a meaning and values of its type", async (t) => {
  const [someFacts] = fc.sample(facts, 1);
  t.same(fields.map(({ name }) => name).sort(), Object.keys(valuesOf(someFacts!)).sort());
  const unfilled = new Set(fields);
  const areOfType = (given: RuleFacts) =>
    fields.every((field) => {
      const value = field.get(new RuleInput(given));
      if (value === undefined) return true;
      unfilled.delete(field);
      return isOfType[field.type](value);
    });
  holds(t, fc.property(facts, areOfType));
  t.same(
    [...unfilled].map(({ name }) => name),
    [],
    "each had a value once",
  );
  for (const field of fields) {
    t.match(field.name, /^[a-z][a-z0-9_]*$/);
    t.ok(field.meaning.length > 10, `${field.name} says what it means`);
    t.equal(fieldOf(field.name), field);
  }
});

t.test("the fields of requests are those that a session without a request lacks", async (t) => {
  const session = new RuleInput({
    agent: () => ({ name: "Codex", category: "ai_agent", certainty: "marked" }),
    score: 40,
    band: "likely_human",
    verifiedBot: true,
    verifiedBotCategory: "search",
    path: "/",
    method: "GET",
    host: "shop.example",
    userAgent: "Mozilla/5.0",
    ip: "203.0.113.7",
    staticResource: false,
    detectionIds: [],
    jsDetected: false,
    heuristicsScore: 40,
    behavioralScore: 40,
    eventCount: 1,
    sessionAgeSeconds: 1,
    likelyBotThreshold: 30,
    hasSession: true,
    addresses: { networkOf: () => ({ country: "DE", asn: 1, asName: "Net" }), listsOf: () => [] },
  });
  const lacking = fields.filter(({ get }) => get(session) === undefined).map(({ name }) => name);
  t.same([...requestFieldNames], lacking);
  for (const name of lacking) t.match(fieldOf(name)?.meaning, /; only where requests are judged$/);
});

t.test("every field takes the operators of its type and refuses every other", async (t) => {
  for (const field of fields) {
    const allowed = good[field.type].operators.split(" ");
    for (const op of operators) {
      const literal = literalOf(field, field.type);
      const source = `${field.name} ${op} ${op === "in" ? `{${literal}}` : literal}`;
      const outcome = compileRule(source);
      if (allowed.includes(op)) t.notOk(isRuleFault(outcome), source);
      else t.match(outcome, { line: 1, column: field.name.length + 2, found: `\`${op}\`` }, `refused: ${source}`);
    }
  }
});

t.test("every field takes literals of its type and refuses every other, alone and in a set", async (t) => {
  for (const field of fields) {
    const ops = good[field.type].operators.split(" ");
    for (const type of Object.keys(good) as FieldType[]) {
      for (const op of ops) {
        const literal = literalOf(field, type);
        if (listedOf(field) !== undefined && type !== "string" && /^(?:[!=]=|in)$/.test(op)) continue;
        const source = `${field.name} ${op} ${op === "in" ? `{${literal}}` : literal}`;
        const accepted = !isRuleFault(compileRule(source));
        t.equal(accepted, fits(type, field.type), source);
      }
    }
  }
});

t.test("numbers of autonomous systems go to 4294967295, other integers to 2147483647", async (t) => {
  for (const source of ["asn == 4294967295", "asn in {1, 4294967295}", "score < 2147483647"]) {
    t.notOk(isRuleFault(compileRule(source)), source);
  }
  t.match(compileRule("asn == 4294967296"), { expected: /4294967295/ });
  t.match(compileRule("score < 2147483648"), { expected: /2147483647/ });
});

t.test("only a boolean field stands alone", async (t) => {
  for (const field of fields) t.equal(!isRuleFault(compileRule(field.name)), field.type === "boolean", field.name);
});

t.test("names every object has are unknown fields", async (t) => {
  const names = [...Object.getOwnPropertyNames(Object.prototype), "length", "name", "prototype"];
  for (const name of names) {
    t.equal(fieldOf(name), undefined);
    t.match(compileRule(`${name} == 1`), { column: 1, expected: /^a known field/ }, name);
  }
});

t.test("closed lists take their own values, in any spelling that is folded, and name the nearest", async (t) => {
  const refused: readonly (readonly [source: string, expected: RegExp])[] = [
    ['signature == "veryfied"', /^one of "none", "verified".*did you mean "verified"/],
    ['signature in {"none", "invalied"}', /did you mean "invalid"/],
    ['declared_bot_category != "librari"', /did you mean "library"/],
    ['verified_bot_category == "serch"', /did you mean "search"/],
    ['http_version == "5"', /^one of "1.0", "1.1", "2", "3"/],
    ['http_version == "HTTP/4"', /^one of/],
    ['country == "Germany"', /^a country of two letters/],
    ['country in {"DE", "D1"}', /^a country of two letters/],
    ['method == "GET /"', /^a method/],
    ['method == ""', /^a method/],
  ];
  for (const [source, expected] of refused) {
    t.match(compileRule(source), { expected }, source);
    t.match(compileRule(source, "search"), { expected }, `${source}, searched for`);
  }
  for (const source of ['http_version in {"HTTP/2", "2.0", "http/1.1"}', 'country == "de"', 'method == "m-search"']) {
    const rule = compileRule(source);
    t.notOk(isRuleFault(rule), source);
  }
  t.match(compileRule('http_version == "HTTP/2"'), { ast: { value: "HTTP/2" } }, "kept as it was written");
  t.notOk(isRuleFault(compileRule('signature starts_with "un"')), "a part may be anything");
  t.notOk(isRuleFault(compileRule('signature == "veryfied"', "stored")), "rules that were saved earlier go on");
});
