/** The shape of the command table: a command is one row; parsing, help and exit codes derive from it. */
import type { OpenedMirror } from "../cluster-store/open-cluster.js";
import type { Store } from "../store/store.js";
import { type ChosenCluster, clusterFlags } from "./cluster-choice.js";
import type { Flag, Given } from "./flag.js";

/** An argument by its place. `name` is as the help shows it, and its key in `Given`. */
export interface Positional {
  readonly name: string;
  readonly help: string;
  readonly values?: readonly string[];
}

/** What both kinds of command have: enough for help, parsing and completion. */
interface Command {
  /** As typed: `account create`. */
  readonly name: string;
  readonly help: string;
  /** Positional arguments, all required. */
  readonly positionals?: readonly Positional[];
  readonly flags?: readonly Flag[];
}

/**
 * "same": it runs on the node's store as on a single host's. Right for what touches the configuration alone, or sessions by means that know
 * clusters (`store.remoteSessions`). "refused": it has no such flags, and works on a single host alone. A function: how it works there.
 */
type OnCluster<R> = "same" | "refused" | ((cluster: OpenedMirror, given: Given, choice: ChosenCluster) => Promise<R>);

/** A command that works on the store, beside a running server if there is one. Returns what `--json` prints. */
export interface StoreCommand<R extends object = object> extends Command {
  /** Whether it makes a store where there is none; the others refuse, so that a mistyped folder is noticed. */
  readonly createsStore?: boolean;
  /** What it does on a cluster. A folder that mirrors a cluster which was not named is refused in any case. */
  readonly onCluster: OnCluster<R>;
  /** Whether it works on a store that was migrated to a cluster, too: what changes nothing of its rows does. Default: false. */
  readonly worksOnMigrated?: boolean;
  /** Throws a `UsageFailure` for flags that can't be; called before a store is made or opened. */
  checkGiven?(given: Given): void;
  run(store: Store, given: Given): Promise<R>;
  /** What `--json` prints; default: the result. */
  json?(result: R): object;
  /** Lines for people; default: a line a key. */
  show?(result: R, given: Given): string;
  /** Why a result that was printed is a failure all the same (exit code 1), or null. */
  failure?(result: R): string | null;
}

/** `serve` and the like: runs until it is told to stop. */
export interface ProcessCommand extends Command {
  readonly runProcess: (given: Given) => Promise<void>;
}

/** A row of the command table; `runProcess` tells the second kind. */
export type AnyCommand = StoreCommand | ProcessCommand;

/** Of every command that works on the store. */
export const dataDirFlag: Flag = {
  name: "data-dir",
  placeholder: "DIR",
  help: "folder of the store (VERDICTD_DATA_DIR, default ./data)",
};
/** Of every command on the store, and of those others that can print JSON. */
export const jsonFlag: Flag = { name: "json", help: "print one JSON value" };

/** A command's own flags, and those that every command on the store has. */
export function allFlagsOf(command: AnyCommand): readonly Flag[] {
  const own = command.flags ?? [];
  if ("runProcess" in command) return own;
  return [...own, dataDirFlag, jsonFlag, ...(isForCluster(command) ? clusterFlags : [])];
}

/** As `allFlagsOf`, without those that do nothing any more. */
export function shownFlagsOf(command: AnyCommand): readonly Flag[] {
  return allFlagsOf(command).filter(({ isRetired }) => isRetired !== true);
}

/** Whether it can work on a cluster. */
export function isForCluster({ onCluster }: StoreCommand): boolean {
  return onCluster !== "refused";
}
