/** `verdictd backup`, `check`, `stats` and `rescore`: the store as a whole. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { rescoreSessions } from "../../control-plane/rescore.js";
import { checkStore } from "../../control-plane/store-check.js";
import { storeStatistics } from "../../control-plane/store-statistics.js";
import { printableLine } from "../../printable.js";
import { backupStore } from "../../store/backup.js";
import type { IntegrityFault } from "../../store/integrity.js";
import { storeFile } from "../../store/store-file.js";
import type { StoreCommand } from "../command.js";
import { textOf } from "../given.js";
import { columns } from "../output.js";
import { progressBar } from "../progress.js";

const backup: StoreCommand = {
  name: "backup",
  help: "copy the store while it is in use; the copy is a complete --data-dir",
  positionals: [{ name: "DIR", help: "folder for the copy: empty, or created" }],
  run: async (store, given) => {
    const directory = resolve(textOf(given, "DIR"));
    const { bytes } = await backupStore(store, directory, progressBar("backup", given["json"] === undefined));
    return { directory, bytes };
  },
};

interface CheckReport {
  readonly ok: boolean;
  readonly rows: Readonly<Record<string, number>>;
  readonly fault_count: number;
  readonly faults: readonly IntegrityFault[];
}

const check: StoreCommand<CheckReport> = {
  name: "check",
  help: "read every row of the store and report what is wrong with it",
  run: async (store, given) => {
    const bar = progressBar("check", given["json"] === undefined);
    const { rows, faultCount, faults } = checkStore(store, bar);
    return { ok: faultCount === 0, rows, fault_count: faultCount, faults };
  },
  show: ({ rows, fault_count, faults }) =>
    [
      columns(Object.entries(rows).map(([table, count]) => [table, String(count)])),
      `\n${fault_count} faults`,
      ...faults.map(({ table, key, fault }) => printableLine(`${table} ${key}: ${fault}`)),
    ].join("\n"),
  failure: ({ fault_count }) => (fault_count === 0 ? null : `the store has ${fault_count} faults`),
};

const stats: StoreCommand = {
  name: "stats",
  help: "counts and sizes",
  run: async (store, given) => {
    const { schemaVersion, eventsThisMonth, month, ...counts } = storeStatistics(store, Date.now());
    return {
      ...counts,
      month,
      events_this_month: eventsThisMonth,
      store_bytes: statSync(storeFile(textOf(given, "data-dir"))).size,
      schema_version: schemaVersion,
    };
  },
};

const rescore: StoreCommand = {
  name: "rescore",
  help: "score every stored session again with the current detections",
  run: (store, given) => rescoreSessions(store, progressBar("rescore", given["json"] === undefined)),
};

/** Backup, check, rescore and stats, beside a running server. */
export const storeCommands: readonly StoreCommand[] = [backup, check, rescore, stats];
