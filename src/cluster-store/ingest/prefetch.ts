/**
 * The rows that a group of batches reads, before it runs (`declareReads`). A batch that needs other rows finds out when the group runs, which costs a
 * second round.
 */
import type { Credentials } from "../../auth/credentials.js";
import { keySlot } from "../../cluster/slots.js";
import { type DeclaredReads, declareReads, SiteKeyHolders, type UnreadBatch } from "../../ingest/batch-reads.js";
import { generationsOf } from "../../ingest/seen-ids.js";
import { crossSessionKinds } from "../../ingest/unit-of-work.js";
import { spilledIdsOf } from "../../store/session-record.js";
import { crossSessionRow, idempotencyRow, seenIdsRow, shardOfSession, shardSlots } from "../keys.js";
import { type FetchedRows, type NeededRow, nameOfKey, neededSession, versionBytes } from "./cluster-unit-of-work.js";

/** What a group needs before it runs. */
interface Needs {
  /** Named as in `FetchedRows`. */
  readonly rows: Map<string, NeededRow>;
  /** The `sessionKey` of each session among them, by the same name. */
  readonly sessions: Map<string, Buffer>;
  /** Projects with paths that the group looks up. */
  readonly projectIds: Set<number>;
}

/**
 * Returns the needs of these batches. Reads keys and projects from the mirror, as the run will. `copiers`: sessions, by `nameOfKey`, that have shown
 * paths of others.
 */
export function needsOf(
  credentials: Credentials,
  batches: readonly UnreadBatch[],
  copiers: Pick<ReadonlySet<string>, "has">,
): Needs {
  const needs: Needs = { rows: new Map(), sessions: new Map(), projectIds: new Set() };
  const reads = readsInto(needs);
  const holders = new SiteKeyHolders(credentials);
  for (const batch of batches) declareReads(reads, holders, batch, (session) => copiers.has(nameOfKey(session)));
  return needs;
}

function readsInto({ rows, sessions, projectIds }: Needs): DeclaredReads {
  return {
    session: (key) => {
      const name = nameOfKey(key);
      rows.set(name, neededSession(key));
      sessions.set(name, key);
    },
    idempotent: (key) => {
      const row = idempotencyRow(key);
      rows.set(row.toString("latin1"), { key: row, slot: keySlot(row) });
    },
    countAcross: (kind, projectId, hash, hour) => {
      const row = crossSessionRow(crossSessionKinds[kind], projectId, hash, hour);
      const before = crossSessionRow(crossSessionKinds[kind], projectId, hash, hour - 1);
      rows.set(row, { key: row, also: before, slot: keySlot(row), isCount: true });
      return 0;
    },
    paths: (projectId) => projectIds.add(projectId),
  };
}

/** Rows of request ids that no longer fit the records of these sessions: every batch reads them first. */
export function spilledIdsNeeds({ sessions }: Needs, rows: FetchedRows): Map<string, NeededRow> {
  const needed = new Map<string, NeededRow>();
  for (const [name, key] of sessions) {
    const value = rows.get(name);
    if (!value) continue;
    for (const row of spilledIdsRows(key, value.subarray(versionBytes))) {
      const rowName = row.toString("latin1");
      if (!rows.has(rowName)) needed.set(rowName, { key: row, slot: shardSlots[shardOfSession(key)]! });
    }
  }
  return needed;
}

const noRows: readonly Buffer[] = [];

/** The rows of request ids that no longer fit the record of this session. */
export function spilledIdsRows(sessionKey: Buffer, record: Buffer): readonly Buffer[] {
  const generations = generationsOf(spilledIdsOf(record));
  if (generations === 0) return noRows;
  return generations === 1 ? [seenIdsRow(sessionKey, 0)] : [seenIdsRow(sessionKey, 0), seenIdsRow(sessionKey, 1)];
}
