/** The cluster that a command works on: its flags and variables are those of `serve`. */

import {
  environmentName,
  type GivenFlags,
  readServeConfig,
  type ServeConfig,
  type ServeFlag,
} from "../config/config.js";
import type { Flag, Given } from "./flag.js";
import { UsageFailure } from "./output.js";
import { serveFlags } from "./serve-flags.js";

/** How a cluster is reached, besides its URL. */
export const reachFlags = ["engine-password", "engine-ca", "engine-cert", "engine-key"] as const;
const names = ["store", ...reachFlags, "engine-acks", "engine-durable"] as const;

/** Which cluster, and how surely writes are kept: added to every command that works on the configuration or the sessions of a cluster. */
export const clusterFlags: readonly Flag[] = flagsOf(names).map((flag) => ({ ...flag, heading: "On a cluster:" }));

/** Flags of `serve` that a command has as well. */
export function flagsOf(of: readonly ServeFlag[]): readonly Flag[] {
  return serveFlags.filter(({ name }) => of.some((each) => each === name));
}

/** Where the cluster is, and how its writes are acknowledged. */
export interface ChosenCluster {
  /** Its URL. */
  readonly store: string;
  readonly enginePassword: string;
  readonly engineCa: string;
  readonly engineCert: string;
  readonly engineKey: string;
  readonly engineAcks: number;
  readonly engineDurable: boolean;
}

/** The cluster that was named; null: none, so that the store is that of a single host. Throws a `UsageFailure`. */
export function clusterOf(given: Given): ChosenCluster | null {
  const options = givenOptions(given, names);
  const { store, enginePassword, engineCa, engineCert, engineKey, engineAcks, engineDurable } = options;
  return store === "" ? null : { store, enginePassword, engineCa, engineCert, engineKey, engineAcks, engineDurable };
}

/** Options of `serve` as a command was given them, by flag or variable; all others are at their defaults. Throws a `UsageFailure`. */
export function givenOptions(given: Given, of: readonly ServeFlag[]): ServeConfig {
  const flags: GivenFlags = Object.fromEntries(of.map((name) => [name, given[name]]));
  const variables = of.map(environmentName).flatMap((name) => [name, `${name}_FILE`]);
  const environment = Object.fromEntries(variables.map((name) => [name, process.env[name]]));
  const read = readServeConfig(flags, environment);
  if ("mistakes" in read) throw new UsageFailure(read.mistakes.join("\n"));
  return read.config;
}
