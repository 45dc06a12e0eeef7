/** The steps that bring an older store to the tables and records of this build, one for each schema version after the first. */
import type { Store } from "./store.js";

/** Brings a store from schema `to - 1` to `to`. */
export interface Upgrade {
  readonly to: number;
  /** Runs inside a write transaction together with the other steps: a thrown error undoes all of them. */
  readonly apply: (store: Store) => void;
}

/** What a build reads and writes. */
export interface Schema {
  readonly version: number;
  /** Ordered by `to`, without a gap up to `version`. */
  readonly upgrades: readonly Upgrade[];
}

/** This build's. Raise the version together with a step in `upgrades`. */
export const currentSchema: Schema = { version: 1, upgrades: [] };
