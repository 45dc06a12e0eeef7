/** Session tokens that a load asks with: a file of them, in turn. */
import { closeSync, openSync, readSync } from "node:fs";
import { tokenPlaceholder } from "./batches.js";

/** A file of tokens, one a line; `count` of them from `from` on, one after another. */
export interface TokensSpec {
  readonly file: string;
  readonly from: number;
  readonly count: number;
}

/** Tokens in turn, from a file. */
export class Tokens {
  readonly #bytes: Buffer;
  readonly count: number;
  #next = 0;

  constructor({ file, from, count }: TokensSpec) {
    const line = tokenPlaceholder.length + 1;
    const bytes = Buffer.allocUnsafeSlow(count * line);
    const opened = openSync(file, "r");
    let held = 0;
    for (let read = -1; read !== 0 && held < bytes.length; held += read) {
      read = readSync(opened, bytes, held, bytes.length - held, from * line + held);
    }
    closeSync(opened);
    this.#bytes = bytes;
    this.count = Math.floor(held / line);
    if (this.count === 0) throw new Error(`no tokens in ${file}`);
  }

  write(into: Buffer, at: number): void {
    const start = this.#next * (tokenPlaceholder.length + 1);
    this.#bytes.copy(into, at, start, start + tokenPlaceholder.length);
    if (++this.#next === this.count) this.#next = 0;
  }
}
