/** Flags of commands, and what was given for them. */

/** Values of flags and arguments as texts; a flag without a value is "true". `data-dir` is always there for a `StoreCommand`. */
export type Given = Readonly<Record<string, string | undefined>>;

/** A flag of a command; `name` is without its dashes. */
export interface Flag {
  readonly name: string;
  /** How the value is shown in the help; absent for a switch. */
  readonly placeholder?: string;
  readonly help: string;
  readonly isRequired?: boolean;
  /** Whether it may be given several times: the values with commas between. */
  readonly isRepeatable?: boolean;
  /** A flag of earlier versions that is still accepted: the command says so. No help or completion lists it. */
  readonly isRetired?: boolean;
  /** The heading below which the help of a command lists it; absent for its own flags. */
  readonly heading?: string;
  /** Words to choose from, where the placeholder (`a|b`) does not list them. For completion. */
  readonly values?: readonly string[];
}
