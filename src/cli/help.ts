/** The text of `verdictd --help`: every command with its flags, derived from the command table. */

import type { AnyCommand } from "./command.js";
import type { Flag } from "./flag.js";

const widthMax = 110;

/** One command as it is typed: required flags first, optional ones in brackets. */
function usageOf(command: AnyCommand): string {
  const flags = (command.flags ?? []).filter(({ isRetired }) => isRetired !== true);
  const required = flags.filter((flag) => flag.isRequired === true).map(typed);
  const optional = flags.filter((flag) => flag.isRequired !== true).map((flag) => `[${typed(flag)}]`);
  const words = [command.name, ...(command.positionals ?? []).map(({ name }) => name), ...required, ...optional];
  return wrapped(words, "  ", "      ");
}

function typed(flag: Flag): string {
  return flag.placeholder === undefined ? `--${flag.name}` : `--${flag.name} ${flag.placeholder}`;
}

function wrapped(words: readonly string[], first: string, next: string): string {
  const lines: string[] = [];
  let line = first + words[0];
  for (const word of words.slice(1)) {
    if (line.length + 1 + word.length > widthMax) {
      lines.push(line);
      line = next + word;
    } else line += ` ${word}`;
  }
  return [...lines, line].join("\n");
}

/** The help of the whole program. */
export function programHelp(commands: readonly AnyCommand[]): string {
  const rows = commands.map((command) => `${usageOf(command)}\n          ${command.help}`);
  return `Usage: verdictd COMMAND [flags]

Self-hosted bot detection: one program, no database needed.

Commands:
${rows.join("\n")}

Every command takes --data-dir DIR (VERDICTD_DATA_DIR, default ./data) and works while the server runs.
Commands that take --store URL (VERDICTD_STORE) also work on a cluster, whose configuration is mirrored in --data-dir.
All but serve and completion take --json: one JSON value on stdout (tail: one per line).
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.

  verdictd COMMAND --help   what a command's flags mean; also: verdictd help COMMAND
  verdictd --version        version, commit, Node and native parts
`;
}
