/**
 * What is known of a table, in one row: everything that opens, expires, erases, checks, mirrors, migrates or describes tables reads these rows. Those of
 * verdictd are in `tables/`, by topic, and together in `tables.ts`.
 */
import type { Database, Key } from "lmdb";
import { type StoredRecord, storedRecordMismatch } from "../contract/validators.js";
import type { IntegrityWalk } from "./integrity-checks.js";
import type { SessionKeys } from "./keys.js";
import type { Retention } from "./retention.js";

/** As lmdb-js knows them; absent: msgpackr, ordered keys. */
interface Encodings {
  readonly encoding?: "binary";
  readonly keyEncoding?: "binary" | "uint32";
}

/** How LMDB keeps the rows of a table. Made by `records`, `recordsByBytes` and `packedRows`. */
export interface RowForm<V, K extends Key> extends Encodings {
  /** Only a type: the table once it is open. */
  readonly opened?: Database<V, K>;
}

/** Rows of msgpackr records under ordered keys. */
export function records<V, K extends string | number | (string | number)[]>(): RowForm<V, K> {
  return {};
}

/** Rows of msgpackr records under binary keys. */
export function recordsByBytes<V>(): RowForm<V, Buffer> {
  return { keyEncoding: "binary" };
}

/** Rows of packed values under binary keys. */
export const packedRows: RowForm<Buffer, Buffer> = { encoding: "binary", keyEncoding: "binary" };

/** A key of any table that can name a session. */
export type SessionRowKey = Buffer | [number, number] | [number, string];

/** Which rows belong to a session. `S`: the open tables that are read for it. */
type OfSession<S> =
  /**
   * Possible keys of a session's own rows. They are removed with it, also by the sweep. On a cluster they lie in its shard, under `letter` and these keys.
   * `shown`: what an operator is shown of those that there are; null of the record, which shows itself.
   */
  | {
      readonly own: (session: Uint8Array) => Buffer[];
      readonly letter: string;
      readonly shown: ((rows: readonly never[]) => unknown) | null;
    }
  /** Keys of rows that name a session; as many reads as there are. They expire separately. */
  | { readonly naming: (store: S, session: SessionKeys) => SessionRowKey[] }
  /** None. */
  | null;

/** A range of keys, `end` excluded. */
export interface RowRange {
  readonly start: unknown;
  readonly end: unknown;
}

/** How long the rows of a project may be kept, and as of when. */
export interface ExpiryTimes {
  readonly projectId: number;
  readonly retention: Retention;
  readonly nowMs: number;
}

/** A pass over the rows of one project. `S`: the open tables that are read and written. */
export interface ProjectSweep<S> extends ExpiryTimes {
  readonly store: S;
  readonly isStopping: () => boolean;
  /** Removes a session's own rows in all tables. Call inside a write transaction, and lower the session count. */
  readonly removeSession: (key: Uint8Array) => void;
}

/** When rows of a table expire. */
type Expiry<S> =
  /** Never: records of the control plane, and what is bounded by them or in number where it is written. */
  | "kept"
  /** With the session whose own they are. */
  | "with its session"
  /** Those below this key, in a table whose keys begin with a time. */
  | { readonly below: (nowMs: number) => Buffer }
  /** Those of a project in these ranges. */
  | { readonly ranges: (of: ExpiryTimes) => readonly RowRange[] }
  /** Removes expired rows of a project; returns how many rows of the table were removed. */
  | { readonly sweep: (of: ProjectSweep<S>) => Promise<number> };

/** What becomes of the rows where there is a cluster. */
type OnCluster =
  /** Their truth is there, and each node mirrors them: `mirrored-tables.ts` does it for every such table. */
  | "configuration"
  /** They are there alone, in rows of the kinds in `cluster-store/rows/row-kinds.ts`. */
  | "rows"
  /** Each node has its own; the text says why. */
  | { readonly own: string };

/** What happens where two write the same row. */
type Merge = "replaced" | "added" | "appended" | "once";

/** Returns what is wrong with a row, or null. May throw on a value of a completely different form. */
export type RowCheck = (walk: IntegrityWalk, value: never, key: never) => string | null;

/** One table. `S`: the open tables that its functions use. */
export interface StoredTable<S> {
  /** Its name in LMDB, and in reports. Never changes. */
  readonly name: string;
  /** What is in a key, and in a value. */
  readonly key: string;
  readonly value: string;
  readonly form: Encodings;
  /** For operators: what a row says of whom, and how long it is kept; null for what is about no visitor and no customer. */
  readonly holds: string;
  readonly until: string;
  readonly merge: Merge;
  readonly expiry: Expiry<S>;
  readonly ofSession: OfSession<S>;
  readonly onCluster: OnCluster;
  /** Which keys are configuration, where not all are. */
  readonly isConfiguration?: (key: unknown) => boolean;
  /** Of configuration: writes what each node keeps of its own beside a row that it has loaded; `undefined` is no row. */
  readonly follow?: (store: S, before: never, after: never) => void;
  readonly check: RowCheck;
}

/** Checks that a record has this form, then applies `more`. */
export function record<V, K>(
  kind: StoredRecord,
  more: (walk: IntegrityWalk, value: V, key: K) => string | null,
): RowCheck {
  return (walk, value, key) => formFault(kind, value) ?? more(walk, value, key);
}

/** What is wrong with the form of a record, or null. */
export function formFault(kind: StoredRecord, value: unknown): string | null {
  const mismatch = storedRecordMismatch(kind, value);
  return mismatch === null ? null : `${mismatch.path || "the record"} ${mismatch.fault}`;
}

/** The fault of a row that leads to another one which does not lead back. */
export function leadsTo(table: string, id: unknown): string {
  return `leads to ${table} ${String(id)}, which leads elsewhere`;
}
