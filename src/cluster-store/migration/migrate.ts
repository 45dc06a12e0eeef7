/**
 * Copies the store of a single host into a cluster while servers still use the store, as many times as wanted. Once they are stopped, a last run
 * compares every row and opens the cluster to nodes. A run that was interrupted continues at the next start, because it only writes what differs.
 */
import { randomUUID } from "node:crypto";
import { type ClusterClient, scriptCommand } from "../../cluster/cluster-client.js";
import { ClusterError } from "../../cluster/cluster-error.js";
import { limits } from "../../limits.js";
import type { ConfigRow } from "../../store/config-rows.js";
import { StoreError } from "../../store/failures.js";
import type { MigrationMark } from "../../store/migration-mark.js";
import { configurationOf } from "../../store/mirrored-tables.js";
import type { Store } from "../../store/store.js";
import { rowsOf } from "../../store/store-size.js";
import { BulkClient } from "../bulk-client.js";
import { ConfigTruth } from "../config/config-truth.js";
import { faultLine } from "../fault-line.js";
import { countClusterSessions } from "../ingest/recent-counts.js";
import { configKeys, configSlot } from "../keys.js";
import type { CopiedBy } from "../rows/row-kind.js";
import { rowKinds } from "../rows/row-kinds.js";
import { claimCluster, openedAt } from "./claim-cluster.js";
import { FinalStep, refuseFinalStep } from "./final-step.js";
import {
  copyRows,
  type RowsPass,
  type WantedRow,
  wantedIdempotency,
  wantedJudged,
  wantedPaths,
  wantedTraffic,
  wantedUsage,
} from "./migrate-counts.js";
import { wantedRecordedRows } from "./migrate-recorded-rows.js";
import { SessionsMigration } from "./migrate-sessions.js";
import { finishMigration } from "./migration-scripts.js";

/** What to copy and where to, how far, and where to report progress. */
export interface MigrationOptions {
  readonly store: Store;
  readonly client: ClusterClient;
  /** Replicas that must have each write. */
  readonly acks: number;
  /** The name of the cluster in messages, and the user that connects to it, if any. */
  readonly name: string;
  readonly user?: string | undefined;
  /** How long a session is kept after its last batch, and how long counts of an hour are kept, ms. */
  readonly sessionMs: number;
  readonly trafficMs: number;
  /** How long recorded blocks and marks are kept, ms. */
  readonly blockMs: number;
  /** No server uses the store any more: compares every row, and opens the cluster to nodes. Nobody else may change the store meanwhile. */
  readonly isFinal: boolean;
  /** Ignores that the store was migrated to another cluster before. */
  readonly isAnew: boolean;
  /** Throws when the cluster has no room for the store; called before the first write. */
  readonly refuseFull: () => void;
  /** Throws while a server uses the store; called in the last step. */
  readonly refuseServed: () => Promise<void>;
  /** Called once it is clear that the cluster is for this store. */
  readonly onBegun: () => void;
  /** Called with how many of how many sessions a pass has looked at. May throw to end the migration. */
  readonly onProgress: (done: number, total: number) => void;
}

/** The result of one run of `store migrate`; nodes may start once `isFinished`. */
export interface MigrationReport {
  /** Id of the cluster. */
  readonly cluster: string;
  /** Number of passes over all sessions: one, or as many as the last step took until nothing differed. */
  readonly passes: number;
  /** Sessions in the store. */
  readonly sessions: number;
  /** Sessions written, and sessions removed because the store no longer has them, in all passes. */
  readonly copied: number;
  readonly removed: number;
  readonly configuration: number;
  readonly idempotencyKeys: number;
  readonly months: number;
  readonly hours: number;
  readonly paths: number;
  /** Counts of blocks, marks, timelines and changes. */
  readonly recordedRows: number;
  /** Whether every row was compared and was the same, and nodes may start. */
  readonly isFinished: boolean;
}

/** Of the last step. */
const passesMax = 5;

/**
 * Throws a `StoreError` for a target that belongs to another store, when rows differ at the end, and when anything else uses the store during the last
 * step; throws `ClusterError`.
 */
export async function migrateStore(options: MigrationOptions): Promise<MigrationReport> {
  const { store, client, acks, isFinal } = options;
  const bulk = new BulkClient(client, acks, limits.clusterMigrationPatienceMs);
  const { mark, isOpened } = await claimCluster(options, bulk);
  options.onBegun();
  if (isOpened) return reportOf(store, mark, { isFinished: true });
  if (!isFinal) {
    refuseFinalStep(store);
    return copyStore(options, bulk, mark, null);
  }
  const step = new FinalStep(store);
  await step.begin();
  try {
    return await copyStore(options, bulk, mark, step);
  } catch (error) {
    await step.end();
    throw error;
  }
}

/** Makes one pass over the whole store or, in the last step, as many as it takes until nothing differs. */
async function copyStore(
  options: MigrationOptions,
  bulk: BulkClient,
  mark: MigrationMark,
  step: FinalStep | null,
): Promise<MigrationReport> {
  const { store, client, acks } = options;
  if (step !== null) await options.refuseServed();
  const truth = new ConfigTruth(client, acks);
  const total = rowsOf(store.sessions);
  const progress = (done: number): void => {
    if (step === null) refuseFinalStep(store);
    else step.continues();
    options.onProgress(Math.min(done, total - 1), total);
  };
  const sessions = new SessionsMigration(store, bulk, options.sessionMs);
  let [copied, removed] = [0, 0];
  for (let passes = 1; ; passes++) {
    const { lastCommit } = store.root;
    store.root.resetReadTxn();
    const configuration = await copyConfiguration(store, truth, mark);
    // The first pass of the last step compares every byte; the next pass compares again what it had to write.
    const pass = await sessions.pass(step !== null, progress);
    copied += pass.copied;
    removed += pass.removed;
    const others = await copyRest(options, bulk, () => progress(pass.sessions));
    if (step !== null) {
      const written = [configuration, ...Object.values(others)].reduce((sum, each) => sum + each.copied, 0);
      const changed = pass.copied + pass.removed + written;
      const isDone =
        changed === 0 && (await finish(options, bulk, { step, mark, lastCommit, sessions: pass.sessions }));
      if (!isDone && passes < passesMax) continue;
      if (!isDone)
        throw new StoreError(
          `the store still changes after ${passesMax} passes (the last found ${changed} rows that differ): does anything write into ${store.root.path}?`,
        );
    }
    options.onProgress(total, total);
    return reportOf(store, mark, {
      passes,
      sessions: pass.sessions,
      copied,
      removed,
      configuration: configuration.rows,
      idempotencyKeys: others.idempotency.rows,
      months: others.usage.rows,
      hours: others.traffic.rows,
      paths: others.paths.rows,
      recordedRows: others.recordedRows.rows,
      isFinished: step !== null,
    });
  }
}

/** The report of a run; without counts, of one that found the cluster open already. */
function reportOf(store: Store, { cluster }: MigrationMark, counts: Partial<MigrationReport>): MigrationReport {
  return {
    cluster,
    passes: 0,
    sessions: rowsOf(store.sessions),
    copied: 0,
    removed: 0,
    configuration: 0,
    idempotencyKeys: 0,
    months: 0,
    hours: 0,
    paths: 0,
    recordedRows: 0,
    isFinished: false,
    ...counts,
  };
}

/** Makes the configuration of the cluster equal to the store's, in one change. */
async function copyConfiguration(
  store: Store,
  truth: ConfigTruth,
  { cluster, store: migrated }: MigrationMark,
): Promise<RowsPass> {
  const wanted = configurationOf(store);
  const { position, rows } = await truth.read(cluster);
  const stored = new Map(rows.map(({ field, value }) => [field, value]));
  const changed: ConfigRow[] = [];
  for (const row of wanted) {
    const before = stored.get(row.field);
    stored.delete(row.field);
    if (row.value !== null && before?.equals(row.value) !== true) changed.push(row);
  }
  for (const field of stored.keys()) changed.push({ field, value: null });
  if (changed.length > 0) {
    const outcome = await truth.change(
      position,
      randomUUID(),
      { rows: changed, logged: [] },
      limits.configChangeMs,
      migrated,
    );
    if (outcome === "full")
      throw new StoreError(`the configuration has more than ${limits.configBytesMax} bytes: a cluster can't hold it`);
    if (typeof outcome === "string")
      throw new StoreError("the cluster's configuration is changed by others: nothing else may use the cluster yet");
  }
  return { rows: wanted.length, copied: changed.length };
}

type Rest = Exclude<CopiedBy, "sessions">;

/** What is copied besides sessions and configuration. */
const rest: Record<Rest, (options: MigrationOptions) => Iterable<WantedRow>> = {
  recordedRows: ({ store, ...times }) => wantedRecordedRows(store, times),
  idempotency: ({ store }) => wantedIdempotency(store),
  usage: ({ store }) => wantedUsage(store),
  traffic: ({ store, trafficMs }) => wantedTraffic(store, trafficMs),
  judged: ({ store, ...times }) => wantedJudged(store, times),
  paths: ({ store }) => wantedPaths(store),
};

async function copyRest(options: MigrationOptions, bulk: BulkClient, onPiece: () => void) {
  const passes = {} as Record<Rest, RowsPass>;
  for (const name of new Set(rowKinds.map(({ copied }) => copied))) {
    if (typeof name === "string" && name !== "sessions")
      passes[name] = await copyRows(bulk, rest[name](options), onPiece);
  }
  return passes;
}

interface Finishing {
  readonly step: FinalStep;
  readonly mark: MigrationMark;
  /** The store's last commit before the pass that found everything the same. */
  readonly lastCommit: number;
  /** Sessions that the pass found. */
  readonly sessions: number;
}

/** Counts the rows again, and opens the cluster to nodes; returns false, and opens nothing, if the store was written since the last pass began. */
async function finish(
  { store, name, refuseServed }: MigrationOptions,
  bulk: BulkClient,
  { step, mark, lastCommit, sessions }: Finishing,
): Promise<boolean> {
  let indexed = 0;
  for (const projectId of [...store.projects.getKeys({})])
    indexed += await countClusterSessions(bulk.client, projectId);
  if (indexed !== sessions)
    throw new StoreError(`${name} has ${indexed} sessions, this store ${sessions}: run the command again`);
  await refuseServed();
  if (!(await step.opens(lastCommit))) return false;
  const command = scriptCommand(finishMigration, [configKeys.head], [mark.store, Date.now()], configSlot);
  const [reply] = await bulk.write([command]).catch((error: unknown) => {
    if (!(error instanceof ClusterError)) throw error;
    throw new StoreError(
      `${faultLine(error)}: it is not known whether ${name} was opened to nodes, so this store can't be used meanwhile; run this again`,
      { cause: error },
    );
  });
  const openedMs = openedAt(String(reply), mark.store);
  if (openedMs === null) throw new StoreError(`${name} has lost what was copied, or others use it: run this again`);
  await step.done(openedMs);
  return true;
}
