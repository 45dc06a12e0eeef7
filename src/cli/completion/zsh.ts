/** The completion script for zsh, with what each word means beside it. */
import type { CommandWords, ValueKind, Vocabulary } from "./vocabulary.js";

/** The script's text; for `eval` after `compinit`, or as a file of `$fpath`. */
export function zshScript({ commands, groups, firstWords }: Vocabulary): string {
  const alone = commands.filter(({ name }) => !name.includes(" "));
  const groupCases = [...groups].map(
    ([group, members]) => `    ${group})
      if ((CURRENT == 3)); then
        local -a verbs=(${members.map(({ name, help }) => described(name.split(" ")[1]!, help)).join(" ")})
        _describe -t commands 'command' verbs
        return
      fi
      shift 2 words
      ((CURRENT -= 2))
      case $words[1] in
${members.map((member) => argumentsCase(member, member.name.split(" ")[1]!, "        ")).join("\n")}
      esac ;;`,
  );
  return `#compdef verdictd
# Completion of verdictd for zsh: eval "$(verdictd completion zsh)" after compinit, or keep it as _verdictd in a folder of $fpath.
_verdictd() {
  if ((CURRENT == 2)); then
    local -a commands=(${firstWords.map(({ word, help }) => described(word, help)).join(" ")})
    _describe -t commands 'command' commands
    _arguments '--help[every command]' '--version[version, commit, Node and native parts]'
    return
  fi
  case $words[2] in
${groupCases.join("\n")}
    *)
      shift words
      ((CURRENT -= 1))
      case $words[1] in
${alone.map((command) => argumentsCase(command, command.name, "        ")).join("\n")}
      esac ;;
  esac
}

if [[ $funcstack[1] == _verdictd ]]; then _verdictd "$@"; else compdef _verdictd verdictd; fi
`;
}

function argumentsCase({ flags, positionals }: CommandWords, word: string, indent: string): string {
  const specs = flags.map(({ word: flag, help, value }) =>
    value === null ? single(`${flag}[${plain(help)}]`) : single(`${flag}=[${plain(help)}]:value:${actionOf(value)}`),
  );
  const places = positionals.map((kind, index) => single(`${index + 1}:argument:${actionOf(kind)}`));
  return `${indent}${word}) _arguments -s ${[...specs, ...places].join(" ")} ;;`;
}

function actionOf(kind: ValueKind): string {
  if (kind === "file") return "_files";
  if (kind === "folder") return "_files -/";
  return kind === "anything" ? " " : `(${kind.join(" ")})`;
}

/** Without the characters that a specification of `_arguments` reads. */
function plain(text: string): string {
  return text.replace(/[[\]\\:]/g, " ");
}

const described = (word: string, help: string): string => single(`${word}:${plain(help)}`);
const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
