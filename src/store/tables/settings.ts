/** What accounts and operators set: rules, exceptions, catalogues, lists of addresses, alerts; and what the store keeps for itself. */
import type { Rule } from "../../contract/configuration/entities.js";
import type { Exception } from "../../contract/configuration/exceptions.js";
import type { IpListRecord } from "../../contract/configuration/ip-lists.js";
import type { IntegrityWalk } from "../integrity-checks.js";
import {
  type AlertingKey,
  alertingKinds,
  catalogueKeys,
  isMirroredMetaKey,
  type SignedAgentKey,
  signedAgentKeys,
} from "../keys.js";
import { isMigrationMark } from "../migration-mark.js";
import { formFault, type RowCheck, type RowForm, record, records, type StoredTable } from "../table.js";

/** Rules, exceptions, catalogues, lists, alerts, and rows of the store itself. */
export const settingTables = {
  meta: {
    name: "meta",
    key: "name",
    value: "schema version, id counters, session counts",
    form: records<number, string>(),
    holds: "version of the store, the latest ids, how many sessions a project has",
    until: "the store is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    isConfiguration: isMirroredMetaKey,
    check: (walk, value: unknown, key: string) => {
      if (key === "schemaVersion" && value !== walk.schemaVersion)
        return `is ${String(value)}, not ${walk.schemaVersion}`;
      return Number.isSafeInteger(value) ? null : "is not a whole number";
    },
  },
  revision: {
    name: "revision",
    key: "0",
    value: "f64, raised by every change of the control plane",
    form: { encoding: "binary", keyEncoding: "uint32" } as RowForm<Buffer, number>,
    holds: "how often the configuration was changed",
    until: "the store is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: { own: "each store has its own" },
    check: (_, value: Buffer) => (value.length === 8 && value.readDoubleLE(0) >= 0 ? null : "is not a revision"),
  },
  rules: {
    name: "rules",
    key: "[project id, rule id]",
    value: "Rule",
    form: records<Rule, [number, number]>(),
    holds: "a rule",
    until: "the rule or its project is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    check: record("rule", (walk, row: RuleRow, key: [number, number]) => {
      if (row.projectId !== key[0] || row.id !== key[1]) return `holds rule ${row.id} of project ${row.projectId}`;
      return walk.missing("projects", row.projectId) ?? walk.checks.ruleSource(row.expressionSource);
    }),
  },
  exceptions: {
    name: "exceptions",
    key: "[project id, exception id]",
    value: "Exception",
    form: records<Exception, [number, number]>(),
    holds: "an exception for a session, network, agent or key",
    until: "it expires or is removed; erased with the session that it is for",
    merge: "replaced",
    // Erased by a change of the configuration, on a cluster too.
    expiry: "kept",
    // Erased with a session by whoever erases it, as a change that reaches all nodes.
    ofSession: null,
    onCluster: "configuration",
    check: record("exception", (walk, row: { projectId: number; id: number }, key: [number, number]) => {
      if (row.projectId !== key[0] || row.id !== key[1]) return `holds exception ${row.id} of project ${row.projectId}`;
      return walk.missing("projects", row.projectId);
    }),
  },
  verifiedBots: catalogue("verifiedBots", "verified_bots", "the imported catalogue of crawlers"),
  declaredBots: catalogue("declaredBots", "declared_bots", "the imported catalogue of declared bots"),
  agentMarks: catalogue("agentMarks", "agent_marks", "the imported catalogue of marks of agents"),
  ipLists: {
    name: "ip_lists",
    key: "name",
    value: "IpListRecord",
    form: records<IpListRecord, string>(),
    holds: "an imported list of addresses",
    until: "the list is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    check: (walk, value: unknown) => walk.checks.ipList(value),
  },
  signedAgents: {
    name: "signed_agents",
    key: '"list"; "changes"; ["agent", url]; ["keys", url]; ["fetch", url]',
    value:
      "the imported list of agents; how many changes; SignedAgent added to the list, null: taken off it; AgentKeys; AgentFetch, the last one",
    form: records<unknown, SignedAgentKey>(),
    holds: "agents that sign their requests, and their public keys",
    until: "the agent is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    check: (walk, value: unknown, key: SignedAgentKey) =>
      key === signedAgentKeys.changes
        ? Number.isInteger(value)
          ? null
          : "is no count"
        : walk.checks.signedAgents(value, key),
  },
  alerting: {
    name: "alerting",
    key: "`AlertingKey`",
    value: "Alert, Channel, Incident, Delivery, or true",
    form: records<unknown, AlertingKey>(),
    holds: "alerts, where they are sent, incidents that were found, what was delivered",
    until: "it is removed; the latest incidents and deliveries, in number",
    merge: "replaced",
    // Bounded in number where they are written.
    expiry: "kept",
    ofSession: null,
    // Few rows, and every node has to know them: who is told of what, and what was.
    onCluster: "configuration",
    check: alertingFault,
  },
  baselines: {
    name: "baselines",
    key: "[project id, hour since the epoch]",
    value: "counts of that hour by value, the heavy ones",
    form: records<[key: string, count: number][], [number, number]>(),
    holds: "what a project's requests usually look like, by hour: counts of networks, agents, paths and the like",
    until: "the hours that a later hour is compared with are over: 4 weeks",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: { own: "what one host saw of its traffic" },
    check: (walk, rows: unknown, [projectId]: [number, number]) => {
      const isCount = (row: unknown): boolean => Array.isArray(row) && typeof row[0] === "string" && row[1] >= 0;
      return Array.isArray(rows) && rows.every(isCount) ? walk.missing("projects", projectId) : "is no list of counts";
    },
  },
  mirror: {
    name: "mirror",
    key: '"position"; "migration"',
    value: "of a cluster: what its configuration here is as of; to which cluster this store was copied",
    form: records<unknown, string>(),
    holds: "what this store is for a cluster",
    until: "the store is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: { own: "what this store is for clusters" },
    check: (_, value: { revision?: unknown }, key: string) => {
      const isMark = isMigrationMark(key, value);
      if (isMark !== null) return isMark ? null : "is no mark of a migration";
      const isPosition = key === "position" && Number.isSafeInteger(value.revision);
      return isPosition ? null : "is no position in a cluster's configuration";
    },
  },
} as const satisfies Record<string, StoredTable<never>>;

/** A table with one catalogue, and the count of its imports. */
function catalogue<const N extends string>(
  kind: "verifiedBots" | "declaredBots" | "agentMarks",
  name: N,
  holds: string,
) {
  const check: RowCheck = (walk: IntegrityWalk, value: unknown, key: string) => {
    if (key === catalogueKeys.retired) return walk.checks.retiredAgentMarks(value);
    if (key !== catalogueKeys.imports) return walk.checks[kind](value);
    return Number.isInteger(value) ? null : "is no count";
  };
  return {
    name,
    key: '"catalogue"; "imports"; "retired"',
    value: "the imported catalogue; how many imports; marks of agents alone: RetiredAgentMark[], the last one first",
    form: records<unknown, string>(),
    holds,
    until: "another one is imported",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    check,
  } as const;
}

interface RuleRow {
  id: number;
  projectId: number;
  expressionSource: string;
}

/** The records of the table `alerting` by kind. */
const alertingRecords = {
  [alertingKinds.alert]: "alert",
  [alertingKinds.channel]: "channel",
  [alertingKinds.incident]: "incident",
  [alertingKinds.delivery]: "delivery",
} as const;

function alertingFault(walk: IntegrityWalk, value: unknown, key: AlertingKey): string | null {
  const [projectId, kind, , id] = key;
  if (kind === alertingKinds.pending) return value === true ? null : "is not a mark";
  const name = (alertingRecords as Readonly<Record<number, (typeof alertingRecords)[keyof typeof alertingRecords]>>)[
    kind
  ];
  if (name === undefined) return `is of kind ${kind}`;
  const fault = formFault(name, value);
  if (fault !== null) return fault;
  const row = value as { id: number; projectId: number };
  if (row.id !== id || row.projectId !== projectId) return `holds row ${row.id} of project ${row.projectId}`;
  return walk.missing("projects", projectId);
}
