/**
 * Reads of lists on behalf of accounts: cut into slices, and of each account only a few under way at once, the others in the order in which they were asked
 * for. So whoever asks for a long list many times delays nobody else, and other accounts not at all.
 */
import { limits } from "../limits.js";
import type { LongWork, Slices } from "./long-work.js";

interface Account {
  running: number;
  readonly waiting: (() => void)[];
}

/** One a thread. */
export class AccountReads {
  readonly #work: LongWork;
  readonly #accounts = new Map<number, Account>();

  constructor(work: LongWork) {
    this.#work = work;
  }

  /** Runs `read` when it is its turn, at the start of a slice. Null, like `read` itself, when whoever asked has gone. */
  async run<T>(
    accountId: number,
    isAborted: () => boolean,
    read: (slices: Slices) => T | null | Promise<T | null>,
  ): Promise<T | null> {
    const account = this.#accounts.get(accountId) ?? { running: 0, waiting: [] };
    this.#accounts.set(accountId, account);
    // A turn is handed on, so that nobody comes between.
    if (account.running < limits.accountReadsMax) account.running++;
    else await new Promise<void>((begin) => account.waiting.push(begin));
    try {
      const slices = this.#work.begin(isAborted);
      return slices.beginNow() || (await slices.next()) ? await read(slices) : null;
    } finally {
      const next = account.waiting.shift();
      if (next !== undefined) next();
      else if (--account.running === 0) this.#accounts.delete(accountId);
    }
  }
}
