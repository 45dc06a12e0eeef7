/**
 * Reads RESP2, which Redis and Valkey speak to whoever does not ask for RESP3 (redis.io/docs/reference/protocol-spec), from chunks as they arrive. It holds
 * no more than its bounds, and knows nothing about commands.
 */

/** A server's error reply. It is a value, because it has a place among the answers of a pipeline. */
export class ErrorReply {
  /** `message` as sent: its first word is the code. */
  constructor(readonly message: string) {}

  get code(): string {
    const end = this.message.indexOf(" ");
    return end === -1 ? this.message : this.message.slice(0, end);
  }
}

/**
 * An answer. Bulk strings are views of the received bytes: copy what is kept. Simple strings are text, integers beyond 2^53 are bigint, maps are flat arrays
 * of keys and values.
 */
export type RespReply = Buffer | string | number | bigint | null | ErrorReply | RespReply[];

/** The input is not RESP, or exceeds a bound: the connection can't be used any more. */
export class RespFault extends Error {
  override readonly name = "RespFault";
}

/** Exceeding one of these is a fault of the connection. */
export interface RespBounds {
  /** Bytes of one bulk string. */
  readonly bulkBytesMax: number;
  /** Bytes of a line: numbers, simple strings, errors. */
  readonly lineBytesMax: number;
  /** Depth of nested arrays. */
  readonly depthMax: number;
  /** Elements of one reply, including the elements of nested arrays. */
  readonly elementsMax: number;
  /** Bytes of one reply. */
  readonly replyBytesMax: number;
}

/** Far above any answer that verdictd requests: they only keep a broken server from filling the memory. */
export const defaultBounds: RespBounds = {
  bulkBytesMax: 64 * 1024 * 1024,
  lineBytesMax: 64 * 1024,
  depthMax: 16,
  elementsMax: 4_000_000,
  replyBytesMax: 256 * 1024 * 1024,
};

/** An array that is being received. */
interface Frame {
  readonly items: RespReply[];
  left: number;
}

const incomplete = Symbol("incomplete");
const nothing = Buffer.alloc(0);

/** Bytes that have a meaning. */
const byte = {
  cr: 13,
  lf: 10,
  dollar: 36,
  star: 42,
  plus: 43,
  minus: 45,
  zero: 48,
  nine: 57,
  colon: 58,
} as const;

/** Passes every whole reply to `onReply` in order. */
export class RespParser {
  #data: Buffer = nothing;
  #at = 0;
  /** A partly received bulk string, as the pieces that have arrived. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #missingBytes = 0;
  #frames: Frame[] = [];
  #elements = 0;
  #replyBytes = 0;

  constructor(
    private readonly onReply: (reply: RespReply) => void,
    private readonly bounds: RespBounds = defaultBounds,
  ) {}

  /** Bytes of an unfinished element. */
  get heldBytes(): number {
    return this.#data.length - this.#at + this.#pieceBytes;
  }

  /** Parses received bytes. Throws `RespFault`; do not call it again after that. */
  write(chunk: Buffer): void {
    // Only lines are joined with everything that follows: a long bulk string is copied once, and what follows it not at all.
    this.#data = this.#at < this.#data.length ? Buffer.concat([this.#data.subarray(this.#at), chunk]) : chunk;
    this.#at = 0;
    if (this.#missingBytes > 0) this.#piece();
    while (this.#at < this.#data.length) {
      const start = this.#at;
      const value = this.#element();
      if (value === incomplete) {
        // The pieces of a bulk string stay separate until it is whole.
        if (this.#missingBytes === 0) this.#at = start;
        break;
      }
      this.#replyBytes += this.#at - start;
      this.#checkLength();
      if (value !== undefined) this.#give(value);
    }
    if (this.#at === this.#data.length) {
      this.#data = nothing;
      this.#at = 0;
    }
  }

  /** Takes the chunk's part of the bulk string that is being received. */
  #piece(): void {
    const piece = this.#data.subarray(0, this.#missingBytes);
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
    this.#missingBytes -= piece.length;
    this.#at = piece.length;
    if (this.#missingBytes > 0) return;
    const whole = Buffer.concat(this.#pieces, this.#pieceBytes);
    this.#pieces = [];
    this.#pieceBytes = 0;
    const end = whole.length - 2;
    if (whole[end] !== byte.cr || whole[end + 1] !== byte.lf) throw new RespFault(badBulkEnd);
    this.#replyBytes += whole.length;
    this.#checkLength();
    this.#give(whole.subarray(0, end));
  }

  #checkLength(): void {
    if (this.#replyBytes > this.bounds.replyBytesMax) throw new RespFault("a reply that is too long");
  }

  /** Adds a value to the innermost open array, and each array that this completes to the one around it. */
  #give(value: RespReply): void {
    let given = value;
    for (;;) {
      const depth = this.#frames.length;
      const frame = depth === 0 ? undefined : this.#frames[depth - 1];
      if (frame === undefined) {
        this.#elements = 0;
        this.#replyBytes = 0;
        this.onReply(given);
        return;
      }
      frame.items.push(given);
      if (--frame.left > 0) return;
      this.#frames.pop();
      given = frame.items;
    }
  }

  /** Returns the element at `#at`, and moves past it; `undefined` when that opened an array. */
  #element(): RespReply | typeof incomplete | undefined {
    const type = this.#data[this.#at++]!;
    switch (type) {
      case byte.dollar:
        return this.#bulk();
      case byte.colon:
        return this.#integer();
      case byte.star:
        return this.#open();
      case byte.plus:
        return this.#line();
      case byte.minus: {
        const line = this.#line();
        return line === incomplete ? incomplete : new ErrorReply(line);
      }
      default:
        throw new RespFault(`an element of unknown type ${type}`);
    }
  }

  /** Returns the text up to the end of the line. */
  #line(): string | typeof incomplete {
    const end = this.#data.indexOf(byte.cr, this.#at);
    if ((end === -1 ? this.#data.length : end) - this.#at > this.bounds.lineBytesMax) {
      throw new RespFault(`a line of more than ${this.bounds.lineBytesMax} bytes`);
    }
    if (end === -1 || end + 1 >= this.#data.length) return incomplete;
    if (this.#data[end + 1] !== byte.lf) throw new RespFault("a line that does not end in CR LF");
    const text = this.#data.toString("utf8", this.#at, end);
    this.#at = end + 2;
    return text;
  }

  /** Returns the integer up to the end of the line; common ones are read without making a text. */
  #integer(): number | bigint | typeof incomplete {
    const data = this.#data;
    let at = this.#at;
    const isNegative = data[at] === byte.minus;
    if (isNegative) at++;
    const first = at;
    let value = 0;
    for (let digit = data[at]; digit !== undefined && digit >= byte.zero && digit <= byte.nine; digit = data[at]) {
      value = value * 10 + (digit - byte.zero);
      if (++at - first > 15) return this.#longInteger();
    }
    if (at + 1 >= data.length) {
      if (at < data.length && data[at] !== byte.cr) throw new RespFault("a number that is none");
      return incomplete;
    }
    if (at === first || data[at] !== byte.cr || data[at + 1] !== byte.lf) throw new RespFault("a number that is none");
    this.#at = at + 2;
    return isNegative ? -value : value;
  }

  #longInteger(): number | bigint | typeof incomplete {
    const line = this.#line();
    if (line === incomplete) return incomplete;
    if (!/^-?\d{1,19}$/.test(line)) throw new RespFault("a number that is none");
    const value = Number(line);
    return Number.isSafeInteger(value) ? value : BigInt(line);
  }

  #bulk(): RespReply | typeof incomplete {
    const length = this.#integer();
    if (length === incomplete) return incomplete;
    if (length === -1) return null;
    if (typeof length !== "number" || length < 0 || length > this.bounds.bulkBytesMax) {
      throw new RespFault(`a bulk string of ${length} bytes`);
    }
    const data = this.#data;
    const end = this.#at + length;
    if (end + 2 > data.length) {
      const piece = data.subarray(this.#at);
      this.#pieces.push(piece);
      this.#pieceBytes = piece.length;
      this.#missingBytes = end + 2 - data.length;
      this.#at = data.length;
      return incomplete;
    }
    if (data[end] !== byte.cr || data[end + 1] !== byte.lf) throw new RespFault(badBulkEnd);
    const bytes = data.subarray(this.#at, end);
    this.#at = end + 2;
    return bytes;
  }

  /** Opens an array of this many elements; an empty one is a value at once. */
  #open(): RespReply | typeof incomplete | undefined {
    const length = this.#integer();
    if (length === incomplete) return incomplete;
    if (length === -1) return null;
    const elements = Number(length);
    this.#elements += elements;
    if (length < 0 || this.#elements > this.bounds.elementsMax) throw new RespFault(`an array of ${length} elements`);
    if (this.#frames.length >= this.bounds.depthMax) throw new RespFault("arrays nested too deeply");
    if (elements === 0) return [];
    this.#frames.push({ items: [], left: elements });
    return undefined;
  }
}

const badBulkEnd = "a bulk string that does not end in CR LF";
