/** `verdictd store migrate`: from the store of a single host to a cluster. */
import { resolve } from "node:path";
import { type MigrationReport, migrateToCluster } from "../../cluster-store/open-migration.js";
import { isServed } from "../../live/running.js";
import { flagsOf, optionsOf } from "../cluster-choice.js";
import type { Given, StoreCommand } from "../command.js";
import { textOf } from "../given.js";
import { CommandFailure, keyLines, say, UsageFailure } from "../output.js";
import { progressBar } from "../progress.js";

const ownFlags = ["engine-acks", "engine-durable", "session-days", "block-days", "stats-days"] as const;

/** The target, and the rest as `serve` has it: named by `--to`, or as `serve` names its store. */
function targetOf(given: Given) {
  const { to, ...others } = given;
  const options = optionsOf(to === undefined ? others : { ...others, store: to }, ["store", ...ownFlags]);
  if (options.store === "") throw new UsageFailure("--to is required: the URL of the cluster (or VERDICTD_STORE)");
  return options;
}

/** Copies what has changed since the last run. `--final` fails while a server uses the store. SIGINT ends it; another run goes on. */
export const migrateCommand: StoreCommand<MigrationReport> = {
  name: "store migrate",
  help: "copy a single host's store to a cluster while it serves; --final compares all of it and opens the cluster",
  flags: [
    { name: "to", placeholder: "URL", help: "the cluster, as --store of serve (VERDICTD_STORE, VERDICTD_STORE_FILE)" },
    { name: "final", help: "the last step, once no server uses the store any more" },
    { name: "anew", help: "copy to another cluster than before" },
    ...flagsOf(ownFlags),
  ],
  isOfSingleHost: true,
  checkGiven: (given) => void targetOf(given),
  run: async (store, given) => {
    const options = targetOf(given);
    const isFinal = given["final"] !== undefined;
    const dataDir = textOf(given, "data-dir");
    if (isFinal && (await isServed(dataDir))) {
      throw new CommandFailure(`a server still uses ${resolve(dataDir)}: stop it, then run this again`);
    }
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
        onWarning: (warning) => say(`warning: ${warning}`),
        onProgress: (done, total) => {
          if (isInterrupted) throw new CommandFailure("interrupted: nothing is lost, run it again to go on");
          bar(done, total);
        },
      });
    } finally {
      process.off("SIGINT", interrupt);
    }
  },
  json: reportOf,
  show: (report) => `${keyLines(reportOf(report))}\n\n${report.isFinished ? finished : nextStep}`,
};

function reportOf(report: MigrationReport): object {
  return {
    cluster: report.cluster,
    passes: report.passes,
    sessions: report.sessions,
    copied: report.copied,
    removed: report.removed,
    changing: report.changing,
    configuration_rows: report.configuration,
    idempotency_keys: report.idempotencyKeys,
    months: report.months,
    hours: report.hours,
    path_rows: report.paths,
    log_rows: report.logs,
    finished: report.isFinished,
  };
}

const nextStep = `The store was copied while it is in use. Run this again as often as you like: it copies what has changed since.
When you are ready: stop the servers of this store, run it once more with --final, then start them with --store.`;

const finished = `Every row was compared and is the same. Start the servers with --store and an empty --data-dir: tokens stay valid.`;
