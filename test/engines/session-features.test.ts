/** The packed form of the features: round trips at any offset, and bytes that are not one. */

import { createHash } from "node:crypto";
import fc from "fast-check";
import t from "tap";
import { browserFamilies, claimedSystems } from "../../src/contract/evidence/claimed-browser.js";
import { crawlerClaims } from "../../src/contract/evidence/visitor.js";
import { verifiedBotCategories } from "../../src/contract/verdicts/verdict.js";
import {
  countFields,
  factFields,
  nextFieldNumber,
  retiredFields,
  textFields,
} from "../../src/engines/feature-fields.js";
import { internedTexts } from "../../src/engines/interned-texts.js";
import {
  F,
  hasKnownLayout,
  newFeatures,
  packedBytes,
  packedBytesMax,
  packFeatures,
  type SessionFeatures,
  setText,
  T,
  unpackFeatures,
} from "../../src/engines/session-features.js";
import { holds } from "../support/property.js";
import { givenNumbers, goldenRecords, goldenValue } from "./feature-numbers.js";

const maxima = { u8: 0xff, u16: 0xffff, u32: 0xffffffff };

const anyNumber = (kind: "u8" | "u16" | "u32" | "f32" | "f64") => {
  // Whole numbers on both sides of the bounds up to which they are written as integers.
  if (kind === "f64") return fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(), fc.nat(2 ** 43));
  if (kind === "f32") return fc.oneof(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.nat(300), fc.nat(2 ** 22));
  return fc.integer({ min: 0, max: maxima[kind] });
};

const anyFeatures = fc
  .record({
    numbers: fc.tuple(
      ...countFields.map((each) => fc.oneof(fc.constant(0), anyNumber(each.kind))),
      ...factFields.map((each) => fc.oneof(fc.constant(Number.NaN), anyNumber(each.kind))),
    ),
    texts: fc.tuple(
      ...textFields.map((each) =>
        fc.oneof(
          fc.constant(""),
          fc.constant("Win32"),
          fc.string({ unit: "grapheme", maxLength: 60 }).filter((value) => value.length <= each.charactersMax),
        ),
      ),
    ),
  })
  .map(({ numbers, texts }): SessionFeatures => ({ numbers: numbers.map((each) => each + 0), texts: [...texts] }));

t.test("every field comes back from the packed form, wherever in the buffer it lies", async (t) => {
  holds(
    t,
    fc.property(anyFeatures, fc.nat(50), fc.nat(50), (features, before, after) => {
      const target = Buffer.alloc(before + packedBytesMax + after, 0xaa);
      const end = packFeatures(features, target, before);
      const view = target.subarray(3);
      const read = unpackFeatures(view, before - 3, end - 3 + after);
      if (before < 3) return read === null;
      return (
        end - before <= packedBytes(features) &&
        read !== null &&
        read.texts.every((each, index) => each === features.texts[index]) &&
        read.numbers.every((each, index) => each === features.numbers[index] || Number.isNaN(each))
      );
    }),
  );
});

t.test("names are unique, and positions follow the table", async (t) => {
  const names = [...countFields, ...factFields, ...textFields].map((each) => each.name);
  t.equal(new Set(names).size, names.length);
  t.equal(F.ring6 - F.ring0, 6, "the ring is contiguous");
});

/** Every field by its number, as the table has it now. */
const presentFields = [...countFields, ...factFields, ...textFields.map((each) => ({ ...each, kind: "text" }))];

t.test("a field keeps the number it was given, and no number is given twice", async (t) => {
  for (const { name, number, kind } of presentFields) {
    t.strictSame(
      { name, kind },
      givenNumbers[number],
      `${name} has number ${number}: a new field takes nextFieldNumber`,
    );
  }
  for (const { number, kind } of retiredFields) t.equal(kind, givenNumbers[number]?.kind, `retired ${number}`);
  const used = [...presentFields, ...retiredFields].map(({ number }) => number).sort((a, b) => a - b);
  t.strictSame(used, [...givenNumbers.keys()], "each is a field's, or retired; add new ones to feature-numbers.ts");
  t.equal(nextFieldNumber, givenNumbers.length);
});

t.test("records of older builds are read field for field", async (t) => {
  for (const { writtenBy, fields, base64 } of goldenRecords) {
    const bytes = Buffer.from(base64, "base64");
    t.ok(hasKnownLayout(bytes), writtenBy);
    const read = unpackFeatures(bytes, 0, bytes.length);
    if (read === null) throw new Error(`${writtenBy}: not read`);
    for (const { name, number, kind } of presentFields) {
      if (number >= fields) continue;
      const value = kind === "text" ? read.texts[T[name as keyof typeof T]] : read.numbers[F[name as keyof typeof F]];
      if (value !== goldenValue(number, kind)) t.fail(`${writtenBy}: ${name} is read as ${value}`);
    }
    const again = Buffer.alloc(packedBytesMax);
    const end = packFeatures(read, again, 0);
    t.strictSame(unpackFeatures(again, 0, end), read, "written anew, it says the same");
  }
});

t.test("codes that fields hold stand for the same as ever", async (t) => {
  const starts: readonly [readonly string[], readonly string[]][] = [
    [browserFamilies, ["chromium", "firefox", "safari", "other"]],
    [claimedSystems, ["windows", "mac", "linux", "android", "ios", "chromeos", "other"]],
    [crawlerClaims, ["none", "pending", "verified", "spoofed", "unverifiable"]],
    [verifiedBotCategories, ["search", "ai_crawler", "ai_search", "monitoring", "seo"]],
  ];
  for (const [list, start] of starts) t.strictSame(list.slice(0, start.length), start, "append only");
  const texts = createHash("sha256").update(internedTexts.slice(0, 57).join("\n")).digest("hex");
  t.equal(texts, "05e951c7711408b46551565460db0fcc4b55434298b9ff02dd1d6654ee3ca0fe", "append only");
});

t.test("what a newer build added is left out, and the rest is read", async (t) => {
  const features = newFeatures();
  features.numbers[F.events] = 12;
  setText(features, T.platform, "Plan 9");
  const bytes = Buffer.alloc(packedBytesMax + 8);
  const end = packFeatures(features, bytes, 0);
  const bitmapEnd = 4 + bytes[3]!;
  const newer = Buffer.concat([bytes.subarray(0, bitmapEnd), Buffer.from([0b10]), bytes.subarray(bitmapEnd, end)]);
  newer[3]! += 1;
  const longer = Buffer.concat([newer, Buffer.from("a field's")]);
  longer.writeUInt16LE(longer.length, 1);
  t.strictSame(unpackFeatures(longer, 0, longer.length), features);
});

t.test("whole numbers among the floats take as few bytes as integers do", async (t) => {
  const wholes: readonly [number, number][] = [
    [0x7f, 1],
    [0x80, 2],
    [0x1fffff, 3],
    [0x200000, 4],
    [-1, 4],
    [0.5, 4],
  ];
  const bytes = Buffer.alloc(packedBytesMax);
  const empty = packFeatures(newFeatures(), bytes, 0);
  for (const [value, length] of wholes) {
    const features = newFeatures();
    for (const name of ["rawX", "rawY"] as const) features.numbers[F[name]] = value;
    const end = packFeatures(features, bytes, 0);
    t.equal(end - empty, 1 + 2 * length, `${value}: and a byte that says which are whole`);
    t.equal(packedBytes(features), end);
    t.strictSame(unpackFeatures(bytes, 0, end), features);
  }
});

t.test("a record of an unknown version reads as a session without history", async (t) => {
  const features = newFeatures();
  features.numbers[F.events] = 12;
  const bytes = Buffer.alloc(packedBytesMax);
  const end = packFeatures(features, bytes, 0);
  for (const version of [4, 8]) {
    bytes[0] = version;
    t.notOk(hasKnownLayout(bytes));
    t.strictSame(unpackFeatures(bytes, 0, end), newFeatures());
  }
});

t.test("a truncated record is refused at every length", async (t) => {
  const features = newFeatures();
  for (const each of countFields) features.numbers[F[each.name]] = 77;
  setText(features, T.platform, "Plan 9");
  setText(features, T.timezone, "Europe/Berlin");
  const bytes = Buffer.alloc(packedBytesMax);
  const end = packFeatures(features, bytes, 0);
  for (let length = 0; length < end; length++) {
    if (unpackFeatures(bytes.subarray(0, length), 0, length) !== null) t.fail(`read ${length} of ${end} bytes`);
  }
  t.not(unpackFeatures(bytes, 0, end), null, "the whole record is read");
});

t.test("garbage never throws", async (t) => {
  holds(
    t,
    fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat(20), fc.constantFrom(5, 6, 7), (bytes, offset, version) => {
      const source = Buffer.from(bytes);
      if (source.length > offset) source[offset] = version;
      if (source.length > offset + 2) source.writeUInt16LE(source.length - offset, offset + 1);
      unpackFeatures(source, offset, source.length);
      unpackFeatures(source, offset, source.length + 10);
      return true;
    }),
  );
});

t.test("integers are clamped to their width, and texts to their characters", async (t) => {
  const features = newFeatures();
  features.numbers[F.submits] = 1e9;
  features.numbers[F.cpu] = -3;
  features.numbers[F.lastSeenMs] = Number.POSITIVE_INFINITY;
  features.numbers[F.rawX] = Number.NEGATIVE_INFINITY;
  setText(features, T.pageUserAgent, "ä".repeat(500));
  const bytes = Buffer.alloc(packedBytesMax);
  const read = unpackFeatures(bytes, 0, packFeatures(features, bytes, 0))!;
  t.equal(read.numbers[F.submits], 0xffff);
  t.equal(read.numbers[F.cpu], 0);
  t.equal(read.numbers[F.lastSeenMs], Number.MAX_VALUE);
  t.equal(read.numbers[F.rawX], -3.4028234663852886e38);
  t.equal(read.texts[T.pageUserAgent], "ä".repeat(120));
});
