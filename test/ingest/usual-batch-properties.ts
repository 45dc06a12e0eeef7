/**
 * The one-pass reader against JSON.parse and typia, as a function of the number of runs: short in `npm test`, long in `test:long`. What
 * the reader takes they must accept, with the same result to the last bit and key; what it leaves alone they decide.
 */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import type { Test } from "tap";
import { parseJsonObject } from "../../src/contract/api/json-body.js";
import { Refusal } from "../../src/errors.js";
import { batchOf, checkBatch, idHashesOf, readBody, siteKeyOf } from "../../src/ingest/decode-batch.js";
import { directions, eventTypes, type PayloadKind, payloadKinds } from "../../src/ingest/payload-kinds.js";
import { readUsualBatch } from "../../src/ingest/usual-batch.js";
import { anyCharacter, holds } from "../support/property.js";

/** How many bodies of a run were taken in one pass, accepted by parse and typia only, and refused. */
interface Seen {
  usual: number;
  accepted: number;
  refused: number;
}

const numberText = fc.oneof(
  { weight: 4, arbitrary: fc.integer().map(String) },
  { weight: 4, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)) },
  { weight: 3, arbitrary: fc.tuple(fc.nat(99_999), fc.nat(9999)).map(([whole, part]) => `${whole}.${part}`) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.bigInt({ min: 0n, max: 10n ** 18n }), fc.nat(19), fc.boolean())
      .map(([digits, at, minus]) => {
        const text = String(digits);
        return `${minus ? "-" : ""}${text.slice(0, at) || "0"}${at < text.length ? `.${text.slice(at)}` : ""}`;
      }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ..."-0 0 -0.0 0.0 1e400 -1e400 1E5 1e+5 1e-5 0e0 01 -01 1. .5 - +1 -.5 1.e1 1e 1e+ --1 0x10 1_0 1,0 NaN Infinity".split(
        " ",
      ),
      ..."999999999999999 1000000000000000 9007199254740993 12345678901234567890 0.1 0.30000000000000004".split(" "),
      ..."0.000000000000001 0.0000000000000001 123456789.123456 123456789.1234567 4.35 1.005 5e-324 1e308".split(" "),
    ),
  },
);
const shareText = fc.oneof(numberText, fc.constantFrom("0", "1", "0.5", "0.33", "1.0", "1.0000001", "-0", "-0.1"));
const string = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 40 }).map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 8 }).map((text) => JSON.stringify(text)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(510, 511, 512, 513, 700).map((length) => JSON.stringify("a".repeat(length))),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '""',
      '"\\u0041"',
      '"\\ud800"',
      '"\ud83d\ude00"',
      '"\\ud83d\\ude00"',
      '"\\x41"',
      '"tab\tin"',
      '"\u007f"',
      '"\u0080"',
      '"é"',
      '"\\/"',
      '"\\"',
      '"a',
      "'a'",
      '"__proto__"',
    ),
  },
);
const booleanText = fc.constantFrom("true", "false", "true", "false", "null", "True", "tru", "truer", "1");
const scalar = fc.oneof(booleanText, numberText, string);
const list = (item: fc.Arbitrary<string>, maxLength = 5): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.array(item, { maxLength }).map((items) => `[${items.join(",")}]`) },
    { weight: 1, arbitrary: fc.constantFrom("[", "[]", "[,]", "[1,]", "[[]]", "{}", "null", "[null]") },
  );
const rows = (cells: number): fc.Arbitrary<string> => {
  const row = fc.oneof(
    { weight: 30, arbitrary: fc.array(numberText, { minLength: cells, maxLength: cells }).map((each) => `[${each}]`) },
    { weight: 1, arbitrary: list(scalar, 4) },
  );
  const many = fc.constantFrom(255, 256, 257).map((count) => `[${Array(count).fill(`[${"1,".repeat(cells - 1)}2]`)}]`);
  return fc.oneof({ weight: 30, arbitrary: list(row, 6) }, { weight: 1, arbitrary: many });
};
const manyItems = fc.constantFrom(63, 64, 65).map((count) => `[${Array(count).fill('"a"')}]`);

const oddTexts: Readonly<Record<PayloadKind, fc.Arbitrary<string>>> = {
  number: numberText,
  share: shareText,
  boolean: booleanText,
  text: string,
  textOrNumber: fc.oneof(string, numberText),
  names: fc.oneof(string, list(string), manyItems),
  fact: fc.oneof(scalar, list(scalar), manyItems),
  direction: fc.constantFrom(...directions.map((each) => `"${each}"`), '"UP"', '"down "', "up", '""', '"upward"'),
  points: rows(3),
  packed: fc.oneof(
    string,
    fc.constantFrom(255, 256, 257).map((count) => `"#${"###".repeat(count)}"`),
    fc.constant('"#PPPPPPP#PP"'),
  ),
  clicks: fc.oneof(string, fc.constant('"#####"')),
  strokes: rows(2),
};
const goodNumber = fc.oneof(
  fc.integer({ min: -100_000, max: 100_000 }).map(String),
  fc.tuple(fc.nat(99_999), fc.nat(9999)).map(([whole, part]) => `${whole}.${part}`),
);
const goodString = fc.string({ maxLength: 20 }).map((text) => `"${text.replace(/[^\x20-\x7e]|["\\]/g, "")}"`);
const goodBoolean = fc.constantFrom("true", "false");
const goodScalar = fc.oneof(goodBoolean, goodNumber, goodString);
const goodList = (item: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(item, { maxLength: 4 }).map((items) => `[${items.join(",")}]`);
const goodRow = (cells: number): fc.Arbitrary<string> =>
  fc.array(goodNumber, { minLength: cells, maxLength: cells }).map((each) => `[${each.join(",")}]`);
const goodTexts: Readonly<Record<PayloadKind, fc.Arbitrary<string>>> = {
  number: goodNumber,
  share: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => String(Math.round(value * 1000) / 1000)),
  boolean: goodBoolean,
  text: goodString,
  textOrNumber: fc.oneof(goodString, goodNumber),
  names: fc.oneof(goodString, goodList(goodString)),
  fact: fc.oneof(goodScalar, goodList(goodScalar)),
  direction: fc.constantFrom(...directions.map((each) => `"${each}"`)),
  points: goodList(goodRow(3)),
  packed: fc
    .array(fc.string({ unit: fc.constantFrom(..."#$7OQ]~"), maxLength: 4 }), { maxLength: 6 })
    .chain((parts) => fc.constantFrom("#", "%").map((form) => `"${form}${parts.join("")}"`)),
  clicks: fc.constant('"######"'),
  strokes: goodList(goodRow(2)),
};
/** Mostly good: a body has many values, and one bad one sinks it. */
const valueText = (kind: PayloadKind): fc.Arbitrary<string> =>
  fc.oneof({ weight: 12, arbitrary: goodTexts[kind] }, { weight: 1, arbitrary: oddTexts[kind] });

const keyNames = Object.keys(payloadKinds) as (keyof typeof payloadKinds)[];
const oddMember = fc
  .tuple(fc.constantFrom("__proto__", "constructor", "zz", "X", "x ", "", "pat\\u0068", "toString"), scalar)
  .map(([key, value]) => `"${key}":${value}`);
const member = fc.oneof(
  {
    weight: 100,
    arbitrary: fc
      .constantFrom(...keyNames)
      .chain((key) => valueText(payloadKinds[key]).map((value) => `"${key}":${value}`)),
  },
  { weight: 1, arbitrary: oddMember },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...keyNames), scalar).map(([key, value]) => `"${key}":${value}`) },
);
const payload = fc.array(member, { maxLength: 4 }).map((members) => `{${members.join(",")}}`);

const id = fc.oneof(
  { weight: 40, arbitrary: fc.uuid() },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "a".repeat(7),
      "a".repeat(8),
      "a".repeat(64),
      "a".repeat(65),
      "with space",
      "é".repeat(8),
      "",
    ),
  },
);
const time = fc.oneof(
  {
    weight: 40,
    arbitrary: fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date("2100-01-01") })
      .map((at) => at.toISOString()),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(...[9999, 14, 33, 25, 61, 61, 999].map((max) => fc.nat(max)))
      .map(([year, month, day, hour, minute, second, ms]) => {
        const two = (value: number | undefined): string => String(value).padStart(2, "0");
        const date = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
        return `${date}T${two(hour)}:${two(minute)}:${two(second)}.${String(ms).padStart(3, "0")}Z`;
      }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "2026-02-29T10:00:00.000Z",
      "2024-02-29T10:00:00.000Z",
      "1900-02-29T10:00:00.000Z",
      "2026-11-21T24:00:00.000Z",
      "2026-11-21T10:00:00Z",
      "2026-11-21T10:00:00.000+01:00",
      "2026-11-21t10:00:00.000z",
      "2026-11-21 10:00:00,000Z",
      "2026-11-21T10:00:00.00aZ",
      "now",
    ),
  },
);
const type = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(...eventTypes) },
  { weight: 1, arbitrary: fc.constantFrom("", "Mouse", "mouse ", "__proto__", "wheel") },
);
const event = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .tuple(id, type, time, payload)
      .map(
        ([id, type, time, payload]) =>
          `{"request_id":"${id}","type":"${type}","received_at":"${time}","payload":${payload}}`,
      ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '{"type":"mouse","request_id":"reordered","received_at":"2026-11-21T10:00:00.000Z","payload":{}}',
      '{"request_id":"missing-00","type":"mouse","received_at":"2026-11-21T10:00:00.000Z"}',
      '{"request_id":"extra-000","type":"mouse","received_at":"2026-11-21T10:00:00.000Z","payload":{},"more":1}',
      '{"request_id":"twice-000","type":"mouse","received_at":"2026-11-21T10:00:00.000Z","payload":{},"payload":{"x":1}}',
      "{}",
      "null",
    ),
  },
);
const head = fc.oneof(
  {
    weight: 20,
    arbitrary: fc
      .tuple(
        fc.constantFrom("null", '"sess_AAAAAAAAAAAAAAAAAAAAAAAAAAAA"'),
        fc.constantFrom("", ',"site_key":"pk_abc"'),
      )
      .map((parts) => `{"session_token":${parts.join("")},`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "{",
      '{"session_token":1,',
      '{"session_token":"",',
      '{"session_token":null,"site_key":1,',
      '{"session_token":null,"site_key":"pk_é",',
      '{"session_token":null,"other":[1],',
      '{"site_key":"pk_abc","session_token":null,',
      '{"session_token":null,"session_token":"sess_twice",',
      ' {"session_token":null,',
    ),
  },
);
const tail = fc.oneof(
  { weight: 30, arbitrary: fc.constant("]}") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "]",
      "]}}",
      "]} ",
      "]}\n",
      "] }",
      ",]}",
      "]}x",
      '],"site_key":"pk_late"}',
      '],"events":[]}',
    ),
  },
);
const someEvents = fc.oneof(
  { weight: 40, arbitrary: fc.array(event, { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(event, fc.constantFrom(99, 100, 101)).map(([each, count]) => Array<string>(count).fill(each)),
  },
);
const bodyText = fc
  .tuple(head, someEvents, tail)
  .map(([head, events, tail]) => Buffer.from(`${head}"events":[${events.join(",")}${tail}`, "utf8"));

/** A body as it is, or with bytes changed, put in, left out or cut off. */
const body = fc
  .tuple(bodyText, fc.nat(), fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat(14))
  .map(([bytes, one, other, byte, how]) => {
    const at = one % bytes.length;
    switch (how) {
      case 0:
        return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at + 1)]);
      case 1:
        return Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at)]);
      case 2:
        return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + (other % 8))]);
      case 3:
        return bytes.subarray(0, at);
      case 4:
        return Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from([" ", "\n", ",", '"', "0", "-", "\\", "}"][other % 8]!),
          bytes.subarray(at),
        ]);
      default:
        return bytes;
    }
  });

/** Throws with the body and the seed when the two ways of reading differ. Returns what kinds of bodies it saw. */
export function bothWaysAgree(t: Test, numRuns: number): Seen {
  const seen: Seen = { usual: 0, accepted: 0, refused: 0 };
  holds(
    t,
    fc.property(body, (bytes) => {
      const parsed = parseJsonObject(bytes);
      const expected = parsed instanceof Refusal ? parsed : checkBatch(parsed);
      const usual = readUsualBatch(bytes);
      if (expected instanceof Refusal) {
        seen.refused++;
        const read = batchOf(readBody(bytes));
        return usual === null && read instanceof Refusal && read.message === expected.message;
      }
      seen.accepted++;
      if (usual === null) return isDeepStrictEqual(batchOf(readBody(bytes)), expected);
      seen.usual++;
      return (
        isDeepStrictEqual(usual.batch, expected) &&
        JSON.stringify(usual.batch) === JSON.stringify(expected) &&
        usual.siteKey === siteKeyOf(parsed) &&
        isDeepStrictEqual(usual.idHashes, idHashesOf(parsed, expected))
      );
    }),
    { numRuns },
  );
  return seen;
}
