/** `verdictd completion`: the script with which a shell completes commands, flags and values; made of the command table. */
import type { AnyCommand, ProcessCommand } from "../command.js";
import { bashScript } from "../completion/bash.js";
import { fishScript } from "../completion/fish.js";
import { type Vocabulary, vocabularyOf } from "../completion/vocabulary.js";
import { zshScript } from "../completion/zsh.js";
import { oneOf } from "../given.js";

const scripts: Readonly<Record<string, (vocabulary: Vocabulary) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};
const shells = Object.keys(scripts);

/** `table` gives every command, this one too. */
export function completionCommand(table: () => readonly AnyCommand[]): ProcessCommand {
  return {
    name: "completion",
    help: 'print the completion script for a shell: eval "$(verdictd completion bash)" loads it',
    positionals: [{ name: "SHELL", help: shells.join(", "), values: shells }],
    runProcess: async (given) => {
      const shell = oneOf(given, "SHELL", shells);
      process.stdout.write(scripts[shell]!(vocabularyOf(table())));
    },
  };
}
