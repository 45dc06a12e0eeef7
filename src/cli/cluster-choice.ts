/** The cluster that a command on the configuration works on: its flags and variables are those of `serve`. */
import { environmentName, type GivenFlags, readServeConfig } from "../config.js";
import type { Flag, Given } from "./command.js";
import { serveFlags } from "./commands/serve.js";
import { UsageFailure } from "./output.js";

const names = ["store", "engine-acks", "engine-durable"] as const;

export const clusterFlags: readonly Flag[] = serveFlags.filter(({ name }) => names.some((each) => each === name));

export interface ChosenCluster {
  /** Its URL. */
  readonly store: string;
  readonly engineAcks: number;
  readonly engineDurable: boolean;
}

/** The cluster that was named; null: none, so that the store is that of a single host. Throws a `UsageFailure`. */
export function clusterOf(given: Given): ChosenCluster | null {
  const flags: GivenFlags = Object.fromEntries(names.map((name) => [name, given[name]]));
  const variables = names.map(environmentName).flatMap((name) => [name, `${name}_FILE`]);
  const environment = Object.fromEntries(variables.map((name) => [name, process.env[name]]));
  const read = readServeConfig(flags, environment);
  if ("mistakes" in read) throw new UsageFailure(read.mistakes.join("\n"));
  const { store, engineAcks, engineDurable } = read.config;
  return store === "" ? null : { store, engineAcks, engineDurable };
}
