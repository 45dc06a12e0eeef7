/** The completion script for fish: a line a word. */
import type { CommandWords, ValueKind, Vocabulary } from "./vocabulary.js";

/** The script's text, to be piped to `source`. */
export function fishScript({ commands, groups, firstWords }: Vocabulary): string {
  const lines = [
    ...firstWords.map(({ word, help }) => `${start} -n __fish_use_subcommand -f -a ${word} -d ${single(help)}`),
    `${start} -n __fish_use_subcommand -l version -d 'version, commit, Node and native parts'`,
    ...[...groups].flatMap(([group, members]) => {
      const verbs = members.map(({ name }) => name.split(" ")[1]!);
      const isOpen = single(
        `__fish_seen_subcommand_from ${group}; and not __fish_seen_subcommand_from ${verbs.join(" ")}`,
      );
      return members.map(({ help }, index) => `${start} -n ${isOpen} -f -a ${verbs[index]} -d ${single(help)}`);
    }),
    ...commands.flatMap(linesOf),
  ];
  return `# Completion of verdictd for fish: verdictd completion fish | source\n${lines.join("\n")}\n`;
}

const start = "complete -c verdictd";

function linesOf({ name, flags, positionals }: CommandWords): string[] {
  const isTyped = single(
    name
      .split(" ")
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join("; and "),
  );
  const [place] = positionals;
  return [
    `${start} -n ${isTyped} ${offer(place ?? "anything")}`,
    ...flags.map(({ word, help, value }) => {
      const parameter = value === null ? "" : ` ${value === "anything" ? "-x" : `-r ${offer(value)}`}`;
      return `${start} -n ${isTyped} -l ${word.slice(2)} -d ${single(help)}${parameter}`;
    }),
  ];
}

function offer(kind: ValueKind): string {
  if (kind === "file") return "-F";
  if (kind === "folder") return "-f -a '(__fish_complete_directories)'";
  return kind === "anything" ? "-f" : `-f -a ${single(kind.join(" "))}`;
}

const single = (text: string): string => `'${text.replace(/['\\]/g, "\\$&")}'`;
