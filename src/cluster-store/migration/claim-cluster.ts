/**
 * Claims a cluster for the store that migrates into it, or continues an earlier run. Writes nothing into a cluster that belongs to another store, or that
 * nodes may have used since it was opened.
 */
import { randomUUID } from "node:crypto";
import { scriptCommand } from "../../cluster/cluster-client.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import { StoreError } from "../../store/failures.js";
import { changeMigrationMark, type MigrationMark, migrationMark } from "../../store/migration-mark.js";
import type { Store } from "../../store/store.js";
import type { BulkClient } from "../bulk-client.js";
import { ConfigTruth } from "../config/config-truth.js";
import { configKeys, configSlot } from "../keys.js";
import { scanKeys } from "../scan.js";
import { doneAt } from "./final-step.js";
import { beginMigration } from "./migration-scripts.js";

/** What a claim needs of `MigrationOptions`. */
interface ClaimOptions {
  readonly store: Store;
  readonly name: string;
  readonly user?: string | undefined;
  readonly isAnew: boolean;
  readonly refuseFull: () => void;
}

/** A claimed cluster. */
interface ClaimedCluster {
  readonly mark: MigrationMark;
  /** Whether an earlier run had opened it to nodes, and ended before it could mark that in the store; it is marked now. */
  readonly isOpened: boolean;
}

/** Throws a `StoreError` with the reason why the cluster can't be used for this store; throws `ClusterError`. */
export async function claimCluster(
  { store, name, user, isAnew, refuseFull }: ClaimOptions,
  bulk: BulkClient,
): Promise<ClaimedCluster> {
  const known = migrationMark(store);
  const truth = new ConfigTruth(bulk.client, bulk.acks);
  const found = await truth.clusterId();
  const isBegun = known !== null && known.cluster !== notClaimed;
  const isKnown = isBegun && known.cluster === found;
  if (isBegun && !isKnown && !isAnew) {
    if (found !== null) {
      throw new StoreError(
        `this store was copied to cluster ${known.cluster}, but ${name} is cluster ${found}, of another verdictd: name that one, or an empty cluster with --anew`,
      );
    }
    throw new StoreError(
      `this store was copied to cluster ${known.cluster}, but ${name} is an empty cluster: name that one, or copy to this one with --anew`,
    );
  }
  if (found === null) await refuseRows(bulk, name);
  if (!isKnown) refuseFull();
  // Stored before the cluster is claimed under this name: if the claim is not acknowledged, the next run must know it as its own.
  const named = await changeMigrationMark(store, (mark) => mark ?? newMark());
  const { cluster, migration } = await claim(bulk, truth, named.store);
  if (migration === "used") throw new StoreError(`${name} is in use by another verdictd: name an empty cluster`);
  if (!migration.startsWith(named.store)) {
    throw new StoreError(`${name} holds what was copied from another store: name an empty cluster`);
  }
  const openedMs = openedAt(migration, named.store);
  if (openedMs === null) {
    const mark = await changeMigrationMark(store, (before) => {
      const { store, final = null } = before ?? named;
      return { store, cluster, name, ...(user !== undefined && { user }), doneAt: null, final };
    });
    return { mark, isOpened: false };
  }
  if (isKnown && named.final?.isOpening === true) {
    const mark = await changeMigrationMark(store, (before) => ({ ...(before ?? named), ...doneAt(openedMs) }));
    return { mark, isOpened: true };
  }
  throw new StoreError(
    `${name} was opened to nodes at ${new Date(openedMs).toISOString()}: what they wrote since would be lost, so nothing was copied; ` +
      "stop its nodes, empty the cluster (FLUSHALL on each master) or name an empty one, then run this with --anew",
  );
}

/** When the cluster was opened to nodes, ms, from what the scripts return as its migration; null: it was not. */
export function openedAt(migration: string, store: string): number | null {
  const [of, state, atMs] = migration.split(" ");
  return of === store && state === "done" ? Number(atMs) : null;
}

/** The cluster in the mark of a store that has a name, but no cluster yet. */
const notClaimed = "";

function newMark(): MigrationMark {
  return { store: randomUUID(), cluster: notClaimed, doneAt: null };
}

/** A cluster without configuration but with other rows of ours has lost it, or is half erased. */
async function refuseRows(bulk: BulkClient, name: string): Promise<void> {
  for await (const { keys } of scanKeys(bulk)) {
    const [key] = keys;
    if (key === undefined) continue;
    throw new StoreError(
      `${name} holds rows of a verdictd without its configuration, such as ${printable(key)}: name an empty cluster`,
    );
  }
}

/** Returns the answer of `beginMigration`, once nodes that are gone count as gone. */
async function claim(bulk: BulkClient, truth: ConfigTruth, store: string) {
  const keys = [configKeys.head, configKeys.nodes, configKeys.serving];
  const command = scriptCommand(beginMigration, keys, [randomUUID(), store], configSlot);
  for (let round = 0; ; round++) {
    const [reply] = (await bulk.write([command])) as [RespReply[]];
    const [cluster = "", migration = ""] = reply.map(String);
    if (migration !== "used" || round > 0 || (await truth.liveNodes()) > 0) return { cluster, migration };
  }
}

function printable(key: Buffer): string {
  return JSON.stringify(key.toString("latin1"));
}
