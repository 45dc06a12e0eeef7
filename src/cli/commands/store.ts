/** `verdictd backup`, `check`, `stats` and `rescore`: the store as a whole. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { checkRows } from "../../cluster-store/check/cluster-check.js";
import { lookAtCluster, unfit } from "../../cluster-store/open-cluster.js";
import { rewriteSessions } from "../../cluster-store/sessions/rewrite-sessions.js";
import { rescored, rescoreSessions } from "../../control-plane/upkeep/rescore.js";
import { storeStatistics } from "../../control-plane/upkeep/store-statistics.js";
import { printableLine } from "../../runtime/printable.js";
import { backupConfiguration, backupStore } from "../../store/backup.js";
import type { IntegrityFault, IntegrityReport } from "../../store/integrity.js";
import type { Store } from "../../store/store.js";
import { storeFile } from "../../store/store-file.js";
import type { StoreCommand } from "../command.js";
import { textOf } from "../given.js";
import { columns, say } from "../output.js";
import { progressBar } from "../progress.js";

const backup: StoreCommand = {
  name: "backup",
  help: "copy the store while it is in use (of a cluster, its configuration); the copy is a complete --data-dir",
  worksOnMigrated: true,
  positionals: [{ name: "DIR", help: "folder for the copy: empty, or created" }],
  run: async (store, given) => {
    const directory = resolve(textOf(given, "DIR"));
    const { bytes } = await backupStore(store, directory, progressBar("backup", given["json"] === undefined));
    return { directory, bytes };
  },
  onCluster: async ({ store, mirror }, given) => {
    const directory = resolve(textOf(given, "DIR"));
    await mirror.catchUp();
    const { bytes } = await backupConfiguration(store, directory);
    return { directory, bytes };
  },
};

/** Not loaded by other commands: it needs the list of public suffixes, which would take a server a tenth of its start. */
const storeCheck = () => import("../../control-plane/upkeep/store-check.js");

interface CheckReport {
  readonly ok: boolean;
  readonly rows: Readonly<Record<string, number>>;
  readonly fault_count: number;
  readonly faults: readonly IntegrityFault[];
}

function checkReport({ rows, faultCount, faults }: IntegrityReport): CheckReport {
  return { ok: faultCount === 0, rows, fault_count: faultCount, faults };
}

const check: StoreCommand<CheckReport> = {
  name: "check",
  help: "read every row of the store and report errors",
  worksOnMigrated: true,
  run: async (store, given) => {
    const { checkStore } = await storeCheck();
    const bar = progressBar("check", given["json"] === undefined);
    return checkReport(checkStore(store, bar));
  },
  onCluster: async (cluster, given, choice) => {
    const { checkStore, storeChecks } = await storeCheck();
    const report = await checkRows({
      cluster,
      features: storeChecks.features,
      configuration: () => checkStore(cluster.store),
      onProgress: progressBar("check", given["json"] === undefined),
    });
    const looked = await lookAtCluster(choice);
    for (const warning of looked.warnings) say(`warning: ${warning}`);
    const faults = [...looked.faults.map((fault) => ({ table: "cluster", key: "", fault })), ...report.faults];
    return checkReport({ ...report, faults, faultCount: report.faultCount + looked.faults.length });
  },
  show: ({ rows, fault_count, faults }) =>
    [
      columns(Object.entries(rows).map(([table, count]) => [table, String(count)])),
      `\n${fault_count} faults`,
      ...faults.map(({ table, key, fault }) => printableLine(`${table} ${key}: ${fault}`)),
    ].join("\n"),
  failure: ({ fault_count }) => (fault_count === 0 ? null : `the store has ${fault_count} faults`),
};

async function statsOf(store: Store, storeBytes: number): Promise<object> {
  const { schemaVersion, eventsThisMonth, month, ...counts } = await storeStatistics(store, Date.now());
  return {
    ...counts,
    month,
    events_this_month: eventsThisMonth,
    store_bytes: storeBytes,
    schema_version: schemaVersion,
  };
}

const stats: StoreCommand = {
  name: "stats",
  help: "show counts and sizes; on a cluster, the memory of its masters",
  worksOnMigrated: true,
  run: (store, given) => statsOf(store, statSync(storeFile(textOf(given, "data-dir"))).size),
  onCluster: async ({ store }, _, choice) => {
    const { nodes, isMixed, faults } = await lookAtCluster(choice);
    // The sizes would be those of one cluster, and the counts perhaps of the other.
    if (isMixed) throw unfit(choice, faults);
    const masters = nodes.filter(({ role }) => role === "master");
    return statsOf(
      store,
      masters.reduce((sum, { usedMemory }) => sum + usedMemory, 0),
    );
  },
};

const rescore: StoreCommand = {
  name: "rescore",
  help: "score every stored session again with the current detections",
  run: (store, given) => rescoreSessions(store, progressBar("rescore", given["json"] === undefined)),
  onCluster: async ({ store, client }, given, { storeAcks: acks }) => {
    const projectIds = [...store.projects.getKeys({})];
    const total = (await store.remoteSessions?.count(projectIds)) ?? 0;
    const onProgress = progressBar("rescore", given["json"] === undefined);
    return rewriteSessions({ client, acks, projectIds, change: rescored, total, onProgress });
  },
};

/** Backup, check, rescore and stats, beside a running server. */
export const storeCommands: readonly StoreCommand[] = [backup, check, rescore, stats];
