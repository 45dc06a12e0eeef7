/** `verdictd store migrate` and `store reopen`: from the store of a single host to a cluster, and back to it. */

import { resolve } from "node:path";
import { type MigrationReport, migrateToCluster, stillServed } from "../../cluster-store/migration/open-migration.js";
import type { ServeFlag } from "../../config/config.js";
import { isServed } from "../../live/running.js";
import { StoreError } from "../../store/failures.js";
import { changeMigrationMark, type MigrationMark, migrationMark } from "../../store/migration-mark.js";
import { flagsOf, givenOptions, reachFlags } from "../cluster-choice.js";
import type { StoreCommand } from "../command.js";
import type { Given } from "../flag.js";
import { textOf } from "../given.js";
import { CommandFailure, columns, say, sayingWaits, UsageFailure } from "../output.js";
import { progressBar } from "../progress.js";

const ownFlags = [
  ...reachFlags,
  ...(["store-acks", "store-durable", "session-days", "block-days", "stats-days"] as const),
];

/** The cluster as `--to` names it, or as `serve` names its store; and these other options of `serve`. */
function clusterOptions(given: Given, names: readonly ServeFlag[]) {
  const { to, ...others } = given;
  return givenOptions(to === undefined ? others : { ...others, store: to }, ["store", ...names]);
}

/** The target, and the rest as `serve` has it. */
function targetOf(given: Given) {
  const options = clusterOptions(given, ownFlags);
  if (options.store === "") throw new UsageFailure("--to is required: the URL of the cluster (or VERDICTD_STORE)");
  return options;
}

/** Copies what has changed since the last run. `--final` fails while a server uses the store. SIGINT ends it; another run goes on. */
export const migrateCommand: StoreCommand<MigrationReport> = {
  name: "store migrate",
  help: "copy a single host's store to a cluster while it serves; --final compares every row and opens the cluster",
  flags: [
    { name: "to", placeholder: "URL", help: "the cluster, as --store of serve (VERDICTD_STORE, VERDICTD_STORE_FILE)" },
    {
      name: "final",
      help: "the last step, once no server uses the store any more; until it ends, none can start, and nothing can be changed",
    },
    { name: "anew", help: "copy to another cluster than before" },
    ...flagsOf(ownFlags),
  ],
  onCluster: "refused",
  // What it does to a store that was migrated it says itself.
  worksOnMigrated: true,
  checkGiven: (given) => void targetOf(given),
  run: async (store, given) => {
    const options = targetOf(given);
    const isFinal = given["final"] !== undefined;
    const dataDir = textOf(given, "data-dir");
    const refuseServed = async (): Promise<void> => {
      if (!(await isServed(dataDir))) return;
      throw new CommandFailure(`a server still uses ${resolve(dataDir)}: stop it, then run this again`);
    };
    if (isFinal) await refuseServed();
    let isInterrupted = false;
    const interrupt = (): void => {
      isInterrupted = true;
    };
    process.on("SIGINT", interrupt);
    const bar = progressBar("migrate", given["json"] === undefined);
    try {
      return await migrateToCluster(store, {
        ...options,
        isFinal,
        isAnew: given["anew"] !== undefined,
        refuseServed,
        onWarning: (warning) => say(`warning: ${warning}`),
        onWait: sayingWaits("the cluster"),
        onProgress: (done, total) => {
          if (isInterrupted) throw new CommandFailure("interrupted: nothing is lost, run it again to continue");
          bar(done, total);
        },
      });
    } finally {
      process.off("SIGINT", interrupt);
    }
  },
  json: reportOf,
  show: (report) => `${columns(rowsOf(report))}\n\n${outcomeOf(report)}`,
};

function reportOf(report: MigrationReport): object {
  return {
    cluster: report.cluster,
    passes: report.passes,
    sessions: report.sessions,
    copied: report.copied,
    removed: report.removed,
    configuration_rows: report.configuration,
    idempotency_keys: report.idempotencyKeys,
    months: report.months,
    hours: report.hours,
    path_rows: report.paths,
    log_rows: report.recordedRows,
    finished: report.isFinished,
  };
}

/** The report for people: what each number counts. */
function rowsOf(report: MigrationReport): string[][] {
  const rows: [number, string][] = [
    [report.sessions, "sessions are in the cluster, as they are here"],
    [report.copied, "of them were new or had changed, and were written"],
    [report.removed, "sessions were removed from the cluster: they are gone here"],
    [report.passes, report.passes === 1 ? "pass over all sessions" : "passes over all sessions"],
    [report.configuration, "rows of configuration: accounts, keys, rules, lists"],
    [report.idempotencyKeys, "idempotency keys that still count"],
    [report.months, "counts of events by account and month"],
    [report.hours, "counts of a project's hour"],
    [report.paths, "parts of the index of pointer paths"],
    [report.recordedRows, "recorded rows: blocks, marks, timelines, changes of the configuration"],
  ];
  const shown = report.passes === 0 ? [] : rows;
  return [["cluster", report.cluster], ...shown.map(([count, what]) => [String(count), what])];
}

function outcomeOf({ isFinished, passes }: MigrationReport): string {
  if (!isFinished) return nextStep;
  return `${passes === 0 ? foundOpen : compared}\n${finished}`;
}

const nextStep = `The store was copied while in use. Run this again as often as you like: it copies what has changed since.
When you are ready: stop the servers of this store, run it once more with --final, then start them with --store.`;

const compared = "Every row was compared and is the same.";
const foundOpen = "An earlier run has compared every row and opened the cluster, and ended before it could say so.";

const finished = `Start the servers with --store and an empty --data-dir: tokens stay valid.
This store refuses to be served or changed from now on; \`verdictd store reopen\` takes it back into use.`;

/**
 * Takes a store back into use that was migrated with `--final`, or whose last step was killed; fails for any other, and while nodes serve the cluster.
 */
export const reopenCommand: StoreCommand = {
  name: "store reopen",
  help: "use a store again that was migrated to a cluster, or whose --final was killed; it lacks what the cluster has recorded since",
  flags: [
    {
      name: "to",
      placeholder: "URL",
      help: "the cluster, if its address has changed (VERDICTD_STORE, VERDICTD_STORE_FILE); the user is remembered, the password is not",
    },
    { name: "yes", help: "reopen it even if the cluster can't be asked whether nodes still serve it" },
    ...flagsOf(reachFlags),
  ],
  onCluster: "refused",
  worksOnMigrated: true,
  checkGiven: (given) => void clusterOptions(given, reachFlags),
  run: async (store, given) => {
    const mark = migrationMark(store);
    if (mark === null || (mark.doneAt === null && (mark.final ?? null) === null)) {
      throw new CommandFailure(`the store in ${resolve(textOf(given, "data-dir"))} was not migrated with --final`);
    }
    // A last step that was killed before it opened the cluster has let no node in.
    if (mark.doneAt !== null || mark.final?.isOpening === true) await refuseNodes(mark, given);
    await changeMigrationMark(store, (now) => ({ ...(now ?? mark), doneAt: null, final: null }));
    return { migrated_to: mark.name ?? mark.cluster, migrated_at: mark.doneAt };
  },
  show: () =>
    "The store is in use again. Don't start nodes of the cluster any more: two stores would go on with the same keys.",
};

/** Fails while nodes serve the cluster of this mark and, without `--yes`, when it can't be asked. */
async function refuseNodes(mark: MigrationMark, given: Given): Promise<void> {
  const served = await stillServed(mark, clusterOptions(given, reachFlags), sayingWaits("the cluster")).catch(
    (error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
      const unknown = `it can't be told whether nodes still serve the cluster: ${error.message}`;
      if (given["yes"] === undefined) {
        throw new CommandFailure(`${unknown}; once all of them are stopped, --yes reopens the store all the same`);
      }
      say(`warning: ${unknown}`);
      return null;
    },
  );
  if (served !== null) throw new CommandFailure(served);
}
