/** The cluster that a command works on: its flags and variables are those of `serve`. */

import {
  environmentName,
  formerNamesOf,
  type GivenFlags,
  readServeConfig,
  type ServeConfig,
  type ServeFlag,
} from "../config/config.js";
import type { Flag, Given } from "./flag.js";
import { UsageFailure } from "./output.js";
import { serveFlags } from "./serve-flags.js";

/** How a cluster is reached, besides its URL. */
export const reachFlags = ["store-password", "store-ca", "store-cert", "store-key"] as const;
const names = ["store", ...reachFlags, "store-acks", "store-durable"] as const;

/** Which cluster, and how surely writes are kept: added to every command that works on the configuration or the sessions of a cluster. */
export const clusterFlags: readonly Flag[] = flagsOf(names).map((flag) => ({ ...flag, heading: "On a cluster:" }));

/** Flags of `serve` that a command has as well. */
export function flagsOf(of: readonly ServeFlag[]): readonly Flag[] {
  return serveFlags.filter(({ name }) => withFormerNames(of).includes(name));
}

function withFormerNames(of: readonly ServeFlag[]): string[] {
  return of.flatMap((name) => [name, ...formerNamesOf(name)]);
}

/** Where the cluster is, and how its writes are acknowledged. */
export interface ChosenCluster {
  /** Its URL. */
  readonly store: string;
  readonly storePassword: string;
  readonly storeCa: string;
  readonly storeCert: string;
  readonly storeKey: string;
  readonly storeAcks: number;
  readonly storeDurable: boolean;
}

/** The cluster that was named; null: none, so that the store is that of a single host. Throws a `UsageFailure`. */
export function clusterOf(given: Given): ChosenCluster | null {
  const options = givenOptions(given, names);
  const { store, storePassword, storeCa, storeCert, storeKey, storeAcks, storeDurable } = options;
  return store === "" ? null : { store, storePassword, storeCa, storeCert, storeKey, storeAcks, storeDurable };
}

/** Options of `serve` as a command was given them, by flag or variable; all others are at their defaults. Throws a `UsageFailure`. */
export function givenOptions(given: Given, of: readonly ServeFlag[]): ServeConfig {
  const known = withFormerNames(of);
  const flags: GivenFlags = Object.fromEntries(known.map((name) => [name, given[name]]));
  const variables = known.map(environmentName).flatMap((name) => [name, `${name}_FILE`]);
  const environment = Object.fromEntries(variables.map((name) => [name, process.env[name]]));
  const read = readServeConfig(flags, environment);
  if ("mistakes" in read) throw new UsageFailure(read.mistakes.join("\n"));
  return read.config;
}
