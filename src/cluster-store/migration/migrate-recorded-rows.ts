/** Copies recorded blocks, marks, changes of the configuration and the index of timelines from a single host's store into a cluster. */
import { scriptCommand } from "../../cluster/cluster-client.js";
import { keySlot } from "../../cluster/slots.js";
import type { Block } from "../../contract/configuration/entities.js";
import { limits } from "../../limits.js";
import { auditLogNumbers, sessionRange, tokenAt } from "../../store/keys.js";
import { lastId, type Store } from "../../store/store.js";
import {
  auditRow,
  blockFields,
  blockRows,
  blockSegmentIds,
  blocksInSegment,
  lastAuditField,
  marksRow,
  timelineIndexRow,
} from "../keys.js";
import { indexTimelines } from "../recorded/recorded-row-scripts.js";
import { type WantedRow, wantedHash } from "./migrate-counts.js";

/** How long rows are kept, ms. */
interface RecordedRowTimes {
  readonly sessionMs: number;
  readonly blockMs: number;
}

/** The account that logs changes which concern no particular account. */
const allAccounts = 0;

/** All recorded rows. Whole hashes are written, which also removes what the store no longer has. */
export function* wantedRecordedRows(store: Store, times: RecordedRowTimes): Generator<WantedRow> {
  for (const accountId of [allAccounts, ...store.accounts.getKeys({})])
    for (const log of auditLogNumbers(accountId)) yield wantedAudit(store, log);
  for (const projectId of [...store.projects.getKeys({})]) {
    yield wantedMarks(store, projectId, times.blockMs);
    yield* wantedTimelineIndex(store, projectId, times.sessionMs);
    yield* wantedBlocks(store, projectId, times.blockMs);
  }
}

function wantedAudit(store: Store, log: number): WantedRow {
  store.root.resetReadTxn();
  const fields: [string, string][] = [];
  for (const { key, value } of store.audit.getRange({ start: [log, 0], end: [log + 1, 0] })) {
    fields.push([String(key[1]), JSON.stringify(value)]);
  }
  const last = fields.at(-1)?.[0];
  if (last !== undefined) fields.push([lastAuditField, last]);
  return wantedHash(auditRow(log), fields, 0);
}

function wantedMarks(store: Store, projectId: number, blockMs: number): WantedRow {
  store.root.resetReadTxn();
  const fields: [string, string][] = [];
  for (const { value } of store.marks.getRange({ start: [projectId, ""], end: [projectId + 1, ""] })) {
    fields.push([value.sessionToken, `${Date.parse(value.markedAt)} ${JSON.stringify(value)}`]);
  }
  return wantedHash(marksRow(projectId), fields, blockMs);
}

/** Copies which sessions have a timeline; the timelines are in the sessions' rows. */
function* wantedTimelineIndex(store: Store, projectId: number, sessionMs: number): Generator<WantedRow> {
  store.root.resetReadTxn();
  const row = timelineIndexRow(projectId);
  const slot = keySlot(row);
  for (const key of [...store.trails.getKeys(sessionRange(projectId))].map((each) => Buffer.from(each))) {
    const token = key.subarray(tokenAt);
    yield {
      read: { command: ["ZSCORE", row, token], slot },
      isThere: (reply) => reply !== null,
      write: scriptCommand(indexTimelines, [row], [Number.MAX_SAFE_INTEGER, sessionMs, token], slot),
    };
  }
}

function* wantedBlocks(store: Store, projectId: number, blockMs: number): Generator<WantedRow> {
  const rows = blockRows(projectId);
  const last = lastId(store, `block:${projectId}`);
  if (last === 0) return;
  const slot = keySlot(rows.last);
  yield {
    read: { command: ["GET", rows.last], slot },
    isThere: (reply) => Number(reply ?? 0) === last,
    write: { command: ["SET", rows.last, last], slot },
  };
  const first = Math.max(0, last - limits.blocksPerProjectMax);
  for (let segment = Math.floor(first / blockSegmentIds); segment * blockSegmentIds <= last; segment++) {
    store.root.resetReadTxn();
    const start: [number, number] = [projectId, segment * blockSegmentIds];
    const end: [number, number] = [projectId, (segment + 1) * blockSegmentIds];
    const blocks = [...store.blocks.getRange({ start, end })].map(({ value }) => value);
    const fields = [...blocks.flatMap(fieldsOfBlock), ...namesOfBlocks(blocks, segment, last)];
    yield wantedHash(rows.segment(segment), fields, blockMs);
  }
}

function fieldsOfBlock({ id, count = 1, references, ...block }: Block): [string, string][] {
  const fields: [string, string][] = [[String(id), JSON.stringify(block)]];
  if (count > 1) fields.push([`${id}c`, String(count - 1)]);
  if (references !== undefined && references.length > 0) fields.push([`${id}r`, references.join(" ")]);
  return fields;
}

/** The fields that lead from sessions to these blocks, all those of the segment. */
function namesOfBlocks(blocks: readonly Block[], segment: number, last: number): [string, string][] {
  const bySession = new Map<string, number[]>();
  for (const { id, sessionToken } of blocks) {
    if (sessionToken !== null) bySession.set(sessionToken, [...(bySession.get(sessionToken) ?? []), id]);
  }
  const names = [...bySession].map(([token, ids]): [string, string] => [blockFields.ofSession(token), ids.join(" ")]);
  return blocks.length === 0 ? [] : [[blockFields.named, String(blocksInSegment(segment, last))], ...names];
}
