/** Builds the parser of the command line from the command table. The only file that knows commander. */

import { CommanderError, Option, Command as Parser } from "commander";
import { type AnyCommand, allFlagsOf } from "./command.js";
import type { Given } from "./flag.js";
import { programHelp } from "./help.js";
import { oneLine, UsageFailure } from "./output.js";

/** A parser that calls `run` with the command that was typed. `version` is the text that `--version` prints. */
export function buildParser(
  commands: readonly AnyCommand[],
  version: string,
  run: (command: AnyCommand, given: Given) => Promise<void>,
): Parser {
  const program = prepared(new Parser("verdictd"))
    .version(version, "--version", "print the version")
    .helpCommand(false);
  program.helpInformation = () => programHelp(commands);
  for (const command of commands) addCommand(program, command, run);
  return program;
}

/**
 * What was typed, as the parser takes it: `help init` is `init --help`. Help that is asked of an unknown command is left out, so that the
 * parser refuses the command instead of printing the help of the program.
 */
export function parsedWords(commands: readonly AnyCommand[], typed: readonly string[]): string[] {
  const words = typed[0] === "help" ? [...typed.slice(1), "--help"] : [...typed];
  const isName = (word: string | undefined): word is string => word !== undefined && !word.startsWith("-");
  const [group, verb] = words;
  const ofGroup = commands.filter(({ name }) => name.split(" ")[0] === group);
  const isKnown = ofGroup.some(({ name }) => name === group || !isName(verb) || name === `${group} ${verb}`);
  return !isName(group) || isKnown ? words : words.filter((word) => word !== "--help" && word !== "-h");
}

/** Throws instead of exiting, and says what is wrong on one line. */
function prepared(parser: Parser): Parser {
  return parser
    .exitOverride()
    .showHelpAfterError(false)
    .configureOutput({ outputError: (text, write) => write(`${oneLine(text).replace(/^error: /, "")}\n`) });
}

/** `account create` becomes the command `create` of the group `account`. */
function addCommand(program: Parser, command: AnyCommand, run: Parameters<typeof buildParser>[2]): void {
  const [group, verb] = command.name.split(" ");
  const parent = verb === undefined ? program : groupOf(program, group!);
  const parser = prepared(parent.command(verb ?? group!)).description(command.help);
  for (const { name, help } of command.positionals ?? []) parser.argument(`<${name}>`, help);
  for (const flag of allFlagsOf(command)) {
    const text = flag.placeholder === undefined ? `--${flag.name}` : `--${flag.name} <${flag.placeholder}>`;
    const help = flag.isRequired === true ? `${flag.help} (required)` : flag.help;
    const option = new Option(text, help);
    if (flag.isRepeatable === true) option.argParser(joined);
    if (flag.heading !== undefined) option.helpGroup(flag.heading);
    option.hideHelp(flag.isRetired === true);
    parser.addOption(option);
  }
  parser.action(() => run(command, givenOf(parser, command)));
}

function joined(value: string, before: string | undefined): string {
  return before === undefined ? value : `${before},${value}`;
}

function groupOf(program: Parser, name: string): Parser {
  const known = program.commands.find((each) => each.name() === name);
  return known ?? prepared(program.command(name)).description(`${name} commands`).helpCommand(false);
}

/** Flags by their own names, arguments by theirs. Throws a `UsageFailure` that names every flag that is missing. */
function givenOf(parser: Parser, command: AnyCommand): Given {
  const given: Record<string, string | undefined> = {};
  const mistakes: string[] = [];
  for (const option of parser.options) {
    const name = option.long!.slice(2);
    const value: unknown = parser.getOptionValue(option.attributeName());
    if (value === undefined) continue;
    // Commander takes `--no-x` for the opposite of an option `x` that is on by default.
    if (option.negate) {
      if (value === false) given[name] = "true";
      continue;
    }
    given[name] = String(value);
    // `--data-dir --json` must not make a folder of that name.
    if (option.required && String(value).startsWith("--")) mistakes.push(`--${name}: a value is missing`);
  }
  for (const flag of command.flags ?? []) {
    if (flag.isRequired === true && given[flag.name] === undefined) mistakes.push(`--${flag.name} is required`);
  }
  if (mistakes.length > 0) throw new UsageFailure(mistakes.join("\n"));
  for (const [index, { name }] of (command.positionals ?? []).entries()) given[name] = parser.args[index];
  return given;
}

/** Null when `error` is not the parser's; else whether it is wrong usage (help and version are not). What is wrong is printed. */
export function isWrongUsage(error: unknown): boolean | null {
  return error instanceof CommanderError ? error.exitCode !== 0 : null;
}
