/** `verdictd config`: prints the configuration that `serve` would start with, and where each value comes from. */

import { type EffectiveOption, environmentName, type GivenFlags, readServeConfig } from "../../config/config.js";
import { jsonFlag, type ProcessCommand } from "../command.js";
import { columns, print, printJson, UsageFailure } from "../output.js";
import { optionFlags } from "../serve-flags.js";

const flags = optionFlags((name, row) => `${row.help} (${environmentName(name)})`);

/** Opens no store. Every mistake in flags and variables is named, in one `UsageFailure`. */
export const configCommand: ProcessCommand = {
  name: "config",
  help: "print the configuration that serve would start with, and where each value comes from",
  flags: [...flags, jsonFlag],
  runProcess: async (given) => {
    const read = readServeConfig(given as GivenFlags, process.env);
    if ("mistakes" in read) throw new UsageFailure(read.mistakes.join("\n"));
    if (given["json"] !== undefined) {
      const rows = read.effective.map(({ name, ...rest }) => [name, rest] as const);
      printJson(Object.fromEntries(rows));
    } else print(table(read.effective));
  },
};

function table(rows: readonly EffectiveOption[]): string {
  return columns(
    rows.map(({ name, value, source, from }) => [name, value, from === "" ? source : `${source} (${from})`]),
  );
}
