/** The shape of the command table: a command is one row; parsing, help and exit codes derive from it. */
import type { Store } from "../store/store.js";

/** Values of flags and arguments as texts; a flag without a value is "true". `data-dir` is always there for a `StoreCommand`. */
export type Given = Readonly<Record<string, string | undefined>>;

export interface Flag {
  readonly name: string;
  /** How the value is shown in the help; absent for a switch. */
  readonly placeholder?: string;
  readonly help: string;
  readonly isRequired?: boolean;
}

export interface Command {
  /** As typed: `account create`. */
  readonly name: string;
  readonly help: string;
  /** Positional arguments, all required. */
  readonly positionals?: readonly { readonly name: string; readonly help: string }[];
  readonly flags?: readonly Flag[];
}

/** A command that works on the store, beside a running server if there is one. Returns what `--json` prints. */
export interface StoreCommand<R extends object = object> extends Command {
  /** Whether it makes a store where there is none; the others refuse, so that a mistyped folder is noticed. */
  readonly createsStore?: boolean;
  run(store: Store, given: Given): Promise<R>;
  /** Lines for people; default: a line a key. */
  show?(result: R): string;
  /** Why a result that was printed is a failure all the same (exit code 1), or null. */
  failure?(result: R): string | null;
}

/** `serve` and the like: runs until it is told to stop. */
export interface ProcessCommand extends Command {
  readonly runProcess: (given: Given) => Promise<void>;
}

export type AnyCommand = StoreCommand | ProcessCommand;
