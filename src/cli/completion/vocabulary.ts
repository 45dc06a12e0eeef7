/** What can be typed after `verdictd`, derived from the command table: the shells' scripts are made of it. */

import { type AnyCommand, type Positional, shownFlagsOf } from "../command.js";
import type { Flag } from "../flag.js";

/** What a value may be: one of these words, a file, a folder, or something that only the user knows. */
export type ValueKind = readonly string[] | "file" | "folder" | "anything";

/** A flag to offer, and what to offer behind it. */
interface FlagWord {
  /** With its dashes. */
  readonly word: string;
  readonly help: string;
  /** Null for a switch. */
  readonly value: ValueKind | null;
}

/** A command to offer, with all its flags, those that commands on the store share among them. */
export interface CommandWords {
  /** As typed: `account create`. */
  readonly name: string;
  readonly help: string;
  readonly flags: readonly FlagWord[];
  readonly positionals: readonly ValueKind[];
}

/** Groups of commands by their first word, `account`, with the second words. */
type Groups = ReadonlyMap<string, readonly CommandWords[]>;

/** Everything there is to offer. `groups` has the commands of two words by their first one. */
export interface Vocabulary {
  readonly commands: readonly CommandWords[];
  readonly groups: Groups;
  /** First words: commands of one word, and groups. */
  readonly firstWords: readonly { readonly word: string; readonly help: string }[];
}

/** The vocabulary of a command table. A group's help is the list of its second words. */
export function vocabularyOf(table: readonly AnyCommand[]): Vocabulary {
  const commands = table.map(wordsOf);
  const groups = new Map<string, CommandWords[]>();
  for (const command of commands) {
    const [group, verb] = command.name.split(" ");
    if (verb !== undefined) groups.set(group!, [...(groups.get(group!) ?? []), command]);
  }
  const firstWords = new Map(
    commands.map(({ name, help }) => {
      const group = name.split(" ")[0]!;
      return [
        group,
        groups.has(group)
          ? groups
              .get(group)!
              .map((each) => each.name.split(" ")[1])
              .join(", ")
          : help,
      ];
    }),
  );
  return { commands, groups, firstWords: [...firstWords].map(([word, help]) => ({ word, help })) };
}

function wordsOf(command: AnyCommand): CommandWords {
  const flags = shownFlagsOf(command).map((flag) => ({
    word: `--${flag.name}`,
    help: flag.help,
    value: flag.placeholder === undefined ? null : kindOf(flag.placeholder, flag),
  }));
  return {
    name: command.name,
    help: command.help,
    flags: [...flags, { word: "--help", help: "what the command's flags mean", value: null }],
    positionals: (command.positionals ?? []).map((positional) => kindOf(positional.name, positional)),
  };
}

/** `process|power-loss` is a choice of words. */
function kindOf(placeholder: string, { values }: Pick<Flag | Positional, "values">): ValueKind {
  if (values !== undefined) return values;
  if (placeholder === "FILE") return "file";
  if (placeholder === "DIR") return "folder";
  return /^[a-z_-]+(\|[a-z_-]+)+$/.test(placeholder) ? placeholder.split("|") : "anything";
}
