/** The packed form of the features: round trips at any offset, and bytes that are not one. */
import fc from "fast-check";
import t from "tap";
import { countFields, factFields, featuresVersion, textFields } from "../../src/engines/feature-fields.js";
import {
  F,
  newFeatures,
  packedBytes,
  packedBytesMax,
  packFeatures,
  type SessionFeatures,
  setText,
  T,
  unpackFeatures,
} from "../../src/engines/session-features.js";

const maxima = { u8: 0xff, u16: 0xffff, u32: 0xffffffff };

const anyNumber = (kind: "u8" | "u16" | "u32" | "f32" | "f64") => {
  if (kind === "f64") return fc.double({ noNaN: true, noDefaultInfinity: true });
  if (kind === "f32") return fc.float({ noNaN: true, noDefaultInfinity: true });
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

t.test("every field comes back from the packed form, wherever in the buffer it lies", async () => {
  fc.assert(
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

t.test("a record of another version reads as a session without history", async (t) => {
  const features = newFeatures();
  features.numbers[F.events] = 12;
  const bytes = Buffer.alloc(packedBytesMax);
  const end = packFeatures(features, bytes, 0);
  bytes[0] = featuresVersion + 1;
  t.strictSame(unpackFeatures(bytes, 0, end), newFeatures());
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

t.test("garbage never throws", async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat(20), (bytes, offset) => {
      const source = Buffer.from(bytes);
      if (source.length > offset) source[offset] = featuresVersion;
      if (source.length > offset + 2) source.writeUInt16LE(source.length - offset, offset + 1);
      unpackFeatures(source, offset, source.length);
      unpackFeatures(source, offset, source.length + 10);
      return true;
    }),
  );
});

t.test("integers are clamped to their width, and texts to their characters", async (t) => {
  const features = newFeatures();
  features.numbers[F.pages] = 1e9;
  features.numbers[F.cpu] = -3;
  setText(features, T.pageUserAgent, "ä".repeat(500));
  const bytes = Buffer.alloc(packedBytesMax);
  const read = unpackFeatures(bytes, 0, packFeatures(features, bytes, 0))!;
  t.equal(read.numbers[F.pages], 0xffff);
  t.equal(read.numbers[F.cpu], 0);
  t.equal(read.texts[T.pageUserAgent], "ä".repeat(120));
});
