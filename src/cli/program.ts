/** The program `verdictd`: runs the command that was typed and turns outcomes into output and exit codes. */
import { migratedFault, mirrorFault, mirrorFileFault } from "../cluster-store/config/open-config.js";
import { faultLine } from "../cluster-store/fault-line.js";
import {
  checkCluster,
  describeCluster,
  type OpenedMirror,
  openingFault,
  openMirror,
} from "../cluster-store/open-cluster.js";
import { versionText } from "../server/version.js";
import { NumberTakenError } from "../store/failures.js";
import { openStoreAsIs } from "../store/open-store.js";
import { storeFileFault } from "../store/store-file.js";
import { type ChosenCluster, clusterOf } from "./cluster-choice.js";
import { type AnyCommand, isForCluster, type StoreCommand } from "./command.js";
import { serveCommand } from "./commands/serve.js";
import type { Given } from "./flag.js";
import {
  CommandFailure,
  exitCodes,
  keyLines,
  oneLine,
  print,
  printJson,
  say,
  sayingWaits,
  UsageFailure,
} from "./output.js";
import { buildParser, isWrongUsage, parsedWords } from "./parser.js";
import { folderOf, storeFolder } from "./store-folder.js";
import { followParent, runWithAnotherNumber } from "./with-another-number.js";

async function run(command: AnyCommand, given: Given): Promise<void> {
  if ("runProcess" in command) return command.runProcess(given);
  const cluster = isForCluster(command) ? clusterOf(given) : null;
  const dataDir = command.createsStore === true || cluster !== null ? folderOf(given) : storeFolder(given);
  await runOnStore(command, { ...given, "data-dir": dataDir }, dataDir, cluster);
}

async function runOnStore(
  command: StoreCommand,
  given: Given,
  dataDir: string,
  cluster: ChosenCluster | null,
): Promise<void> {
  command.checkGiven?.(given);
  const fault = cluster === null ? storeFileFault(dataDir) : mirrorFileFault(dataDir);
  if (fault !== null) throw new CommandFailure(fault);
  const { opened, close } = await openFor(command, dataDir, cluster);
  try {
    const result =
      cluster !== null && "client" in opened && typeof command.onCluster === "function"
        ? await command.onCluster(opened, given, cluster)
        : await command.run(opened.store, given);
    if (given["json"] === undefined) print(command.show?.(result, given) ?? keyLines(result));
    else printJson(command.json?.(result) ?? result);
    const failure = command.failure?.(result) ?? null;
    if (failure !== null) throw new CommandFailure(failure);
  } finally {
    await close();
  }
}

interface Opened {
  readonly opened: OpenedMirror | Pick<OpenedMirror, "store">;
  close(): Promise<void>;
}

/** The store; where a cluster was named, its mirror in the folder, up to date. */
async function openFor(command: StoreCommand, dataDir: string, cluster: ChosenCluster | null): Promise<Opened> {
  if (cluster !== null) {
    const onWait = sayingWaits(`the cluster at ${describeCluster(cluster)}`);
    if (command.createsStore === true) {
      for (const warning of await checkCluster(cluster, onWait)) say(`warning: ${warning}`);
    }
    const opened = await openMirror({ ...cluster, dataDir }, { onWait }).catch(async (error: unknown) => {
      throw await openingFault(error, cluster, onWait);
    });
    return { opened, close: opened.close };
  }
  const store = openStoreAsIs(dataDir);
  const faultNow = (): string | null => (command.worksOnMigrated === true ? null : migratedFault(store));
  const fault = mirrorFault(store, isForCluster(command)) ?? faultNow();
  if (fault !== null) {
    await store.close();
    throw new CommandFailure(fault);
  }
  // The last step of a migration may begin while this command runs.
  store.root.guardWrites(() => {
    const fault = faultNow();
    if (fault !== null) throw new CommandFailure(fault);
  });
  return { opened: { store }, close: () => store.close() };
}

/** The exit code for what was thrown, which is said on stderr. */
function exitCodeOf(error: unknown): number {
  if (error instanceof UsageFailure) {
    say(error.message);
    return exitCodes.usage;
  }
  const isUsage = isWrongUsage(error);
  if (isUsage !== null) return isUsage ? exitCodes.usage : exitCodes.done;
  const message = oneLine(faultLine(error) ?? (error instanceof Error ? error.message : String(error)));
  say(message);
  return exitCodes.failed;
}

/** Runs the command of this process's arguments to its end; what `serve` starts lives on. Never rejects: the process's exit code tells. */
export async function runProgram(): Promise<void> {
  // Whatever this process makes (store, lock files, copies, sockets) is its owner's alone, by whichever library it is made.
  process.umask(0o077);

  // A reader that has seen enough (`verdictd verified-bots list | head`) is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(exitCodes.done);
  });

  followParent();

  try {
    const words = process.argv.slice(2);
    // A server needs no other command, and it starts in less time without them.
    const commands = words[0] === "serve" ? [serveCommand] : (await import("./commands.js")).commands;
    await buildParser(commands, versionText(), run).parseAsync(parsedWords(commands, words), {
      from: "user",
    });
  } catch (error) {
    const code = error instanceof NumberTakenError ? await runWithAnotherNumber() : null;
    process.exitCode = code ?? exitCodeOf(error);
  }
}
