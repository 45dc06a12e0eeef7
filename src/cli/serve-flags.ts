/** The flags of `serve`, of which other commands have some too. */
import { environmentName, serveOptions } from "../config/config.js";
import type { Flag } from "./flag.js";

/** A flag for each row of `serveOptions`, its help with the environment variable and the default. */
export const serveFlags: readonly Flag[] = Object.entries(serveOptions).map(([name, row]) => ({
  name,
  ...(row.placeholder !== "" && { placeholder: row.placeholder }),
  ...("isRepeatable" in row && { isRepeatable: true }),
  help: `${row.help} (${environmentName(name)}${row.help.includes("default:") ? "" : `, default ${String(row.fallback) || "none"}`})`,
}));
