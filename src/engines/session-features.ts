/**
 * What scoring remembers of a session, at constant size, and its packed form in the session record. Everything here derives
 * from the table in feature-fields.ts; folding lives in fold-batch.ts, conclusions in session-evidence.ts and detections/.
 */
import {
  type CountName,
  countFields,
  type FactName,
  factFields,
  type NumberKind,
  nextFieldNumber,
  retiredFields,
  type TextName,
  textFields,
} from "./feature-fields.js";
import { internedTexts } from "./interned-texts.js";

/** Numbers and texts by position: `features.numbers[F.steps]`, `features.texts[T.platform]`. */
export interface SessionFeatures {
  readonly numbers: number[];
  readonly texts: string[];
}

const numberFields = [...countFields, ...factFields];
const countCount = countFields.length;

/**
 * A packed record: u8 version, u16 total bytes, u8 bytes of bitmap, a bit for each stored field number, then the values in the order of their
 * numbers. Integers are varints, and so are floats that are small whole numbers, as most are. Each eight floats are preceded by a byte with a bit for
 * each of them that is a varint.
 *
 * Version 6 stores all floats in full. Version 5 also lacks the size of its bitmap, which was this. An older record reads as a session without
 * history.
 */
const version = 7;
const fullFloatsVersion = 6;
const fixedBitmapVersion = 5;
const fixedBitmapBytes = 28;
const bitmapBytes = Math.ceil(nextFieldNumber / 8);
/** First byte after version, record length and bitmap. */
const headBytes = 4 + bitmapBytes;

/** Position of each number in `SessionFeatures.numbers`. */
export const F = Object.fromEntries(numberFields.map((each, index) => [each.name, index])) as Readonly<
  Record<CountName | FactName, number>
>;

/** Position of each text in `SessionFeatures.texts`. */
export const T = Object.fromEntries(textFields.map((each, index) => [each.name, index])) as Readonly<
  Record<TextName, number>
>;

/** Steps that the features carry from batch to batch for shingles: the fields `ring0` to `ring6`. */
export const ringSize = 7;

const kindCodes: Record<NumberKind | "text", number> = { u8: 0, u16: 1, u32: 2, f32: 3, f64: 4, text: 5 };
const f32Kind = kindCodes.f32;
const textKind = kindCodes.text;

/** How each field number is stored, and its position among the numbers or texts; -1 for an unused or retired number. */
const kindOf: number[] = Array.from({ length: nextFieldNumber }, () => -1);
const positionOf: number[] = kindOf.slice();

function place(number: number, kind: NumberKind | "text", position: number): void {
  if (kindOf[number] !== -1) throw new Error(`field number ${number} is taken: the next is ${nextFieldNumber}`);
  kindOf[number] = kindCodes[kind];
  positionOf[number] = position;
}
for (const [position, { number, kind }] of numberFields.entries()) place(number, kind, position);
for (const [position, { number }] of textFields.entries()) place(number, "text", position);
for (const { number, kind } of retiredFields) place(number, kind, -1);

/** Neighbours by number that are neighbours by position as well: packing needs no look-up for each. */
interface Run {
  readonly isText: boolean;
  readonly number: number;
  readonly from: number;
  to: number;
}
const runs: Run[] = [];
for (const [number, position] of positionOf.entries()) {
  if (position === -1) continue;
  const isText = kindOf[number] === textKind;
  const last = runs.at(-1);
  const isNext = last?.isText === isText && last.to === position && last.number + position - last.from === number;
  if (isNext) last.to++;
  else runs.push({ isText, number, from: position, to: position + 1 });
}

const integerMax = [0xff, 0xffff, 0xffffffff];
/** Whole numbers below these are shorter as a varint than as a float: three bytes and not four, six and not eight. */
const wholeF32Max = 0x200000;
const wholeF64Max = 0x40000000000;
/** Factor of the last of six bytes of a varint. */
const varintFactorMax = 2 ** 35;
const f32Max = 3.4028234663852886e38;
const f64Max = Number.MAX_VALUE;

/** Fields start as doubles (0.5 at creation), to keep the array's representation the same while folding. */
const freshNumbers = numberFields.map((_, index) => (index < countCount ? 0.5 : Number.NaN));
for (let index = 0; index < countCount; index++) freshNumbers[index] = 0;
const freshTexts: string[] = textFields.map(() => "");

const internedPosition = new Map(internedTexts.map((each, index) => [each, index]));

/** Bytes that `packFeatures` may need at most. */
export const packedBytesMax =
  headBytes +
  numberFields.reduce((sum, { kind }) => sum + { u8: 2, u16: 3, u32: 5, f32: 5, f64: 9 }[kind], 0) +
  textFields.reduce((sum, each) => sum + 2 + 3 * each.charactersMax, 0);

/** Returns the features of an unknown session. */
export function newFeatures(): SessionFeatures {
  return { numbers: freshNumbers.slice(), texts: freshTexts.slice() };
}

/** Sets a text, cut to the maximum characters of its field. */
export function setText(features: SessionFeatures, position: number, value: string): void {
  const max = textFields[position]!.charactersMax;
  features.texts[position] = value.length > max ? value.slice(0, max) : value;
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) bytes++;
  return bytes;
}

function writeVarint(value: number, target: Buffer, offset: number): number {
  let at = offset;
  let rest = value;
  while (rest >= 0x80) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest = Math.floor(rest / 128);
  }
  target[at++] = rest;
  return at;
}

/** Whether a float is written as a varint. */
function isWhole(value: number, kind: number): boolean {
  return value >= 0 && value < (kind === f32Kind ? wholeF32Max : wholeF64Max) && Math.floor(value) === value;
}

function asInteger(value: number, kind: number): number {
  const max = integerMax[kind]!;
  return value <= 0 ? 0 : value >= max ? max : Math.round(value);
}

function isStored(value: number, position: number): boolean {
  // A NaN count is impossible, but must not corrupt the record.
  return !Number.isNaN(value) && (position >= countCount || value !== 0);
}

/** Returns the bytes `packFeatures` will write; it writes up to three fewer when a very long text is cut inside a character. */
export function packedBytes(features: SessionFeatures): number {
  let bytes = headBytes;
  let floats = 0;
  for (const [position, { kind }] of numberFields.entries()) {
    const value = features.numbers[position]!;
    if (!isStored(value, position)) continue;
    if (kind === "f32" || kind === "f64") {
      floats++;
      if (isWhole(value, kindCodes[kind])) bytes += varintBytes(value);
      else bytes += kind === "f32" ? 4 : 8;
    } else bytes += varintBytes(asInteger(value, kindCodes[kind]));
  }
  for (const value of features.texts) if (value !== "") bytes += internedPosition.has(value) ? 1 : textBytes(value);
  return bytes + Math.ceil(floats / 8);
}

/** Bytes of a literal text; one of more than 255 bytes is cut at a whole character. */
function textBytes(value: string): number {
  const bytes = Buffer.byteLength(value);
  return bytes < 0x80 ? 1 + bytes : 2 + Math.min(bytes, 0xff);
}

/**
 * Writes the features at `offset` and returns the offset after them. `target` needs `packedBytes(features)` bytes of room (`packedBytesMax` always
 * suffices); a smaller one throws a RangeError of Buffer. Cost: about a microsecond.
 */
export function packFeatures(features: SessionFeatures, target: Buffer, offset: number): number {
  target[offset] = version;
  target[offset + 3] = bitmapBytes;
  const bitmap = offset + 4;
  target.fill(0, bitmap, bitmap + bitmapBytes);
  const { numbers } = features;
  let at = offset + headBytes;
  let floats = 0;
  let wholesAt = 0;
  for (const run of runs) {
    if (run.isText) {
      at = packTexts(features.texts, run, target, bitmap, at);
      continue;
    }
    const shift = run.number - run.from;
    for (let position = run.from; position < run.to; position++) {
      const value = numbers[position]!;
      if (!isStored(value, position)) continue;
      const number = position + shift;
      target[bitmap + (number >> 3)]! |= 1 << (number & 7);
      const kind = kindOf[number]!;
      if (kind < f32Kind) {
        at = writeVarint(asInteger(value, kind), target, at);
        continue;
      }
      if ((floats & 7) === 0) {
        wholesAt = at;
        target[at++] = 0;
      }
      if (isWhole(value, kind)) {
        target[wholesAt]! |= 1 << (floats & 7);
        at = writeVarint(value, target, at);
      } else if (kind === f32Kind) at = target.writeFloatLE(Math.max(-f32Max, Math.min(f32Max, value)), at);
      else at = target.writeDoubleLE(Math.max(-f64Max, Math.min(f64Max, value)), at);
      floats++;
    }
  }
  target.writeUInt16LE(at - offset, offset + 1);
  return at;
}

function packTexts(texts: readonly string[], run: Run, target: Buffer, bitmap: number, offset: number): number {
  let at = offset;
  for (let position = run.from; position < run.to; position++) {
    const value = texts[position]!;
    if (value === "") continue;
    const number = position + run.number - run.from;
    target[bitmap + (number >> 3)]! |= 1 << (number & 7);
    at = packText(value, target, at);
  }
  return at;
}

/** One byte 0x80..0xfe for a well-known text; else the length (two bytes from 0x7f on, the first then 0xff) and UTF-8. */
function packText(value: string, target: Buffer, offset: number): number {
  const position = internedPosition.get(value);
  if (position !== undefined) {
    target[offset] = 0x80 + position;
    return offset + 1;
  }
  const bytes = Buffer.byteLength(value);
  const at = bytes < 0x80 ? offset + 1 : offset + 2;
  const written = target.write(value, at, 0xff, "utf8");
  if (bytes >= 0x80) target[offset] = 0xff;
  target[at - 1] = written;
  return at + written;
}

/** Whether features were packed in a readable layout; any other reads as a session without history. */
export function hasKnownLayout(packed: Buffer): boolean {
  return packed.length > 0 && packed[0]! >= fixedBitmapVersion && packed[0]! <= version;
}

/**
 * Reads features packed between `offset` and `end`, which may be followed by anything. null when the bytes are truncated or invalid; a record of an
 * unknown version reads as a new session. Numbers from a newer build come after all known ones, and are ignored. Never throws, whatever the bytes.
 */
export function unpackFeatures(source: Buffer, offset: number, end: number): SessionFeatures | null {
  if (offset < 0 || end > source.length || end - offset < 1) return null;
  const layout = source[offset]!;
  if (layout < fixedBitmapVersion || layout > version) return newFeatures();
  if (layout === fixedBitmapVersion) return unpackFields(source, offset, end, offset + 3, fixedBitmapBytes);
  return end - offset < 4 ? null : unpackFields(source, offset, end, offset + 4, source[offset + 3]!);
}

function unpackFields(
  source: Buffer,
  offset: number,
  end: number,
  bitmap: number,
  bytesOfBitmap: number,
): SessionFeatures | null {
  let at = bitmap + bytesOfBitmap;
  if (at > end) return null;
  const stop = offset + source.readUInt16LE(offset + 1);
  if (stop > end || stop < at) return null;
  const features = newFeatures();
  const { numbers, texts } = features;
  const marksWholes = source[offset]! > fullFloatsVersion;
  let floats = 0;
  let wholes = 0;
  for (let index = 0; index < bytesOfBitmap; index++) {
    for (let bits = source[bitmap + index]!; bits !== 0; bits &= bits - 1) {
      const number = 8 * index + 31 - Math.clz32(bits & -bits);
      if (number >= nextFieldNumber) return features;
      const kind = kindOf[number]!;
      const position = positionOf[number]!;
      if (kind === textKind) {
        at = unpackText(source, at, stop, position, texts);
        if (at < 0) return null;
        continue;
      }
      let valueMax = integerMax[kind];
      if (kind >= f32Kind) {
        if (marksWholes) {
          if ((floats & 7) === 0) {
            if (at >= stop) return null;
            wholes = source[at++]!;
          }
          if ((wholes & (1 << (floats & 7))) !== 0) valueMax = kind === f32Kind ? wholeF32Max : wholeF64Max;
          floats++;
        }
        if (valueMax === undefined) {
          const bytes = kind === f32Kind ? 4 : 8;
          if (at + bytes > stop) return null;
          const value = kind === f32Kind ? source.readFloatLE(at) : source.readDoubleLE(at);
          if (!Number.isFinite(value)) return null;
          if (position >= 0) numbers[position] = value;
          at += bytes;
          continue;
        }
      }
      let value = 0;
      let factor = 1;
      let byte = 0x80;
      while (byte >= 0x80) {
        if (at >= stop || factor > varintFactorMax) return null;
        byte = source[at++]!;
        value += (byte & 0x7f) * factor;
        factor *= 128;
      }
      if (value > valueMax!) return null;
      if (position >= 0) numbers[position] = value;
    }
  }
  return at === stop ? features : null;
}

/** Reads one text into its field, if it has one; returns where it ends, -1 when it is invalid. */
function unpackText(source: Buffer, offset: number, stop: number, position: number, texts: string[]): number {
  let at = offset;
  if (at >= stop) return -1;
  let bytes = source[at++]!;
  if (bytes >= 0x80 && bytes !== 0xff) {
    const known = internedTexts[bytes - 0x80];
    if (known === undefined) return -1;
    if (position >= 0) texts[position] = known;
    return at;
  }
  if (bytes === 0xff) {
    if (at >= stop) return -1;
    bytes = source[at++]!;
  }
  if (at + bytes > stop) return -1;
  if (position >= 0) texts[position] = source.toString("utf8", at, at + bytes);
  return at + bytes;
}
