/**
 * Reads and checks in one pass the batches that the SDK usually sends: its order of keys, no white space, printable ASCII without escapes, numbers of
 * without exponent. The result equals that of JSON.parse and typia. Any other form is left to parse and check (decode-batch.ts): this reader never
 * refuses a batch.
 *
 * It saves two thirds of the CPU of parsing and checking: 6 to 10 µs for 10 events instead of 21 to 36
 * (src/docs/decisions/006-usual-batches.md). Held by the in-process bench `decode`, which times both in one run.
 */
import { doubleRow } from "../contract/events/double-row.js";
import type {
  EventPayload,
  EventType,
  IngestBatch,
  IngestEvent,
  PointRow,
  StrokeRow,
} from "../contract/events/events.js";
import { spreadClicks } from "../contract/events/packed-clicks.js";
import { unpackPoints } from "../contract/events/packed-points.js";
import { pushHash64, pushHash64OfAscii } from "../contract/values/hashes.js";
import { isDayOfItsMonth } from "../contract/values/iso-time.js";
import { limits } from "../limits.js";
import { directions, eventTypes, type PayloadKind, payloadKinds } from "./payload-kinds.js";
import { WordTable } from "./word-table.js";

/** A batch that was read in one pass, and checked as `checkBatch` checks. */
export class UsualBatch {
  /** The site key in the body, "" when there is none. */
  readonly siteKey: string;
  readonly batch: IngestBatch;
  /** Two words of hash of each event's request id: `idHashes`, computed during the pass. */
  readonly idHashes: readonly number[];

  constructor(siteKey: string, batch: IngestBatch, idHashes: readonly number[]) {
    this.siteKey = siteKey;
    this.batch = batch;
    this.idHashes = idHashes;
  }
}

/** Returns the batch in a body of the usual form; null for every other body, good or bad. 4 to 6 µs for 10 events. */
export function readUsualBatch(body: Uint8Array): UsualBatch | null {
  return reader.read(body);
}

/** What precedes the events of a batch. */
interface BatchHead {
  /** Null on first contact. */
  readonly token: string | null;
  /** "" when there is none. */
  readonly siteKey: string;
}

/**
 * Returns the head of a body that looks like the usual form; null for any other. What follows is not checked: the body may have another form after
 * all.
 */
export function readUsualHead(body: Uint8Array): BatchHead | null {
  return reader.readHead(body);
}

const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const openList = 0x5b;
const closeList = 0x5d;
const closeObject = 0x7d;

/** 1 for bytes that need no escape inside a JSON string: printable ASCII except quote and backslash. */
const isPlain = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x20 && byte < 0x7f && byte !== quote && byte !== 0x5c ? 1 : 0,
);
/** 1 for bytes of a request id. */
const isIdByte = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9_-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);
const idBytesMin = 8;
const idBytesMax = 64;
/** Longer than any head with a real token and key. */
const headBytesMax = 256;

/** A mantissa of this many digits is exact, and dividing it by an exact power of ten rounds once, as parsing does; longer ones are parsed. */
const exactDigitsMax = 15;
const powersOfTen = Array.from({ length: exactDigitsMax + 1 }, (_, power) => 10 ** power);
/** More than a number of JavaScript writes: fractions of a pixel or a millisecond have 17 where nobody rounded them. */
const digitsMax = 25;

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const tokenHead = ascii('{"session_token":');
const siteKeyHead = ascii(',"site_key":"');
const eventsHead = ascii(',"events":[');
const idHead = ascii('{"request_id":"');
const typeHead = ascii('","type":"');
const timeHead = ascii('","received_at":"');
const payloadHead = ascii('","payload":{');
const wordNull = ascii("null");
const wordTrue = ascii("true");
const wordFalse = ascii("false");

const keys = new WordTable(Object.keys(payloadKinds));
const kinds: readonly PayloadKind[] = Object.values(payloadKinds);
const types = new WordTable(eventTypes);
const pointsKey = keys.words.indexOf("points");
const packedKey = keys.words.indexOf("packed_points");
const directionWords = new WordTable(directions);

/** Reads one body at a time; positions are kept in fields, so only the result is allocated. */
class UsualReader {
  #bytes: Uint8Array = new Uint8Array(0);
  /** The same bytes as text: slicing it is cheaper than decoding a part. */
  #text = "";
  #at = 0;
  #idHashes: number[] = [];
  /** The payload in which each key was last seen, to notice a repeated key. */
  readonly #seen = new Float64Array(keys.words.length);
  #payloads = 0;

  read(bytes: Uint8Array): UsualBatch | null {
    if (bytes[bytes.length - 1] !== closeObject) return null;
    const head = this.#head(bytes, bytes.length);
    if (head === null) return null;
    this.#idHashes = [];
    const events = this.#skip(eventsHead) ? this.#events() : null;
    const isWhole = events !== null && this.#at === bytes.length - 1;
    this.#text = "";
    return isWhole ? new UsualBatch(head.siteKey, { session_token: head.token, events }, this.#idHashes) : null;
  }

  readHead(bytes: Uint8Array): BatchHead | null {
    const head = this.#head(bytes, Math.min(bytes.length, headBytesMax));
    this.#text = "";
    return this.#at <= headBytesMax ? head : null;
  }

  /** Reads what precedes the events. `textBytes`: how many of the bytes will be read as text. */
  #head(bytes: Uint8Array, textBytes: number): BatchHead | null {
    this.#bytes = bytes;
    this.#at = 0;
    if (!this.#skip(tokenHead)) return null;
    this.#text = Buffer.from(bytes.buffer, bytes.byteOffset, textBytes).toString("latin1");
    let token: string | null = null;
    if (!this.#skip(wordNull)) {
      if (bytes[this.#at] !== quote) return null;
      this.#at++;
      token = this.#string();
      if (token === null) return null;
    }
    let siteKey = "";
    if (this.#skip(siteKeyHead)) {
      const found = this.#string();
      if (found === null) return null;
      siteKey = found;
    }
    return { token, siteKey };
  }

  /** Skips the bytes if they come next. */
  #skip(expected: Uint8Array): boolean {
    const bytes = this.#bytes;
    const at = this.#at;
    for (let index = 0; index < expected.length; index++) if (bytes[at + index] !== expected[index]) return false;
    this.#at = at + expected.length;
    return true;
  }

  /** Returns the text up to the next quote and skips the quote; null when JSON would escape a character of it. */
  #string(): string | null {
    const bytes = this.#bytes;
    const from = this.#at;
    let at = from;
    while (at < bytes.length && isPlain[bytes[at]!] === 1) at++;
    if (bytes[at] !== quote) return null;
    this.#at = at + 1;
    return this.#text.slice(from, at);
  }

  #events(): IngestEvent[] | null {
    const events: IngestEvent[] = [];
    do {
      const event = events.length < limits.batchEventsMax ? this.#event() : null;
      if (event === null) return null;
      if (event.payload.packed_clicks === undefined) events.push(event);
      else if (!this.#spread(event, events)) return null;
    } while (this.#bytes[this.#at++] === comma);
    return this.#bytes[this.#at - 1] === closeList ? events : null;
  }

  #spread(event: IngestEvent, events: IngestEvent[]): boolean {
    const clicks = spreadClicks(event);
    if (clicks === null || events.length + clicks.length > limits.batchEventsMax) return false;
    events.push(...clicks);
    for (const { request_id: id } of clicks.slice(1)) pushHash64(id, this.#idHashes);
    return true;
  }

  #event(): IngestEvent | null {
    if (!this.#skip(idHead)) return null;
    const id = this.#requestId();
    if (id === null || !this.#skip(typeHead)) return null;
    const type = types.find(this.#bytes, this.#at);
    if (type < 0) return null;
    this.#at += types.lengthOf(type);
    if (!this.#skip(timeHead)) return null;
    const time = this.#time();
    if (time === null || !this.#skip(payloadHead)) return null;
    const payload = this.#payload();
    if (payload === null || this.#bytes[this.#at++] !== closeObject) return null;
    return { request_id: id, type: types.words[type] as EventType, received_at: time, payload };
  }

  #requestId(): string | null {
    const bytes = this.#bytes;
    const from = this.#at;
    let at = from;
    while (at < bytes.length && isIdByte[bytes[at]!] === 1) at++;
    this.#at = at;
    if (at - from < idBytesMin || at - from > idBytesMax) return null;
    pushHash64OfAscii(bytes, from, at, this.#idHashes);
    return this.#text.slice(from, at);
  }

  /** Reads a time in the form of `Date.toISOString`, before the year 10000; any other form is not for this reader. */
  #time(): string | null {
    const bytes = this.#bytes;
    const at = this.#at;
    if (
      !(this.#two(at) >= 0 && this.#two(at + 2) >= 0) ||
      bytes[at + 4] !== minus ||
      bytes[at + 7] !== minus ||
      bytes[at + 10] !== 0x54 ||
      bytes[at + 13] !== 0x3a ||
      bytes[at + 16] !== 0x3a ||
      bytes[at + 19] !== dot ||
      bytes[at + 23] !== 0x5a
    ) {
      return null;
    }
    const month = this.#two(at + 5);
    const day = this.#two(at + 8);
    const hour = this.#two(at + 11);
    const minute = this.#two(at + 14);
    const second = this.#two(at + 17);
    if (month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23) return null;
    if (minute < 0 || minute > 59 || second < 0 || second > 59) return null;
    if (this.#two(at + 20) < 0 || this.#two(at + 21) < 0) return null;
    this.#at = at + 24;
    const text = this.#text.slice(at, at + 24);
    return day <= 28 || isDayOfItsMonth(text) ? text : null;
  }

  /** Returns the value of two digits, -1 when they are none. */
  #two(at: number): number {
    const tens = this.#bytes[at]! - zero;
    const ones = this.#bytes[at + 1]! - zero;
    return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? 10 * tens + ones : -1;
  }

  /** Reads the members of an object after its opening brace, up to and including its closing brace. */
  #payload(): EventPayload | null {
    const bytes = this.#bytes;
    const payload: Record<string, unknown> = {};
    if (bytes[this.#at] === closeObject) {
      this.#at++;
      return payload;
    }
    const number = ++this.#payloads;
    do {
      if (bytes[this.#at] !== quote) return null;
      const key = keys.find(bytes, this.#at + 1);
      if (key < 0 || this.#seen[key] === number) return null;
      this.#seen[key] = number;
      this.#at += keys.lengthOf(key) + 3;
      if (bytes[this.#at - 1] !== 0x3a) return null;
      const value = this.#value(kinds[key]!);
      if (value === undefined) return null;
      if (key === packedKey) {
        // Beside the rows themselves it is a fault, which the other reader names.
        if (this.#seen[pointsKey] === number) return null;
        this.#seen[pointsKey] = number;
        payload["points"] = value;
      } else payload[keys.words[key]!] = value;
    } while (bytes[this.#at++] === comma);
    return bytes[this.#at - 1] === closeObject ? payload : null;
  }

  /** Reads a value of this kind; `undefined` when it is none, or has a form for the other reader. */
  #value(kind: PayloadKind): unknown {
    switch (kind) {
      case "number":
        return this.#number();
      case "share": {
        const share = this.#number();
        return share !== undefined && share >= 0 && share <= 1 ? share : undefined;
      }
      case "boolean":
        return this.#boolean();
      case "text":
      case "clicks":
        return this.#boundedText();
      case "textOrNumber":
        return this.#bytes[this.#at] === quote ? this.#boundedText() : this.#number();
      case "names":
        return this.#bytes[this.#at] === openList ? this.#list(false) : this.#boundedText();
      case "fact":
        return this.#bytes[this.#at] === openList ? this.#list(true) : this.#scalar();
      case "direction":
        return this.#direction();
      case "points":
        return this.#points();
      case "packed":
        return this.#packed();
      case "strokes":
        return this.#strokes();
    }
  }

  #packed(): PointRow[] | undefined {
    const from = this.#at + 1;
    if (this.#bytes[this.#at] !== quote) return undefined;
    this.#at = this.#bytes.indexOf(quote, from) + 1;
    if (this.#at === 0 || this.#at - from > limits.packedPointsMax) return undefined;
    return unpackPoints(this.#bytes, from, this.#at - 1) ?? undefined;
  }

  #boolean(): boolean | undefined {
    if (this.#skip(wordTrue)) return true;
    return this.#skip(wordFalse) ? false : undefined;
  }

  /** Reads a string with its quotes, up to the maximum length in a payload. */
  #boundedText(): string | undefined {
    if (this.#bytes[this.#at] !== quote) return undefined;
    this.#at++;
    const text = this.#string();
    return text === null || text.length > limits.payloadStringMax ? undefined : text;
  }

  #scalar(): string | number | boolean | undefined {
    const byte = this.#bytes[this.#at]!;
    if (byte === quote) return this.#boundedText();
    return byte === minus || byte <= 0x39 ? this.#number() : this.#boolean();
  }

  #direction(): string | undefined {
    if (this.#bytes[this.#at] !== quote) return undefined;
    const position = directionWords.find(this.#bytes, this.#at + 1);
    if (position < 0) return undefined;
    this.#at += directionWords.lengthOf(position) + 2;
    return directionWords.words[position];
  }

  /** Reads a list of scalars, or of texts only. */
  #list(ofScalars: boolean): unknown[] | undefined {
    const list: unknown[] = [];
    if (this.#bytes[++this.#at] === closeList) {
      this.#at++;
      return list;
    }
    do {
      const item =
        list.length === limits.payloadArrayMax ? undefined : ofScalars ? this.#scalar() : this.#boundedText();
      if (item === undefined) return undefined;
      list.push(item);
    } while (this.#bytes[this.#at++] === comma);
    return this.#bytes[this.#at - 1] === closeList ? list : undefined;
  }

  #points(): PointRow[] | undefined {
    const bytes = this.#bytes;
    if (bytes[this.#at] !== openList) return undefined;
    const rows: PointRow[] = [];
    if (bytes[++this.#at] === closeList) {
      this.#at++;
      return rows;
    }
    do {
      if (rows.length === limits.rowsMax || bytes[this.#at++] !== openList) return undefined;
      const t = this.#number();
      if (t === undefined || bytes[this.#at++] !== comma) return undefined;
      const x = this.#number();
      if (x === undefined || bytes[this.#at++] !== comma) return undefined;
      const y = this.#number();
      if (y === undefined || bytes[this.#at++] !== closeList) return undefined;
      rows.push(doubleRow(t, x, y));
    } while (bytes[this.#at++] === comma);
    return bytes[this.#at - 1] === closeList ? rows : undefined;
  }

  #strokes(): StrokeRow[] | undefined {
    const bytes = this.#bytes;
    if (bytes[this.#at] !== openList) return undefined;
    const rows: StrokeRow[] = [];
    if (bytes[++this.#at] === closeList) {
      this.#at++;
      return rows;
    }
    do {
      if (rows.length === limits.rowsMax || bytes[this.#at++] !== openList) return undefined;
      const t = this.#number();
      if (t === undefined || bytes[this.#at++] !== comma) return undefined;
      const dwell = this.#number();
      if (dwell === undefined || bytes[this.#at++] !== closeList) return undefined;
      rows.push([t, dwell]);
    } while (bytes[this.#at++] === comma);
    return bytes[this.#at - 1] === closeList ? rows : undefined;
  }

  /** Reads a number without exponent. The caller checks what follows it, which finds a leading zero or an `e`. */
  #number(): number | undefined {
    const bytes = this.#bytes;
    let at = this.#at;
    const isNegative = bytes[at] === minus;
    if (isNegative) at++;
    const from = at;
    let digit = bytes[at]! - zero;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    let value = digit;
    at++;
    if (digit > 0) {
      for (digit = bytes[at]! - zero; digit >= 0 && digit <= 9; digit = bytes[++at]! - zero) value = value * 10 + digit;
    }
    let digits = at - from;
    let fraction = 0;
    if (bytes[at] === dot) {
      const fractionAt = ++at;
      for (digit = bytes[at]! - zero; digit >= 0 && digit <= 9; digit = bytes[++at]! - zero) value = value * 10 + digit;
      fraction = at - fractionAt;
      digits += fraction;
      if (fraction === 0) return undefined;
    }
    if (digits > digitsMax) return undefined;
    if (digits > exactDigitsMax) value = Number(this.#text.slice(from, at));
    else if (fraction > 0) value /= powersOfTen[fraction]!;
    this.#at = at;
    return isNegative ? -value : value;
  }
}

const reader = new UsualReader();
