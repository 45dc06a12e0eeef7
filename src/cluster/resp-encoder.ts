/** Writes commands as RESP arrays of bulk strings into one buffer: a pipeline is one write to the socket. */

/** One word of a command: text is sent as UTF-8, bytes unchanged, numbers in decimal. */
export type CommandPart = string | Uint8Array | number;

/** A command: its name and its arguments. */
export type RespCommand = readonly CommandPart[];

const bytesAtFirst = 32 * 1024;
/** A buffer that has grown beyond this is released after the write. */
const bytesKept = 1024 * 1024;
/** Up to this many characters, a loop is faster than a call out of the engine. */
const shortTextMax = 48;
/** "$" or "*", ten digits, CR LF. */
const headerBytesMax = 13;

/** Collects commands until they are taken. */
export class RespEncoder {
  #bytes = Buffer.allocUnsafeSlow(bytesAtFirst);
  #length = 0;

  /** Number of bytes to take. */
  get length(): number {
    return this.#length;
  }

  /** Appends a command; returns the bytes that this took. */
  add(command: RespCommand): number {
    const before = this.#length;
    this.#reserve(headerBytesMax);
    this.#header(42, command.length);
    for (const part of command) {
      if (typeof part === "string") this.#text(part);
      else if (typeof part === "number") this.#text(String(part));
      else {
        this.#reserve(part.length + headerBytesMax + 2);
        this.#header(36, part.length);
        this.#bytes.set(part, this.#length);
        this.#length += part.length;
        this.#lineEnd();
      }
    }
    return this.#length - before;
  }

  /**
   * Returns the collected bytes. Once they are sent, `release` lets the next commands reuse the memory; otherwise the next command gets new memory.
   */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }

  /** `isOut`: no one reads the taken bytes any more. */
  release(isOut: boolean): void {
    if (!isOut || this.#bytes.length > bytesKept) this.#bytes = Buffer.allocUnsafeSlow(bytesAtFirst);
  }

  #text(text: string): void {
    if (text.length <= shortTextMax && this.#shortText(text)) return;
    // Nearly all texts are ASCII, so their length in bytes is known before they are written.
    const bytes = Buffer.byteLength(text);
    this.#reserve(bytes + headerBytesMax + 2);
    this.#header(36, bytes);
    if (bytes === text.length) this.#bytes.write(text, this.#length, "latin1");
    else this.#bytes.write(text, this.#length, "utf8");
    this.#length += bytes;
    this.#lineEnd();
  }

  /** Writes a text letter by letter, which is cheaper for the names and numbers of commands. Returns false if it is not ASCII. */
  #shortText(text: string): boolean {
    this.#reserve(text.length + headerBytesMax + 2);
    const from = this.#length;
    this.#header(36, text.length);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code >= 0x80) {
        this.#length = from;
        return false;
      }
      bytes[at++] = code;
    }
    this.#length = at;
    this.#lineEnd();
    return true;
  }

  #header(type: number, count: number): void {
    this.#bytes[this.#length++] = type;
    let digits = 1;
    for (let bound = 10; count >= bound; bound *= 10) digits++;
    let rest = count;
    for (let at = this.#length + digits - 1; at >= this.#length; at--) {
      this.#bytes[at] = 48 + (rest % 10);
      rest = (rest / 10) | 0;
    }
    this.#length += digits;
    this.#lineEnd();
  }

  #lineEnd(): void {
    this.#bytes[this.#length++] = 13;
    this.#bytes[this.#length++] = 10;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    let size = this.#bytes.length * 2;
    while (size < this.#length + bytes) size *= 2;
    const grown = Buffer.allocUnsafeSlow(size);
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
