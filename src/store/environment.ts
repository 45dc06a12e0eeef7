/**
 * An LMDB environment, and how anything is written into one. Works around a bug of LMDB (ITS#9496, fixed upstream in 2021) that lmdb-js
 * 3.5.6 still has: a process that opens an environment while another one commits can set the number of the last commit back to that of
 * the commit before. Readers see that older state then, and the next writer begins from it: what was committed after it is gone. So every
 * write transaction begins with a look at that number, under the write lock, an environment that was just opened is looked at once, and who does not
 * find what may have been committed asks `looksAgain`.
 */
import { fstatSync, readSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { ABORT, type Database, type DatabaseOptions, type Key, open, type RootDatabase, type Transaction } from "lmdb";
import { NumberTakenError, StoreError } from "./failures.js";

/** Where LMDB's lock file has the number of the last commit: u64, little-endian (`MDB_txbody` in LMDB's mdb.c). */
const numberAt = 8;
const numberBytes = 8;
/** How often a transaction is restarted. Each restart needs another process that opens the environment at the moment of a commit. */
const triesMax = 100;
/** Waits of lmdb-js for a place among the readers, together under half a second, after which that place is another process's. */
const readerWaitsMax = 20;
/** The search for a file's descriptor ends at this number. */
const descriptorsMax = 65_536;

/** More than there are; each costs some bytes. */
const tablesMax = 128;

/** Flags of lmdb's `transactionSync` that it opens tables with itself: committed on return, seen before the flush. */
const openFlags = 2 | 0x10000;

/**
 * Flags for `transactionSync`: abortable, committed on return, visible before the flush. With `overlappingSync` LMDB keeps the
 * last flushed state apart until a newer one is flushed, so a power cut at worst loses the last moments and corrupts nothing.
 */
export const visibleBeforeFlush = 1 | openFlags;

/** The result of a transaction that began from an outdated state: it has written nothing. */
const behind = Symbol("behind");

/** An LMDB environment. Every write of verdictd uses one of its transactions, never a table directly. */
export class Environment {
  /** Its file. */
  readonly path: string;
  readonly #root: RootDatabase<unknown, string>;
  #guard: () => void = () => {};
  #lockDescriptor: number | null = null;
  /** Whether the present snapshot has the last commit, as far as was looked. */
  #isCurrent = false;
  #catchingUp: Promise<void> | null = null;

  /**
   * Opens the environment in this file. If it can't be opened (permissions, a read-only disk), the error names the folder: the operator has to
   * fix it. Throws a `NumberTakenError` if another process with this one's number has it open.
   */
  constructor(path: string) {
    try {
      this.#root = openReadable(path);
    } catch (cause) {
      if (cause instanceof StoreError) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new StoreError(`can't open the store in ${dirname(path)}: ${reason}`, { cause });
    }
    this.path = path;
    if (this.#number() < this.lastCommit) this.transactionSync(() => {});
  }

  /** The number of the last commit, by whichever process, according to the environment's own pages. */
  get lastCommit(): number {
    // `getStats` calls this and three more, at five times the cost.
    return (this.#root as unknown as { env: { info(): { lastTxnId: number } } }).env.info().lastTxnId;
  }

  /** Resolves once reads see again what another process's opening hides from them; null: nothing is hidden, as far as `looksAgain` looked. */
  get catchingUp(): Promise<void> | null {
    return this.#catchingUp;
  }

  /** From now on each write transaction calls `guard` before its work; what that throws refuses the transaction. */
  guardWrites(guard: () => void): void {
    this.#guard = guard;
  }

  /** Opens a table; creates it if it is missing. */
  openDB<V, K extends Key>(options: DatabaseOptions & { readonly name: string }): Database<V, K> {
    return this.transactionSync(() => this.#root.openDB<V, K>(options), openFlags);
  }

  /** Runs `work` in a write transaction and returns its result once it is committed; undone when `work` throws. `flags` are lmdb-js's. */
  transactionSync<T>(work: () => T, flags?: number): T {
    for (let tries = 0; tries < triesMax; tries++) {
      const result = this.#root.transactionSync(() => this.#fromLast(work), flags);
      if (result !== behind) return result;
    }
    throw this.#unmendable();
  }

  /** As `transactionSync`, without blocking while another thread or process writes. Not undone when `work` throws. */
  async transaction<T>(work: () => T): Promise<T> {
    return this.#whenFromLast(() => this.#root.transaction(() => this.#fromLast(work)));
  }

  /** As `transaction`, undone when `work` throws. */
  async childTransaction<T>(work: () => T): Promise<T> {
    return this.#whenFromLast(() => this.#root.childTransaction(() => this.#fromLast(work)));
  }

  /** Runs `work` in a write transaction that is undone in any case, and returns its result. */
  async abortedTransaction<T>(work: () => T): Promise<T> {
    return this.#whenFromLast<T>(async () => {
      let result: T | typeof behind = behind;
      await this.#root.childTransaction(() => {
        result = this.#fromLast(work);
        return ABORT;
      });
      return result;
    });
  }

  /** Makes the next read see every commit before it, but for what `looksAgain` is for. */
  resetReadTxn(): void {
    this.#isCurrent = false;
    this.#root.resetReadTxn();
  }

  /**
   * For who did not find what another thread or process may have committed before this moment. True: look again now. False: it is not there, or
   * `catchingUp` says when to look again. Costs 6 us once a snapshot.
   */
  looksAgain(): boolean {
    if (this.#isCurrent || this.#catchingUp !== null) return false;
    const last = this.lastCommit;
    if (this.#number() < last) {
      // Or that commit is just being made; then this waits for it. What can't be written is read as it is.
      const over = (): void => {
        this.#catchingUp = null;
        this.resetReadTxn();
      };
      this.#catchingUp = this.transaction(() => {}).then(over, over);
      return false;
    }
    this.resetReadTxn();
    this.#isCurrent = true;
    return true;
  }

  useReadTransaction(): Transaction {
    return this.#root.useReadTransaction();
  }

  backup(path: string, compact: boolean): Promise<void> {
    return this.#root.backup(path, compact);
  }

  close(): Promise<void> {
    return this.#root.close();
  }

  async #whenFromLast<T>(begin: () => Promise<T | typeof behind>): Promise<T> {
    for (let tries = 0; tries < triesMax; tries++) {
      const result = await begin();
      if (result !== behind) return result;
    }
    throw this.#unmendable();
  }

  /** Runs `work` if this transaction began from the last commit; sets the number right if not. Nobody else commits meanwhile. */
  #fromLast<T>(work: () => T): T | typeof behind {
    const last = this.lastCommit;
    if (this.#root.getWriteTxnId() > last) {
      this.#guard();
      return work();
    }
    const number = Buffer.alloc(numberBytes);
    number.writeBigUInt64LE(BigInt(last));
    writeSync(this.#lockFile(), number, 0, numberBytes, numberAt);
    return behind;
  }

  /** The number of the last commit according to the lock file, from which transactions begin. */
  #number(): number {
    const number = Buffer.alloc(numberBytes);
    readSync(this.#lockFile(), number, 0, numberBytes, numberAt);
    return Number(number.readBigUInt64LE());
  }

  /** LMDB's own descriptor of its lock file. One of ours would, once closed, take LMDB's locks on the file with it (POSIX, fcntl). */
  #lockFile(): number {
    this.#lockDescriptor ??= this.#findLockFile();
    return this.#lockDescriptor;
  }

  #findLockFile(): number {
    const { dev, ino } = statSync(`${this.path}-lock`);
    for (let descriptor = 0; descriptor < descriptorsMax; descriptor++) {
      const found = stateOf(descriptor);
      if (found !== null && found.ino === ino && found.dev === dev) return descriptor;
    }
    throw new Error(`LMDB has no lock file open for ${this.path}`);
  }

  #unmendable(): StoreError {
    return new StoreError(`${this.path} can't be written: its last commit is not where its lock file says`);
  }
}

/**
 * Opens an environment and reads it once. LMDB holds a lock on the byte of its lock file that has the process's number, and lmdb-js takes the refusal
 * of that lock for a shortage that passes: it waits ten seconds by `Atomics.wait` and then fails at random places.
 */
function openReadable(path: string): RootDatabase<unknown, string> {
  const { wait } = Atomics;
  let waits = 0;
  Atomics.wait = ((...given: Parameters<typeof wait>) => {
    if (waits++ < readerWaitsMax) return wait(...given);
    throw new NumberTakenError(
      `can't open the store in ${dirname(path)}: a process of another PID namespace has it open and the same number, ${process.pid}`,
    );
  }) as typeof wait;
  try {
    const root = open<unknown, string>({ path, maxDbs: tablesMax, maxReaders: 1024, overlappingSync: true });
    root.useReadTransaction().done();
    return root;
  } finally {
    Atomics.wait = wait;
  }
}

/** Returns null if there is no such descriptor. */
function stateOf(descriptor: number): { readonly dev: number; readonly ino: number } | null {
  try {
    return fstatSync(descriptor);
  } catch {
    return null;
  }
}
