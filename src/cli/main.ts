#!/usr/bin/env node
/** The program `verdictd`: builds the command line from the command table, runs a command, turns outcomes into exit codes. */
import { Command as Parser } from "commander";
import { openStore } from "../store/store.js";
import type { AnyCommand, Given } from "./command.js";
import { commands } from "./commands.js";
import { CommandFailure, exitCodes, print, UsageFailure } from "./output.js";

function buildParser(): Parser {
  const program = new Parser("verdictd")
    .description("Self-hosted bot detection: one program, no database to run.")
    .exitOverride()
    .showHelpAfterError(false)
    .helpCommand(false);
  for (const command of commands) addCommand(program, command);
  return program;
}

/** `account create` becomes the command `create` of the group `account`. */
function addCommand(program: Parser, command: AnyCommand): void {
  const [group, verb] = command.name.split(" ");
  const parent =
    verb === undefined
      ? program
      : (program.commands.find((each) => each.name() === group) ??
        program.command(group!).description(`${group} commands`));
  const parser = parent
    .command(verb ?? group!)
    .description(command.help)
    .exitOverride();
  for (const { name, help } of command.positionals ?? []) parser.argument(`<${name}>`, help);
  for (const flag of command.flags ?? []) {
    const text = flag.placeholder === undefined ? `--${flag.name}` : `--${flag.name} <${flag.placeholder}>`;
    if (flag.isRequired === true) parser.requiredOption(text, flag.help);
    else parser.option(text, flag.help);
  }
  if (!("runProcess" in command)) {
    parser.option("--data-dir <DIR>", "folder of the store (VERDICTD_DATA_DIR, ./data)");
    parser.option("--json", "print one JSON value");
  }
  parser.action(() => run(command, givenOf(parser, command)));
}

/** Flags by their own names, arguments by theirs. */
function givenOf(parser: Parser, command: AnyCommand): Given {
  const given: Record<string, string | undefined> = {};
  for (const option of parser.options) {
    const value: unknown = parser.getOptionValue(option.attributeName());
    if (value !== undefined) given[option.long!.slice(2)] = String(value);
  }
  for (const [index, { name }] of (command.positionals ?? []).entries()) given[name] = parser.args[index];
  return given;
}

async function run(command: AnyCommand, given: Given): Promise<void> {
  if ("runProcess" in command) return command.runProcess(given);
  const store = openStore(given["data-dir"] ?? process.env["VERDICTD_DATA_DIR"] ?? "./data");
  try {
    const result = await command.run(store, given);
    if (given["json"] === undefined && command.show !== undefined) console.log(command.show(result));
    else print(result, given["json"] !== undefined);
  } finally {
    await store.close();
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageFailure) {
    console.error(error.message);
    return exitCodes.usage;
  }
  if (error instanceof Error && "exitCode" in error && "code" in error && String(error.code).startsWith("commander.")) {
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
  const message = error instanceof Error ? error.message : String(error);
  console.error(error instanceof CommandFailure ? message : `verdictd: ${message}`);
  return exitCodes.failed;
}

try {
  await buildParser().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
