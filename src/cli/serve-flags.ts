/** The flags of `serve`, of which other commands have some too. */
import { environmentName, formerNames, serveOptions } from "../config/config.js";
import type { Flag } from "./flag.js";

/** A row of `serveOptions`. */
type OptionRow = (typeof serveOptions)[keyof typeof serveOptions];

/** Returns a flag for each row of `serveOptions`, with this help, and for each former name of one. */
export function optionFlags(helpOf: (name: string, row: OptionRow) => string): Flag[] {
  const flags = Object.entries(serveOptions).map(([name, row]) => ({
    name,
    ...(row.placeholder !== "" && { placeholder: row.placeholder }),
    ...("isRepeatable" in row && { isRepeatable: true }),
    help: helpOf(name, row),
  }));
  const former = Object.entries(formerNames).map(([name, now]) => ({
    name,
    placeholder: serveOptions[now].placeholder,
    isRetired: true,
    help: `the former name of --${now}`,
  }));
  return [...flags, ...former];
}

/** The flags of `serve`: their help names the environment variable and the default. */
export const serveFlags: readonly Flag[] = optionFlags(
  (name, row) =>
    `${row.help} (${environmentName(name)}${row.help.includes("default:") ? "" : `, default ${String(row.fallback) || "none"}`})`,
);
