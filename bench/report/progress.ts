/** A progress bar on stderr for what takes minutes: one line that is written over on a terminal, a line for each tenth elsewhere. */

const cells = 30;

export class Progress {
  readonly #what: string;
  readonly #total: number;
  readonly #start = performance.now();
  #tenths = 0;

  constructor(what: string, total: number) {
    this.#what = what;
    this.#total = total;
  }

  /** `done` of the total are. */
  show(done: number): void {
    const share = Math.min(1, done / this.#total);
    const isTerminal = process.stderr.isTTY === true;
    const tenths = Math.floor(10 * share);
    if (!isTerminal && tenths === this.#tenths) return;
    this.#tenths = tenths;
    const passedS = (performance.now() - this.#start) / 1000;
    const bar = "#".repeat(Math.round(cells * share)).padEnd(cells, ".");
    const line = `  ${this.#what} [${bar}] ${done.toLocaleString("en")}, ${Math.round(passedS / share - passedS)} s to go`;
    process.stderr.write(isTerminal ? `\r${line.padEnd(78)}${share === 1 ? "\n" : ""}` : `${line}\n`);
  }
}
