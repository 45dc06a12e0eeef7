/** Counts by hour and month, what was judged, the log of changes, and what is compared across sessions. None names a session. */
import { type AuditEntry, accountOfServer } from "../../contract/configuration/audit.js";
import type { Traffic } from "../../contract/configuration/entities.js";
import { unpackCrossSessionCount } from "../cross-session-count.js";
import { expiredJudged } from "../judged-rows.js";
import {
  crossSessionCountsFrom,
  crossSessionKeyBytes,
  hourOf,
  judgedKeyBytes,
  judgedRange,
  logNumberOf,
  pathReuseBucketSlots,
} from "../keys.js";
import { type ExpiryTimes, packedRows, type RowRange, record, records, type StoredTable } from "../table.js";

/** Counts and logs. */
export const countTables = {
  usage: {
    name: "usage",
    key: '[account id, "YYYY-MM"]',
    value: "events accepted",
    form: records<number, [number, string]>(),
    holds: "how many events an account sent in a month",
    until: "the account is removed",
    merge: "added",
    expiry: "kept",
    ofSession: null,
    onCluster: "rows",
    check: (walk, events: number, [accountId, month]: [number, string]) => {
      if (!Number.isSafeInteger(events) || events < 0) return "is not a count";
      walk.countUsage(accountId, month, events);
      return walk.missing("accounts", accountId);
    },
  },
  traffic: {
    name: "traffic",
    key: "[project id, hour since the epoch]",
    value: "Traffic",
    form: records<Traffic, [number, number]>(),
    holds: "how many events, sessions, verdicts and actions a project had in an hour",
    until: "`--stats-days`",
    merge: "added",
    expiry: { ranges: expiredTraffic },
    ofSession: null,
    onCluster: "rows",
    check: record("traffic", (walk, row: { events: number }, [projectId, hour]: [number, number]) => {
      if (!Number.isSafeInteger(row.events) || row.events < 0) return "events is not a count";
      walk.countTraffic(projectId, hour, row.events);
      return walk.missing("projects", projectId);
    }),
  },
  judged: {
    name: "judged",
    key: "project u32, kind u8, hour u32, writer 10 bytes",
    value: "a writer's row of what was judged, `judged-rows.ts`",
    form: packedRows,
    holds:
      "counts of verdicts by address, network, path, agent and the like, and samples of requests without a session",
    until: "`--stats-days`; addresses no longer than sessions, samples for a week",
    merge: "replaced",
    expiry: { ranges: expiredRangesOfJudged },
    // Counts by value and samples of requests without a session: they name none.
    ofSession: null,
    onCluster: "rows",
    check: (walk, value: Buffer, key: Buffer) =>
      key.length !== judgedKeyBytes || value.length === 0
        ? "has another length"
        : walk.missing("projects", key.readUInt32BE(0)),
  },
  audit: {
    name: "audit",
    key: "[log, change id] (`logNumberOf`)",
    value: "AuditEntry",
    form: records<AuditEntry, [number, number]>(),
    holds: "a change of the configuration: who, when, what, and the values before and after",
    until: "10,000 of each kind and account are kept; beyond, the oldest of whoever made most go",
    merge: "appended",
    expiry: "kept",
    ofSession: null,
    onCluster: "rows",
    check: record("audit", (walk, row: AuditEntry, key: [number, number]) => {
      // Earlier versions had one log for all kinds.
      const isOfLog = key[0] === logNumberOf(row) || key[0] === row.accountId;
      if (!isOfLog || row.id !== key[1]) return `holds change ${row.id} of account ${row.accountId}`;
      return row.accountId === accountOfServer ? null : walk.missing("accounts", row.accountId);
    }),
  },
  crossSessionCounts: {
    name: "sightings",
    key: "hour u24, hash 8 bytes of project, kind, what",
    value: "`cross-session-count.ts`",
    form: packedRows,
    holds: "how many sessions of an hour share an address, a shape of events or an environment, under a hash",
    until: "two hours",
    merge: "added",
    expiry: { below: (nowMs: number) => crossSessionCountsFrom(hourOf(nowMs) - 1) },
    ofSession: null,
    onCluster: "rows",
    check: (_, value: Buffer, key: Buffer) =>
      key.length === crossSessionKeyBytes && unpackCrossSessionCount(value) !== null ? null : "has another length",
  },
  pathReuse: {
    name: "replays",
    key: "project u32, 0 u8, bucket u16; project u32, 1 u8, row u32; project u32, 2 u8",
    value:
      "`pathReuseBucketSlots` times hash u32, session u32; log of this generation: the same pairs, any number; generation u32, rows of the log u32",
    form: packedRows,
    holds: "hashes of pieces of pointer paths, each with four bytes of the token that showed it first",
    until: "newer ones take its place",
    merge: "replaced",
    expiry: "kept",
    // Four bytes of a token beside the hash of a piece of a path: names nobody to whom the token is not known.
    ofSession: null,
    onCluster: "rows",
    check: (_, value: Buffer, key: Buffer) => {
      const isWhole =
        key[4] === 0 ? value.length === 8 * pathReuseBucketSlots : value.length > 0 && value.length % 8 === 0;
      return isWhole ? null : "has another length";
    },
  },
} as const satisfies Record<string, StoredTable<never>>;

function expiredTraffic({ projectId, retention, nowMs }: ExpiryTimes): RowRange[] {
  const hour = hourOf(nowMs - retention.trafficMs);
  return [{ start: [projectId, 0], end: [projectId, Math.max(0, hour)] }];
}

function expiredRangesOfJudged({ projectId, retention, nowMs }: ExpiryTimes): RowRange[] {
  return expiredJudged(retention, nowMs).map(({ kind, hour }) => judgedRange(projectId, kind, 0, hour));
}
