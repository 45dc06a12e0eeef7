/** `verdictd config`: prints the configuration that `serve` would start with, and where each value comes from. */
import { type EffectiveOption, environmentName, type GivenFlags, readServeConfig, serveOptions } from "../../config.js";
import { type Flag, jsonFlag, type ProcessCommand } from "../command.js";
import { UsageFailure } from "../output.js";

const flags: readonly Flag[] = Object.entries(serveOptions).map(([name, row]) => ({
  name,
  ...(row.placeholder !== "" && { placeholder: row.placeholder }),
  help: `${row.help} (${environmentName(name)})`,
}));

export const configCommand: ProcessCommand = {
  name: "config",
  help: "print the configuration that serve would start with, and where each value comes from",
  flags: [...flags, jsonFlag],
  runProcess: async (given) => {
    const read = readServeConfig(given as GivenFlags, process.env);
    if ("mistakes" in read) throw new UsageFailure(read.mistakes.join("\n"));
    if (given["json"] !== undefined) {
      const rows = read.effective.map(({ name, ...rest }) => [name, rest] as const);
      console.log(JSON.stringify(Object.fromEntries(rows)));
    } else console.log(table(read.effective));
  },
};

function table(rows: readonly EffectiveOption[]): string {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length));
  const valueWidth = Math.max(...rows.map(({ value }) => value.length));
  return rows
    .map(({ name, value, source, from }) => {
      const origin = from === "" ? source : `${source} (${from})`;
      return `${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${origin}`;
    })
    .join("\n");
}
