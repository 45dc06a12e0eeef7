/**
 * A unit of work on rows that were fetched beforehand. A read of a row that was not fetched is remembered and answered as absent; the caller then
 * fetches the row and runs the unit again. Writes stay here, session by session, until they are sent. Counts are kept by batch, to leave out the
 * counts of a session that has to run again. Pure except for the random versions.
 */

import { randomFillSync } from "node:crypto";
import type { ClusterError } from "../../cluster/cluster-error.js";
import { keySlot } from "../../cluster/slots.js";
import type { PathReuseIndex, PathRoom } from "../../ingest/path-reuse-index.js";
import { type CrossSessionKind, crossSessionKinds, type UnitOfWork } from "../../ingest/unit-of-work.js";
import { tokenAt } from "../../store/keys.js";
import {
  crossSessionRow,
  idempotencyRow,
  seenIdsRow,
  sessionRow,
  shardOfHash,
  shardOfSession,
  shardSlots,
} from "../keys.js";
import type { ClusterPathReuseIndex, ProjectPaths } from "./cluster-path-reuse-index.js";

/** Bytes of the version before a session's record in the cluster; it shows whether another write came meanwhile. */
export const versionBytes = 8;
const noVersion = Buffer.alloc(0);
const noToken = Buffer.alloc(0);

/** Fetched rows by the text of their key (latin1), session rows by the text of their `sessionKey`; `null` means that the row does not exist. */
export type FetchedRows = Map<string, Buffer | null>;

/** A row to fetch. */
export interface NeededRow {
  readonly key: Buffer | string;
  /** A second row in the same slot, fetched together with it. */
  readonly also?: string;
  readonly slot: number;
  /** Whether it is a count across sessions: a batch can do without it. */
  readonly isCount?: boolean;
}

/** A session that the unit writes. */
export interface SavedSession {
  /** `sessionKey`. */
  readonly key: Buffer;
  /** `nameOfKey` of its key. */
  readonly name: string;
  /** The version of the record that is replaced; empty if there is none. */
  readonly version: Buffer;
  readonly nextVersion: Buffer;
  readonly record: Buffer;
  readonly isNew: boolean;
  /** The `Idempotency-Key` that it was minted for. */
  readonly idempotency: IdempotencyRow | undefined;
  /** The same in another shard: of a session whose token was issued before its key was known. It is written before the session. */
  readonly claim: IdempotencyRow | undefined;
  /** Rows of the request ids that it has seen; they are written with it. */
  readonly seenIds: readonly FurtherRow[];
}

/** A session as fetched. */
export interface ReadSession {
  /** `sessionKey`. */
  readonly key: Buffer;
  readonly version: Buffer;
}

/** The row of an `Idempotency-Key` for which a session was minted. */
interface IdempotencyRow {
  readonly key: Buffer;
  /** What it held: a token that leads to no session any more. Empty if it did not exist. */
  readonly replaced: Buffer;
}

interface FurtherRow {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** Counts of one batch, sent when its session is written. */
export interface BatchCounts {
  accountId: number;
  month: string;
  projectId: number;
  hour: number;
  events: number;
  sessions: number;
  readonly across: CountedRow[];
  /** Hash and session of the paths that are new. */
  readonly paths: number[];
}

/** A row that a batch raises by one. */
interface CountedRow {
  readonly row: string;
  /** Whether no batch had counted in it yet, as far as was known. */
  readonly isNew: boolean;
}

/** A recent view of the cluster. */
export interface RecentCounts {
  eventsInMonth(accountId: number, month: string): number;
  sessionCount(projectId: number): number;
}

/** For one run of one group. A second run gets a new one that includes the missing rows. */
export class ClusterUnitOfWork implements UnitOfWork {
  readonly #rows: FetchedRows;
  readonly #failed: ReadonlyMap<string, ClusterError>;
  readonly #counts: RecentCounts;
  readonly #pathIndex: ClusterPathReuseIndex;
  /** Keys that were read and not fetched, with the batches (by index) and sessions (by `nameOfKey`) that read them. */
  readonly missing = new Map<string, NeededRow>();
  readonly incompleteBatches = new Set<number>();
  /** Batches, by index, that read a row which can't be had, and why. Other rows that they lack are not in `missing`. */
  readonly hopelessBatches = new Map<number, ClusterError>();
  readonly incompleteSessions = new Set<string>();
  readonly saved = new Map<string, SavedSession>();
  /** Existing sessions, by `nameOfKey`. */
  readonly read = new Map<string, ReadSession>();
  /** Sessions (`sessionKey`) that a batch, by its index, named and that do not exist, as far as was read. */
  readonly absent = new Map<number, Buffer[]>();
  readonly #batches: BatchCounts[] = [];
  #batch: BatchCounts = newCounts();
  #index = 0;
  /** Rows of seen request ids that wait for the record of their session, by `nameOfKey`. */
  readonly #seenIds = new Map<string, FurtherRow[]>();
  /** Tokens minted in this unit, by the row of their `Idempotency-Key`, and the reverse: a token that was just minted is in no other project. */
  readonly #minted = new Map<string, Buffer>();
  readonly #mintedFor = new Map<string, IdempotencyRow>();
  readonly #raised = new Map<string, number>();
  readonly #sessions = new Map<number, number>();
  #projectPaths: { readonly projectId: number; readonly paths: ProjectPaths } | null = null;
  readonly paths: PathReuseIndex;

  /** `failed`: rows that can't be had, by the names they would have in `rows`. */
  constructor(
    rows: FetchedRows,
    counts: RecentCounts,
    paths: ClusterPathReuseIndex,
    failed: ReadonlyMap<string, ClusterError> = new Map(),
  ) {
    this.#rows = rows;
    this.#failed = failed;
    this.#counts = counts;
    this.#pathIndex = paths;
    this.paths = {
      record: (projectId, session, hashes, room) => {
        if (hashes.length === 0) return 0;
        const paths = this.#pathsOf(projectId);
        this.#batch.projectId = projectId;
        let matches = 0;
        for (const hash of hashes) if (this.#recordPath(paths, session, hash, room) !== session) matches++;
        return matches;
      },
      recordOwners: (projectId, session, hashes, room) => {
        if (hashes.length === 0) return nobody;
        const paths = this.#pathsOf(projectId);
        this.#batch.projectId = projectId;
        return hashes.map((hash) => this.#recordPath(paths, session, hash, room)).filter((owner) => owner !== session);
      },
    };
  }

  beginBatch(index: number): void {
    this.#index = index;
    this.#batch = newCounts();
    this.#batches[index] = this.#batch;
  }

  session(key: Buffer): Buffer | undefined {
    const name = nameOfKey(key);
    const own = this.saved.get(name);
    if (own !== undefined) return own.record;
    const value = this.#rows.get(name);
    if (value === undefined) this.#miss(name, neededSession(key));
    if (value === null) this.absent.set(this.#index, [...(this.absent.get(this.#index) ?? []), Buffer.from(key)]);
    if (!value) return undefined;
    this.read.set(name, { key: Buffer.from(key), version: value.subarray(0, versionBytes) });
    return value.subarray(versionBytes);
  }

  putSession(key: Buffer, record: Buffer, isNew: boolean): void {
    const name = nameOfKey(key);
    const before = this.saved.get(name);
    this.saved.set(name, {
      key: before?.key ?? Buffer.from(key),
      name,
      version: before?.version ?? (isNew ? noVersion : this.#versionOf(key)),
      nextVersion: before?.nextVersion ?? newVersion(),
      record: Buffer.from(record),
      isNew,
      ...this.#keyOf(key),
      seenIds: this.#seenIds.get(name) ?? [],
    });
  }

  seenIds(sessionKey: Buffer, generation: 0 | 1): Buffer | undefined {
    const row = seenIdsRow(sessionKey, generation);
    const name = nameOfKey(sessionKey);
    const own = this.#seenIds.get(name)?.find(({ key }) => key.equals(row));
    return own === undefined ? this.#fetched(row, name) : own.value;
  }

  putSeenIds(sessionKey: Buffer, generation: 0 | 1, hashes: Buffer): void {
    const key = seenIdsRow(sessionKey, generation);
    const name = nameOfKey(sessionKey);
    const others = (this.#seenIds.get(name) ?? []).filter((each) => !each.key.equals(key));
    this.#seenIds.set(name, [...others, { key, value: Buffer.from(hashes) }]);
  }

  idempotent(key: Buffer): Buffer | undefined {
    const row = idempotencyRow(key);
    return this.#minted.get(row.toString("latin1")) ?? this.#fetched(row);
  }

  putIdempotent(key: Buffer, token: Buffer): void {
    const row = idempotencyRow(key);
    const name = row.toString("latin1");
    this.#minted.set(name, Buffer.from(token));
    this.#mintedFor.set(token.toString("latin1"), { key: row, replaced: this.#rows.get(name) ?? noToken });
  }

  countAcross(kind: CrossSessionKind, projectId: number, hash: readonly number[], hour: number): number {
    const number = crossSessionKinds[kind];
    const row = crossSessionRow(number, projectId, hash, hour);
    const before = crossSessionRow(number, projectId, hash, hour - 1);
    const raised = (this.#raised.get(row) ?? 0) + 1;
    this.#raised.set(row, raised);
    this.#batch.across.push({ row, isNew: this.#rows.get(row) === null });
    return this.#count(row) + this.#count(before) + raised;
  }

  eventsInMonth(accountId: number, month: string): number {
    return this.#counts.eventsInMonth(accountId, month);
  }

  addTraffic(
    accountId: number,
    month: string,
    projectId: number,
    hour: number,
    events: number,
    sessions: number,
  ): void {
    const batch = this.#batch;
    batch.accountId = accountId;
    batch.month = month;
    batch.projectId = projectId;
    batch.hour = hour;
    batch.events += events;
    batch.sessions += sessions;
  }

  sessionCount(projectId: number): number {
    return this.#counts.sessionCount(projectId) + (this.#sessions.get(projectId) ?? 0);
  }

  addSession(projectId: number): void {
    this.#sessions.set(projectId, (this.#sessions.get(projectId) ?? 0) + 1);
  }

  shardOf(idempotencyHash: Buffer): number {
    return shardOfHash(idempotencyHash);
  }

  /** Returns what the batch of this index counts, once it has begun. */
  countsOf(index: number): BatchCounts {
    return this.#batches[index]!;
  }

  /** Removes the paths that a batch has recorded: it runs again, or was refused and may come again with another session. */
  forgetPaths(index: number): void {
    const { projectId, paths: pairs } = this.#batches[index]!;
    this.#pathIndex.forget(projectId, pairs);
  }

  /** The same for all batches, when the run has failed. */
  forgetAllPaths(): void {
    for (let index = 0; index < this.#batches.length; index++) this.forgetPaths(index);
  }

  #pathsOf(projectId: number): ProjectPaths {
    if (this.#projectPaths?.projectId !== projectId) {
      this.#projectPaths = { projectId, paths: this.#pathIndex.of(projectId) };
    }
    return this.#projectPaths.paths;
  }

  /** Returns the session that has shown the path: this one, if the path is new. */
  #recordPath(paths: ProjectPaths, session: number, hash: number, room: PathRoom): number {
    const owner = paths.ownerOf(hash);
    if (owner !== undefined) return owner;
    if (room.left <= 0) return session;
    room.left--;
    paths.add(hash, session);
    this.#batch.paths.push(hash, session);
    return session;
  }

  #keyOf(session: Buffer): Pick<SavedSession, "idempotency" | "claim"> {
    const row = this.#mintedFor.get(session.toString("latin1", tokenAt));
    const isBeside = row === undefined || keySlot(row.key) === shardSlots[shardOfSession(session)];
    return isBeside ? { idempotency: row, claim: undefined } : { idempotency: undefined, claim: row };
  }

  #versionOf(key: Buffer): Buffer {
    return this.#rows.get(nameOfKey(key))?.subarray(0, versionBytes) ?? noVersion;
  }

  #count(row: string): number {
    const value = this.#rows.get(row);
    if (value === undefined) this.#miss(row, { key: row, slot: keySlot(row), isCount: true });
    return Number(value?.toString("latin1") ?? 0);
  }

  /** `session`: the name of the session that reads it; if absent, the current batch does. */
  #fetched(row: Buffer, session?: string): Buffer | undefined {
    const name = row.toString("latin1");
    const value = this.#rows.get(name);
    if (value === undefined) this.#miss(name, { key: row, slot: keySlot(row) }, session);
    return value ?? undefined;
  }

  #miss(name: string, row: NeededRow, session?: string): void {
    const fault = this.#failed.get(name);
    if (fault !== undefined) this.hopelessBatches.set(this.#index, fault);
    if (!this.hopelessBatches.has(this.#index)) this.missing.set(name, row);
    if (session === undefined) this.incompleteBatches.add(this.#index);
    else this.incompleteSessions.add(session);
  }
}

const nobody: readonly number[] = [];

/** Returns the row of a session to fetch. `key` is copied. */
export function neededSession(key: Buffer): NeededRow {
  return { key: sessionRow(key), slot: shardSlots[shardOfSession(key)]! };
}

/**
 * The name of a session in all maps of a group, and of its row in `FetchedRows`: the whole `sessionKey`, because a token may come with the key of another
 * project.
 */
export function nameOfKey(sessionKey: Buffer): string {
  return sessionKey.toString("latin1");
}

function newCounts(): BatchCounts {
  return { accountId: 0, month: "", projectId: 0, hour: 0, events: 0, sessions: 0, across: [], paths: [] };
}

const versionPool = Buffer.allocUnsafe(4096);
let versionsUsed = versionPool.length;

/** Returns a version that no other write has: 64 random bits. */
export function newVersion(): Buffer {
  if (versionsUsed === versionPool.length) {
    randomFillSync(versionPool);
    versionsUsed = 0;
  }
  const version = Buffer.from(versionPool.subarray(versionsUsed, versionsUsed + versionBytes));
  versionsUsed += versionBytes;
  return version;
}

/** Forgets the fetched rows of a session, and of the key that it was minted for, to fetch them again. */
export function forgetRows(
  rows: FetchedRows,
  { key, idempotency, claim }: Pick<SavedSession, "key"> & Partial<SavedSession>,
): void {
  rows.delete(nameOfKey(key));
  for (const generation of [0, 1] as const) rows.delete(seenIdsRow(key, generation).toString("latin1"));
  const named = idempotency ?? claim;
  if (named !== undefined) rows.delete(named.key.toString("latin1"));
}
