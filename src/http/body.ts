/** Reads request bodies under two bounds: the bytes of one body, and of all incomplete bodies. What exceeds a bound is dropped. */
import type { HttpResponse } from "uWebSockets.js";
import type { HeldBytes, Holder } from "./held-bytes.js";

/** Calls exactly one of the three callbacks, unless the client leaves first. */
interface BodyOptions {
  readonly bytesMax: number;
  /** Counts the bytes of incomplete bodies of this kind. */
  readonly held: HeldBytes;
  /** Gets the whole body. The memory is valid during the call only: copy what you keep. */
  readonly onBody: (body: Buffer) => void;
  /** Called once instead if the body exceeds its bound; the rest is discarded. */
  readonly onOversize: () => void;
  /** Called once instead if all incomplete bodies exceed their bound and this one is the oldest; the rest is discarded. */
  readonly onDropped: () => void;
}

/** Minimum buffer of a body that comes in pieces, because pieces can have one byte. */
const firstBytes = 4096;

/** One incomplete body. A body that comes in one piece, as most do, is neither copied nor counted. */
export class BodyReader implements Holder {
  readonly #options: BodyOptions;
  #memory: Buffer | null = null;
  #length = 0;
  #isOver = false;

  /** Attach before anything asynchronous happens. */
  constructor(res: HttpResponse, options: BodyOptions) {
    this.#options = options;
    res.onData((piece, isLast) => this.#take(piece, isLast));
  }

  /** Call when the client has left. */
  leave(): void {
    if (!this.#isOver) this.#end();
  }

  drop(): void {
    this.#end();
    this.#options.onDropped();
  }

  #take(piece: ArrayBuffer, isLast: boolean): void {
    if (this.#isOver) return;
    if (this.#length + piece.byteLength > this.#options.bytesMax) {
      this.#end();
      this.#options.onOversize();
      return;
    }
    // The piece is uWebSockets' own memory, which is reused after this callback.
    const bytes = Buffer.from(piece);
    if (isLast && this.#length === 0) {
      this.#end();
      this.#options.onBody(bytes);
      return;
    }
    this.#append(bytes);
    if (!isLast || this.#isOver) return;
    const body = this.#memory!.subarray(0, this.#length);
    this.#end();
    this.#options.onBody(body);
  }

  /** May drop this very body. */
  #append(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const length = this.#length + bytes.length;
    const had = this.#memory?.length ?? 0;
    if (length > had) {
      const grown = Buffer.allocUnsafeSlow(Math.min(Math.max(length, 2 * had, firstBytes), this.#options.bytesMax));
      this.#memory?.copy(grown, 0, 0, this.#length);
      this.#memory = grown;
    }
    bytes.copy(this.#memory!, this.#length);
    this.#length = length;
    if (this.#memory!.length > had) this.#options.held.hold(this, this.#memory!.length);
  }

  #end(): void {
    this.#isOver = true;
    this.#memory = null;
    this.#options.held.release(this);
  }
}
