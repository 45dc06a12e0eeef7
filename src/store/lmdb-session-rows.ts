/** Sessions of one host. Every read is one look-up in a memory map; a second one where nothing was found, see `Environment`. */
import { solvedChallengeKey } from "./keys.js";
import type { Changed, KeyRange, SessionRows, UniqueMark } from "./session-rows.js";
import type { Tables as AllTables } from "./tables.js";

const marked = Buffer.from([1]);

/** The tables that it reads and writes. */
type Tables = Pick<AllTables, "root" | "sessions" | "solvedChallenges">;

/** Sessions of a single host. `load` waits only while a commit is hidden, and `change` is one transaction. */
export class LmdbSessionRows implements SessionRows {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  load(keys: readonly Buffer[]): Promise<void> | null {
    return keys.some((key) => this.record(key) === undefined) ? this.later() : null;
  }

  record(key: Buffer): Buffer | undefined {
    const { root } = this.#tables;
    return this.#read(key) ?? (root.looksAgain() ? this.#read(key) : undefined);
  }

  later(): Promise<void> | null {
    return this.#tables.root.catchingUp;
  }

  isUnanswered(): boolean {
    return false;
  }

  async keys({ start, end, reverse = false, limit }: KeyRange): Promise<Buffer[]> {
    return [...this.#tables.sessions.getKeys({ start, end, reverse, limit })];
  }

  async change(key: Buffer, change: (record: Buffer) => Buffer | null, mark?: UniqueMark): Promise<Changed> {
    const { root, sessions, solvedChallenges } = this.#tables;
    const markKey = mark === undefined ? undefined : solvedChallengeKey(mark.expiresAtMs, mark.nonce);
    // Looked at before the store is held: one solution, sent again and again, costs a read each.
    if (markKey !== undefined && solvedChallenges.doesExist(markKey)) return "used";
    return root.childTransaction((): Changed => {
      const record = sessions.getBinary(key);
      if (record === undefined) return "gone";
      if (markKey !== undefined && solvedChallenges.doesExist(markKey)) return "used";
      const changed = change(record);
      if (changed === null) return "gone";
      if (markKey !== undefined) solvedChallenges.putSync(markKey, marked);
      sessions.putSync(key, changed);
      return "changed";
    });
  }

  #read(key: Buffer): Buffer | undefined {
    return this.#tables.sessions.getBinaryFast(key) as Buffer | undefined;
  }
}
