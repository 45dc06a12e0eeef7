/** Reads request bodies under two bounds: bytes of one, and bytes of all that are on their way. What is over either is not kept. */
import type { HttpResponse } from "uWebSockets.js";
import type { HeldBytes, Holder } from "./held-bytes.js";

/** Exactly one of the three callbacks is called, unless the client goes first. */
export interface BodyOptions {
  readonly bytesMax: number;
  /** What bodies of its kind are counted in while they come. */
  readonly held: HeldBytes;
  /** The whole body, for the time of the call: copy what is kept. */
  readonly onBody: (body: Buffer) => void;
  /** Called once instead, when the body turned out to be over its bound; the rest of it goes by unread. */
  readonly onOversize: () => void;
  /** Called once instead, when too much is on its way and this body has been longest; the rest of it goes by unread. */
  readonly onDropped: () => void;
}

/** The least memory that a body in pieces is given: pieces can be of one byte. */
const firstBytes = 4096;

/** One body on its way. A body that comes in one piece, as most do, is neither copied nor counted. */
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

  /** The client has gone. */
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
    // The piece is uWebSockets' own memory and gone after this callback.
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
