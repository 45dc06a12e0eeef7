/**
 * What scoring remembers of a session, at constant size, and its packed form in the session record. Everything here derives
 * from the table in feature-fields.ts; folding lives in fold-batch.ts, conclusions in session-evidence.ts and detections/.
 */
import {
  type CountName,
  countFields,
  type FactName,
  factFields,
  featuresVersion,
  type NumberKind,
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
const numberCount = numberFields.length;
const countCount = countFields.length;
const textCount = textFields.length;
const bitmapBytes = Math.ceil((numberCount + textCount) / 8);
/** First byte after version, record length and bitmap. */
const headBytes = 3 + bitmapBytes;

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

const kindCodes: Record<NumberKind, number> = { u8: 0, u16: 1, u32: 2, f32: 3, f64: 4 };
const kinds = numberFields.map((each) => kindCodes[each.kind]);
const integerMax = [0xff, 0xffff, 0xffffffff];
const f32Max = 3.4028234663852886e38;

/** Fields start as doubles (0.5 at creation), so that the array never changes its representation while folding. */
const freshNumbers = numberFields.map((_, index) => (index < countCount ? 0.5 : Number.NaN));
for (let index = 0; index < countCount; index++) freshNumbers[index] = 0;
const freshTexts: string[] = textFields.map(() => "");

const internedPosition = new Map(internedTexts.map((each, index) => [each, index]));

/** Bytes that `packFeatures` may need at most. */
export const packedBytesMax =
  headBytes +
  kinds.reduce((sum, kind) => sum + [2, 3, 5, 4, 8][kind]!, 0) +
  textFields.reduce((sum, each) => sum + 2 + 3 * each.charactersMax, 0);

/** Features of a session that nothing is known of. */
export function newFeatures(): SessionFeatures {
  return { numbers: freshNumbers.slice(), texts: freshTexts.slice() };
}

/** Sets a text, cut to the characters that its field keeps. */
export function setText(features: SessionFeatures, position: number, value: string): void {
  const max = textFields[position]!.charactersMax;
  features.texts[position] = value.length > max ? value.slice(0, max) : value;
}

function varintBytes(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x200000) return 3;
  return value < 0x10000000 ? 4 : 5;
}

function asInteger(value: number, kind: number): number {
  const max = integerMax[kind]!;
  return value <= 0 ? 0 : value >= max ? max : Math.round(value);
}

function isStored(value: number, index: number): boolean {
  // A NaN count can't be, but must not poison the record either.
  return !Number.isNaN(value) && (index >= countCount || value !== 0);
}

/** Bytes `packFeatures` will write; up to three less are written when a very long text is cut inside a character. */
export function packedBytes(features: SessionFeatures): number {
  const { numbers, texts } = features;
  let bytes = headBytes;
  for (let index = 0; index < numberCount; index++) {
    const value = numbers[index]!;
    if (!isStored(value, index)) continue;
    const kind = kinds[index]!;
    bytes += kind > 2 ? (kind === 3 ? 4 : 8) : varintBytes(asInteger(value, kind));
  }
  for (let index = 0; index < textCount; index++) {
    const value = texts[index]!;
    if (value !== "") bytes += internedPosition.has(value) ? 1 : textBytes(value);
  }
  return bytes;
}

/** Bytes of a literal text at most: one of more than 255 bytes is cut at a whole character. */
function textBytes(value: string): number {
  const bytes = Buffer.byteLength(value);
  return bytes < 0x80 ? 1 + bytes : 2 + Math.min(bytes, 0xff);
}

/**
 * Writes the features at `offset` and returns the offset behind them. `target` needs `packedBytes(features)` bytes of room
 * (`packedBytesMax` always suffices); a smaller one throws a RangeError of Buffer. Cost: about a microsecond.
 */
export function packFeatures(features: SessionFeatures, target: Buffer, offset: number): number {
  const { numbers, texts } = features;
  const bitmap = offset + 3;
  target.fill(0, bitmap, bitmap + bitmapBytes);
  target[offset] = featuresVersion;
  let at = offset + headBytes;
  for (let index = 0; index < numberCount; index++) {
    const value = numbers[index]!;
    if (!isStored(value, index)) continue;
    target[bitmap + (index >> 3)]! |= 1 << (index & 7);
    const kind = kinds[index]!;
    if (kind === 3) at = target.writeFloatLE(Math.max(-f32Max, Math.min(f32Max, value)), at);
    else if (kind === 4) at = target.writeDoubleLE(value, at);
    else {
      let rest = asInteger(value, kind);
      while (rest >= 0x80) {
        target[at++] = (rest & 0x7f) | 0x80;
        rest = Math.floor(rest / 128);
      }
      target[at++] = rest;
    }
  }
  for (let index = 0; index < textCount; index++) {
    const value = texts[index]!;
    if (value === "") continue;
    const bit = numberCount + index;
    target[bitmap + (bit >> 3)]! |= 1 << (bit & 7);
    at = packText(value, target, at);
  }
  target.writeUInt16LE(at - offset, offset + 1);
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

/** Whether features were packed in the layout of this version; those of another read as a session without history. */
export function hasPresentLayout(packed: Buffer): boolean {
  return packed.length > 0 && packed[0] === featuresVersion;
}

/**
 * Reads features packed between `offset` and `end`, which may be followed by anything. null when the bytes are truncated or
 * make no sense; a record of another version reads as a new session. Never throws, whatever the bytes.
 */
export function unpackFeatures(source: Buffer, offset: number, end: number): SessionFeatures | null {
  if (offset < 0 || end > source.length || end - offset < 1) return null;
  if (source[offset] !== featuresVersion) return newFeatures();
  if (end - offset < headBytes) return null;
  const stop = offset + source.readUInt16LE(offset + 1);
  if (stop > end || stop < offset + headBytes) return null;
  const features = newFeatures();
  const afterNumbers = unpackNumbers(source, offset, stop, features.numbers);
  if (afterNumbers < 0) return null;
  return unpackTexts(source, offset + 3, afterNumbers, stop, features.texts) === stop ? features : null;
}

function unpackNumbers(source: Buffer, offset: number, stop: number, numbers: number[]): number {
  const bitmap = offset + 3;
  let at = offset + headBytes;
  for (let index = 0; index < numberCount; index++) {
    if ((source[bitmap + (index >> 3)]! & (1 << (index & 7))) === 0) continue;
    const kind = kinds[index]!;
    if (kind > 2) {
      const bytes = kind === 3 ? 4 : 8;
      if (at + bytes > stop) return -1;
      const value = kind === 3 ? source.readFloatLE(at) : source.readDoubleLE(at);
      if (!Number.isFinite(value)) return -1;
      numbers[index] = value;
      at += bytes;
    } else {
      let value = 0;
      let factor = 1;
      let byte = 0x80;
      while (byte >= 0x80) {
        if (at >= stop || factor > 0x10000000) return -1;
        byte = source[at++]!;
        value += (byte & 0x7f) * factor;
        factor *= 128;
      }
      if (value > integerMax[kind]!) return -1;
      numbers[index] = value;
    }
  }
  return at;
}

function unpackTexts(source: Buffer, bitmap: number, offset: number, stop: number, texts: string[]): number {
  let at = offset;
  for (let index = 0; index < textCount; index++) {
    const bit = numberCount + index;
    if ((source[bitmap + (bit >> 3)]! & (1 << (bit & 7))) === 0) continue;
    if (at >= stop) return -1;
    let bytes = source[at++]!;
    if (bytes >= 0x80 && bytes !== 0xff) {
      const known = internedTexts[bytes - 0x80];
      if (known === undefined) return -1;
      texts[index] = known;
      continue;
    }
    if (bytes === 0xff) {
      if (at >= stop) return -1;
      bytes = source[at++]!;
    }
    if (at + bytes > stop) return -1;
    texts[index] = source.toString("utf8", at, at + bytes);
    at += bytes;
  }
  return at;
}
