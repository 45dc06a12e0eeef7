/** `verdictd serve`: runs the server until SIGTERM or SIGINT. */

import { mirrorFileFault } from "../../cluster-store/config/open-config.js";
import { faultLine } from "../../cluster-store/fault-line.js";
import {
  bytesOfMib,
  type GivenFlags,
  readServeConfig,
  type ServeConfig,
  unknownVariables,
} from "../../config/config.js";
import { memoryBound } from "../../config/machine.js";
import { memoryOf } from "../../config/memory.js";
import { createFirstAccount } from "../../control-plane/accounts/first-account.js";
import { endTestKeys, startTestKeys } from "../../control-plane/accounts/test-projects.js";
import { Refusal } from "../../errors.js";
import { limits } from "../../limits.js";
import { isLoopbackHost } from "../../net/loopback.js";
import { urlHost } from "../../net/url-host.js";
import { tuneGarbageCollection } from "../../runtime/garbage-collection.js";
import type { Logger } from "../../runtime/log.js";
import { endOnFault } from "../../server/end-on-fault.js";
import { createLog, type RunningServer } from "../../server/http-thread.js";
import { startServers } from "../../server/serve.js";
import { NumberTakenError, StoreError } from "../../store/failures.js";
import { openToOthers } from "../../store/folder.js";
import { storeFileFault } from "../../store/store-file.js";
import type { ProcessCommand } from "../command.js";
import type { Given } from "../flag.js";
import { CommandFailure, exitCodes, oneLine, UsageFailure } from "../output.js";
import { serveFlags } from "../serve-flags.js";

/**
 * Resolves once the server listens and its greeting is printed; what keeps the process alive is the server. Fails on a bad configuration
 * or data folder.
 */
export const serveCommand: ProcessCommand = {
  name: "serve",
  help: "run the server",
  flags: serveFlags,
  runProcess: async (given) => {
    const { config, notes } = readConfig(given);
    const isOfHost = config.store === "";
    const fault = isOfHost ? storeFileFault(config.dataDir) : mirrorFileFault(config.dataDir);
    if (fault !== null) throw isOfHost ? new CommandFailure(fault) : startFailure(new StoreError(fault));
    tuneGarbageCollection();
    const log = createLog(config.logLevel);
    const stopping = new AbortController();
    const starting = startServers(config, log, {}, stopping.signal);
    for (const line of [...notes, ...unknownVariables(process.env)]) log.warn(line);
    stopOnSignal(starting, stopping, log, config.drainSeconds * 1000 + limits.stopMsMax);
    const server = await starting.catch((error: unknown) => {
      // Told to stop before it could listen: that is no failure.
      if (error === stopping.signal.reason) return null;
      throw isOfHost || error instanceof NumberTakenError ? error : startFailure(error);
    });
    if (server === null) return;
    endOnFault(log);
    const open = openToOthers(config.dataDir);
    if (open !== null) {
      log.warn(
        { dataDir: config.dataDir, ...open },
        "users other than the owner can enter the data folder: run chmod 700 on it",
      );
    }
    const address = `${config.tlsCert === "" ? "http" : "https"}://${urlHost(config.host)}:${server.port}`;
    // First, so that whoever reads "listening" finds a demo that has its site key.
    const greeting = config.demo || config.testKeys ? await welcome(server, address, config) : "";
    await useTestKeys(server, config, log);
    const page = `${address}/console`;
    sayMemory(config, log);
    log.info({ host: config.host, port: server.port, dataDir: config.dataDir, console: page }, "listening");
    warnOfOpenDoors(config, log);
    if (server.accounts.isEmpty) log.warn(noAccount(config));
    if (greeting !== "") console.log(greeting);
  },
};

/** Why a node could not start, as a line of the log: what it found in the cluster may stand there already. */
function startFailure(error: unknown): CommandFailure {
  const reason = oneLine(faultLine(error) ?? (error instanceof Error ? error.message : String(error)));
  const time = new Date().toISOString();
  return new CommandFailure(JSON.stringify({ level: "fatal", time, pid: process.pid, reason, msg: "could not start" }));
}

/** Nothing can be asked of a server without an account. */
function noAccount({ store, dataDir }: ServeConfig): string {
  // Without the URL itself, which may hold a password.
  const where = store === "" ? `--data-dir ${dataDir}` : "--store URL";
  return `there is no account yet, so that nothing can be sent or asked: create the first one with \`verdictd init ${where}\``;
}

/** What this configuration leaves open that an operator may not expect. */
function warnOfOpenDoors(config: ServeConfig, log: ReturnType<typeof createLog>): void {
  const { strictAbilities, demo, host, adminHost, adminToken } = config;
  if (!strictAbilities) {
    log.warn(
      "abilities of account tokens are not enforced for changes of scoring and rules: any token of an owner, admin or member may " +
        "make them; --strict-abilities requires projects:write",
    );
  }
  if (demo && !isLoopbackHost(host)) {
    log.warn(
      { host },
      "--demo shows anybody who can reach this address the verdict of a session whose token they have",
    );
  }
  if (adminToken === "" && !isLoopbackHost(adminHost)) {
    log.warn(
      { adminHost },
      "anybody who can reach the admin address can read the metrics: --admin-token requires a token",
    );
  }
}

/** The configuration, and what to say of it, or a `UsageFailure` that lists every mistake of flags, variables and files. */
function readConfig(given: Given): { readonly config: ServeConfig; readonly notes: readonly string[] } {
  const read = readServeConfig(given as GivenFlags, process.env);
  if ("mistakes" in read) throw new UsageFailure(read.mistakes.join("\n"));
  return read;
}

/**
 * The first SIGTERM or SIGINT stops gracefully, once the start is over; a second one of either exits at once, and so does the end of
 * `msMax`.
 */
function stopOnSignal(
  starting: Promise<RunningServer>,
  stopping: AbortController,
  log: ReturnType<typeof createLog>,
  msMax: number,
): void {
  let isStopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isStopping) process.exit(exitCodes.failed);
    isStopping = true;
    log.info({ signal }, "stopping");
    stopping.abort();
    setTimeout(() => {
      log.fatal("not stopped in time: ending the process now");
      // An orderly exit would wait for a thread that hangs.
      process.kill(process.pid, "SIGKILL");
    }, msMax).unref();
    // A start that fails says so itself.
    const stop = async (): Promise<void> => (await starting.catch(() => null))?.stop();
    stop().then(
      () => log.info("stopped"),
      (err: unknown) => {
        log.error({ err }, "could not stop cleanly");
        process.exit(exitCodes.failed);
      },
    );
  };
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
}

/** Where to go; on an empty store a first account with scoring enabled too, whose credentials are shown this once. */
async function welcome(server: RunningServer, address: string, { demo }: ServeConfig): Promise<string> {
  const made = await createFirstAccount(server.accounts, server.projects);
  if (!demo && made instanceof Refusal) return "";
  const lines = [
    ...(demo ? [`demo            ${address}/demo`] : []),
    `console         ${address}/console`,
    `documentation   ${address}/docs`,
  ];
  if (!(made instanceof Refusal)) {
    const enabled = await server.projects.enableScoring(made.projectId);
    if (!(enabled instanceof Refusal)) {
      lines.push(
        `account token   ${made.accountToken}`,
        `project         ${made.projectId}`,
        `site key        ${enabled.siteKey}`,
        `private key     ${enabled.privateKey}`,
        "The account token and the private key are shown only once: store them.",
      );
    }
  }
  return `\n${lines.join("\n")}\n`;
}

/** Lets test keys work where they are asked for, and ends those of an earlier start where not. */
async function useTestKeys(
  { accounts, projects, store }: RunningServer,
  config: ServeConfig,
  log: Logger,
): Promise<void> {
  // On a cluster there are none: a node starts also while the cluster can't be written.
  if (config.store !== "") return;
  const [first] = accounts.all();
  if (!config.testKeys || first === undefined) return endTestKeys(store, Date.now);
  const pairs = await startTestKeys(store, projects, first.id, Date.now);
  if (pairs instanceof Refusal) throw new CommandFailure(`--test-keys: ${pairs.message}`);
  log.warn(
    { keys: pairs.map(({ siteKey, privateKey, projectId }) => ({ siteKey, privateKey, projectId })) },
    "test keys work: whoever uses them gets the same answer whatever the visitor does; never in production",
  );
}

/** Says what the process stays below, and warns when its control group gives it less. */
function sayMemory(config: ServeConfig, log: Logger): void {
  const { mib, sum } = memoryOf(config);
  const bound = memoryBound();
  log.info({ memoryMib: mib, sum }, "private memory stays below this, in MiB");
  if (bound !== null && bound < bytesOfMib(mib)) {
    log.warn(
      { memoryMib: mib, boundMib: Math.floor(bound / bytesOfMib(1)) },
      "the control group of the process has less memory than it may use: lower --http-threads, --scoring-threads, --verdict-cache-mb or --queue-mb",
    );
  }
}
