/** The table of `/docs/command-line`: every command, by what its parser and its help are made of. */
import { type AnyCommand, isForCluster } from "../src/cli/command.js";
import { commands } from "../src/cli/commands.js";
import type { Flag } from "../src/cli/flag.js";
import { serveOptions } from "../src/config/config.js";
import { code, prose, table } from "../src/docs/html.js";

/** One row a command, in the order of the help. Flags that all commands on a store have are left out. */
export function commandTable(): string {
  return table(
    ["Command", "What it does", "Its flags", "On a cluster"],
    commands.map((command) => [code(spelling(command)), prose(command.help), flagsOf(command), onCluster(command)]),
  );
}

function spelling({ name, positionals = [] }: AnyCommand): string {
  return [name, ...positionals.map((each) => each.name)].join(" ");
}

function flagsOf({ flags = [] }: AnyCommand): string {
  const isOption = ({ name }: Flag): boolean => name in serveOptions;
  // All options of `serve` fill a page of their own; some commands take a few of them.
  const takesAll = flags.filter(isOption).length === Object.keys(serveOptions).length;
  const own = flags.filter((flag) => flag.isRetired !== true && !(takesAll && isOption(flag)));
  const options = takesAll ? ['<a href="/docs/configuration">Configuration</a>'] : [];
  return [...options, ...own.map(flagWords)].join("<br>");
}

function flagWords({ name, placeholder, help, isRequired }: Flag): string {
  const written = placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`;
  return `${code(written)} ${prose(help)}${isRequired ? " (required)" : ""}`;
}

function onCluster(command: AnyCommand): string {
  // Of commands that are no `StoreCommand`, `serve` and `tail` are about one node either way, and the others need no store.
  if ("runProcess" in command || command.onCluster === "same") return "the same";
  return isForCluster(command) ? "in its own way" : "refused";
}
