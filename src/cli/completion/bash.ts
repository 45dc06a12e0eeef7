/** The completion script for bash (4 or later; needs no package beside it). */
import type { CommandWords, ValueKind, Vocabulary } from "./vocabulary.js";

/** The script's text, ready for `eval`. */
export function bashScript({ commands, groups, firstWords }: Vocabulary): string {
  const groupCases = [...groups].map(
    ([group, members]) =>
      `      ${group}) _verdictd_words ${quoted(members.map(({ name }) => name.split(" ")[1]!))} ;;`,
  );
  return `# Completion of verdictd for bash: eval "$(verdictd completion bash)"
_verdictd_words() {
  COMPREPLY=($(compgen -W "$1" -- "$word"))
}

_verdictd() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} command=\${COMP_WORDS[1]} start=2
  # "--plan=pro" comes as three words.
  if [[ $before == "=" ]]; then before=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  if [[ $word == "=" ]]; then word=""; fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _verdictd_words ${quoted([...firstWords.map(({ word }) => word), "--help", "--version"])}
    return
  fi
  case $command in
    ${[...groups.keys()].join(" | ")}) start=3 command+=" \${COMP_WORDS[2]}" ;;
  esac
  if ((COMP_CWORD < start)); then
    case \${COMP_WORDS[1]} in
${groupCases.join("\n")}
    esac
    return
  fi
  case "$command $before" in
${valueCases(commands)}
  esac
  if [[ $word == -* ]]; then
    case $command in
${commands.map(({ name, flags }) => `      "${name}") _verdictd_words ${quoted(flags.map(({ word }) => word))} ;;`).join("\n")}
    esac
    return
  fi
  case $command in
${commands.map(positionalCase).join("\n")}
  esac
}

complete -F _verdictd verdictd
`;
}

/** What follows a flag; values that only the user knows complete to nothing. */
function valueCases(commands: readonly CommandWords[]): string {
  return commands
    .flatMap(({ name, flags }) =>
      flags.flatMap(({ word, value }) => (value === null ? [] : [`    "${name} ${word}") ${offer(value)}; return ;;`])),
    )
    .join("\n");
}

/** Without arguments of its own a command's flags are offered at once. */
function positionalCase({ name, flags, positionals: [first] }: CommandWords): string {
  return `    "${name}") ${offer(first ?? flags.map(({ word }) => word))} ;;`;
}

function offer(kind: ValueKind): string {
  if (kind === "file") return "compopt -o default";
  if (kind === "folder") return "compopt -o dirnames";
  return kind === "anything" ? ":" : `_verdictd_words ${quoted(kind)}`;
}

/** The words come from the command table and have nothing that a shell would read. */
const quoted = (words: readonly string[]): string => `"${words.join(" ")}"`;
