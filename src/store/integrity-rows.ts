/**
 * The check of a row for each table: the record has the right form, and its references lead somewhere and back. `integrity.ts` calls these during its
 * walk. A table that is added to `tableNames` does not compile until it is here.
 */

import { type AuditEntry, accountOfServer } from "../contract/audit.js";
import { encodeSessionToken, tokenBytes } from "../contract/session-token.js";
import { type StoredRecord, storedRecordMismatch } from "../contract/validators.js";
import { accountRowKey } from "./account-rows.js";
import { logNumberOf } from "./audit-rows.js";
import { unpackCrossSessionCount } from "./cross-session-count.js";
import type { IntegrityWalk } from "./integrity-checks.js";
import {
  type AlertingKey,
  alertingKinds,
  blockTallyBytes,
  blockTallyKeyBytes,
  catalogueKeys,
  crossSessionKeyBytes,
  idempotencyKeyBytes,
  judgedKeyBytes,
  pathReuseBucketSlots,
  type SignedAgentKey,
  sessionKeyBytes,
  signedAgentKeys,
  solvedChallengeKeyBytes,
  type TableName,
} from "./keys.js";
import { isMigrationMark } from "./migration-mark.js";
import { keyOfBlock, namedRow } from "./naming-rows.js";
import { schemaVersion } from "./open-store.js";
import { decodeSession } from "./session-record.js";

/** Returns what is wrong with a row, or null. May throw on a value of a completely different form. */
type RowCheck = (walk: IntegrityWalk, value: never, key: never) => string | null;

/** Checks that a record has this form, then applies `more`. */
function record<V, K>(kind: StoredRecord, more: (walk: IntegrityWalk, value: V, key: K) => string | null): RowCheck {
  return (walk, value, key) => {
    const mismatch = storedRecordMismatch(kind, value);
    return mismatch === null ? more(walk, value, key) : `${mismatch.path || "the record"} ${mismatch.fault}`;
  };
}

/** A catalogue, or the count of its imports. */
function catalogueRow(kind: "verifiedBots" | "declaredBots" | "agentMarks"): RowCheck {
  return (walk: IntegrityWalk, value: unknown, key: string) => {
    if (key !== catalogueKeys.imports) return walk.checks[kind](value);
    return Number.isInteger(value) ? null : "is no count";
  };
}

const notIndexed = "is not among those of its account";

const leadsTo = (table: TableName, id: unknown): string => `leads to ${table} ${String(id)}, which leads elsewhere`;

/** The records of the table `alerting` by kind. */
const alertingRecords: Readonly<Record<number, StoredRecord>> = {
  [alertingKinds.alert]: "alert",
  [alertingKinds.channel]: "channel",
  [alertingKinds.incident]: "incident",
  [alertingKinds.delivery]: "delivery",
};

/** The check of a row for each table. */
export const rowChecks: Record<TableName, RowCheck> = {
  meta: (_, value: unknown, key: string) => {
    if (key === "schemaVersion" && value !== schemaVersion) return `is ${String(value)}, not ${schemaVersion}`;
    return Number.isSafeInteger(value) ? null : "is not a whole number";
  },
  revision: (_, value: Buffer) => (value.length === 8 && value.readDoubleLE(0) >= 0 ? null : "is not a revision"),
  accounts: record("account", (walk, { id, slug }: { id: number; slug: string }, key: number) => {
    if (id !== key) return `holds account ${id}`;
    return walk.get("slugs", slug) === id ? null : `slug "${slug}" does not lead back`;
  }),
  slugs: (walk, id: number, slug: string) =>
    walk.field("accounts", id, "slug") === slug ? null : leadsTo("accounts", id),
  users: record("user", (walk, { id, email }: { id: number; email: string }, key: number) => {
    if (id !== key) return `holds user ${id}`;
    // Users of several accounts may have the same one; it leads to the first.
    const first = walk.get("emails", email.toLowerCase()) as number | undefined;
    const isFound =
      first === id ||
      (first !== undefined && String(walk.field("users", first, "email")).toLowerCase() === email.toLowerCase());
    return isFound ? null : "its e-mail does not lead back";
  }),
  emails: (walk, id: number, email: string) =>
    String(walk.field("users", id, "email")).toLowerCase() === email ? null : leadsTo("users", id),
  memberships: record("membership", (walk, row: { accountId: number; userId: number }, key: [number, number]) => {
    if (row.accountId !== key[0] || row.userId !== key[1]) return `holds [${row.accountId},${row.userId}]`;
    return walk.missing("accounts", row.accountId) ?? walk.missing("users", row.userId);
  }),
  tokens: record("token", (walk, row: { id: number; accountId: number; userId: number; hash: string }, key: number) => {
    if (row.id !== key) return `holds token ${row.id}`;
    if (walk.get("tokenHashes", row.hash) !== row.id) return "its hash does not lead back";
    if (walk.get("accountRows", accountRowKey("token", row.accountId, key)) !== row.userId) return notIndexed;
    return walk.missing("accounts", row.accountId) ?? walk.missing("users", row.userId);
  }),
  tokenHashes: (walk, id: number, hash: string) =>
    walk.field("tokens", id, "hash") === hash ? null : leadsTo("tokens", id),
  tokenUses: (walk, atMs: number, id: number) =>
    Number.isSafeInteger(atMs) && atMs > 0 ? walk.missing("tokens", id) : "is no time",
  projects: record("project", (walk, row: ProjectRow, key: number) => {
    if (row.id !== key) return `holds project ${row.id}`;
    if ((row.siteKey === null) !== (row.privateKeyHash === null)) return "has one key of the two";
    for (const hash of [siteKeyHash(walk, row), row.privateKeyHash, ...oldHashes(row)]) {
      if (hash !== null && walk.field("keys", hash, "projectId") !== key) return "a key of it does not lead back";
    }
    if (walk.get("accountRows", accountRowKey("project", row.accountId, key)) === undefined) return notIndexed;
    return walk.missing("accounts", row.accountId);
  }),
  accountRows: (walk, _: number, [accountId, kind, id]: [number, number, number]) => {
    const table = kind === 1 ? "tokens" : "projects";
    return walk.field(table, id, "accountId") === accountId ? null : leadsTo(table, id);
  },
  keys: record("keyOwner", (walk, row: { projectId: number; kind: string }, hash: string) => {
    const project = walk.get("projects", row.projectId) as ProjectRow | undefined;
    if (project === undefined) return walk.missing("projects", row.projectId);
    const current = row.kind === "site" ? siteKeyHash(walk, project) : project.privateKeyHash;
    return current === hash || oldHashes(project).includes(hash)
      ? null
      : `is not the ${row.kind} key of project ${row.projectId}`;
  }),
  rules: record("rule", (walk, row: RuleRow, key: [number, number]) => {
    if (row.projectId !== key[0] || row.id !== key[1]) return `holds rule ${row.id} of project ${row.projectId}`;
    return walk.missing("projects", row.projectId) ?? walk.checks.ruleSource(row.expressionSource);
  }),
  exceptions: record("exception", (walk, row: { projectId: number; id: number }, key: [number, number]) => {
    if (row.projectId !== key[0] || row.id !== key[1]) return `holds exception ${row.id} of project ${row.projectId}`;
    return walk.missing("projects", row.projectId);
  }),
  blocks: record("block", (walk, row: BlockRow, key: [number, number]) => {
    if (row.projectId !== key[0] || row.id !== key[1]) return `holds block ${row.id} of project ${row.projectId}`;
    const name = keyOfBlock(row.projectId, row);
    if (name !== null && walk.get("namingRows", name) === undefined) return "is not among those of its session";
    return walk.missing("projects", row.projectId);
  }),
  audit: record("audit", (walk, row: AuditEntry, key: [number, number]) => {
    // Earlier versions had one log for all kinds.
    const isOfLog = key[0] === logNumberOf(row) || key[0] === row.accountId;
    if (!isOfLog || row.id !== key[1]) return `holds change ${row.id} of account ${row.accountId}`;
    if (row.accountId === accountOfServer) return null;
    return walk.missing("accounts", row.accountId);
  }),
  marks: record("mark", (walk, row: { projectId: number; sessionToken: string }, key: [number, string]) => {
    if (row.projectId !== key[0] || row.sessionToken !== key[1]) return `holds the mark of ${row.sessionToken}`;
    return walk.missing("projects", row.projectId);
  }),
  alerting: (walk, value: unknown, key: AlertingKey) => {
    const [projectId, kind, , id] = key;
    if (kind === alertingKinds.pending) return value === true ? null : "is not a mark";
    const name = alertingRecords[kind];
    if (name === undefined) return `is of kind ${kind}`;
    const mismatch = storedRecordMismatch(name, value);
    if (mismatch !== null) return `${mismatch.path || "the record"} ${mismatch.fault}`;
    const row = value as { id: number; projectId: number };
    if (row.id !== id || row.projectId !== projectId) return `holds row ${row.id} of project ${row.projectId}`;
    return walk.missing("projects", projectId);
  },
  baselines: (walk, rows: unknown, [projectId]: [number, number]) => {
    const isCount = (row: unknown): boolean => Array.isArray(row) && typeof row[0] === "string" && row[1] >= 0;
    return Array.isArray(rows) && rows.every(isCount) ? walk.missing("projects", projectId) : "is no list of counts";
  },
  usage: (walk, events: number, [accountId, month]: [number, string]) => {
    if (!Number.isSafeInteger(events) || events < 0) return "is not a count";
    walk.countUsage(accountId, month, events);
    return walk.missing("accounts", accountId);
  },
  traffic: record("traffic", (walk, row: { events: number }, [projectId, hour]: [number, number]) => {
    if (!Number.isSafeInteger(row.events) || row.events < 0) return "events is not a count";
    walk.countTraffic(projectId, hour, row.events);
    return walk.missing("projects", projectId);
  }),
  judged: (walk, value: Buffer, key: Buffer) =>
    key.length !== judgedKeyBytes || value.length === 0
      ? "has another length"
      : walk.missing("projects", key.readUInt32BE(0)),
  verifiedBots: catalogueRow("verifiedBots"),
  declaredBots: catalogueRow("declaredBots"),
  agentMarks: catalogueRow("agentMarks"),
  ipLists: (walk, value: unknown) => walk.checks.ipList(value),
  signedAgents: (walk, value: unknown, key: SignedAgentKey) =>
    key === signedAgentKeys.changes
      ? Number.isInteger(value)
        ? null
        : "is no count"
      : walk.checks.signedAgents(value, key),
  sessions: (walk, value: Buffer, key: Buffer) => {
    if (key.length !== sessionKeyBytes) return "key has another length";
    const session = decodeSession(value);
    if (session === null) return "record can't be decoded";
    const projectId = key.readUInt32BE(0);
    walk.countSession(projectId, session.state.firstSeenMs, session.state.eventCount);
    return walk.missing("projects", projectId) ?? walk.checks.features(session.features);
  },
  repeats: (walk, value: Buffer, key: Buffer) => {
    if (key.length !== sessionKeyBytes + 1 || value.length % 8 !== 0) return "is no list of hashes";
    return walk.get("sessions", Buffer.from(key.subarray(0, sessionKeyBytes))) === undefined ? "has no session" : null;
  },
  idempotency: (_, value: Buffer, key: Buffer) =>
    key.length === idempotencyKeyBytes && value.length === tokenBytes ? null : "has another length",
  namingRows: (walk, _: Buffer, key: Buffer) => {
    const named = namedRow(key);
    if (named === null) return "has another length";
    if ("contact" in named) return null;
    const isLed = walk.field("blocks", named.block, "sessionToken") === encodeSessionToken(named.token);
    return isLed ? null : leadsTo("blocks", named.block);
  },
  pathReuse: (_, value: Buffer, key: Buffer) => {
    const isWhole =
      key[4] === 0 ? value.length === 8 * pathReuseBucketSlots : value.length > 0 && value.length % 8 === 0;
    return isWhole ? null : "has another length";
  },
  trails: record("timeline", (walk, _: unknown, key: Buffer) =>
    walk.get("sessions", Buffer.from(key)) === undefined ? "has no session" : null,
  ),
  solvedChallenges: (_, value: Buffer, key: Buffer) =>
    key.length === solvedChallengeKeyBytes && value.length === 1 ? null : "has another length",
  blockTallies: (_, value: Buffer, key: Buffer) =>
    key.length === blockTallyKeyBytes && value.length === blockTallyBytes ? null : "has another length",
  mirror: (_, value: { revision?: unknown }, key: string) => {
    const isMark = isMigrationMark(key, value);
    if (isMark !== null) return isMark ? null : "is no mark of a migration";
    const isPosition = key === "position" && Number.isSafeInteger(value.revision);
    return isPosition ? null : "is no position in a cluster's configuration";
  },
  crossSessionCounts: (_, value: Buffer, key: Buffer) =>
    key.length === crossSessionKeyBytes && unpackCrossSessionCount(value) !== null ? null : "has another length",
};

interface ProjectRow {
  id: number;
  accountId: number;
  siteKey: string | null;
  privateKeyHash: string | null;
  oldKeys?: readonly { hash: string }[];
}

interface BlockRow {
  id: number;
  projectId: number;
  sessionToken: string | null;
}

interface RuleRow {
  id: number;
  projectId: number;
  expressionSource: string;
}

const oldHashes = ({ oldKeys = [] }: ProjectRow): string[] => oldKeys.map(({ hash }) => hash);

function siteKeyHash(walk: IntegrityWalk, project: ProjectRow): string | null {
  return project.siteKey === null ? null : walk.checks.hashSecret(project.siteKey);
}
