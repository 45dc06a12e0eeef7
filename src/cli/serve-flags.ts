/** The flags of `serve`, of which other commands have some too. */
import { environmentName, formerNames, serveOptions } from "../config/config.js";
import type { Flag } from "./flag.js";

/** A flag for each row of `serveOptions`, its help with the environment variable and the default. */
export const serveFlags: readonly Flag[] = [
  ...Object.entries(serveOptions).map(([name, row]) => ({
    name,
    ...(row.placeholder !== "" && { placeholder: row.placeholder }),
    ...("isRepeatable" in row && { isRepeatable: true }),
    help: `${row.help} (${environmentName(name)}${row.help.includes("default:") ? "" : `, default ${String(row.fallback) || "none"}`})`,
  })),
  ...formerFlags(),
];

/** The former names of options: no help lists them. */
export function formerFlags(): Flag[] {
  return Object.entries(formerNames).map(([name, now]) => ({
    name,
    placeholder: serveOptions[now].placeholder,
    isRetired: true,
    help: `the former name of --${now}`,
  }));
}
