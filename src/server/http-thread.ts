/**
 * Starts and stops one HTTP thread: a store, the services on it (`services.ts`), a pool of scoring threads and a listener. `--http-threads` says how
 * many of them share one port.
 */

import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { MessagePort } from "node:worker_threads";
import { workerPath } from "../assets.js";
import { type ClusterState, ClusterWatch } from "../cluster-store/cluster-watch.js";
import { migratedFault, mirrorFault } from "../cluster-store/config/open-config.js";
import { tellOfBatches } from "../cluster-store/ingest/refused-batches.js";
import {
  countsOnTheirWayMs,
  lookAtCluster,
  type NodeThread,
  type OpenedCluster,
  openCluster,
} from "../cluster-store/open-cluster.js";
import { OutageLog } from "../cluster-store/outage-log.js";
import { type CertificateFiles, readCertificate } from "../config/certificate.js";
import type { ServeConfig } from "../config/config.js";
import { defaultPlans } from "../contract/configuration/plans.js";
import type { Accounts } from "../control-plane/accounts/accounts.js";
import type { Projects } from "../control-plane/accounts/projects.js";
import { AccessLog } from "../http/access-log.js";
import { isReady, ProcessReadiness, type Readiness } from "../http/readiness.js";
import type { Route } from "../http/route.js";
import type { Listening } from "../http/server.js";
import { logScoringFault } from "../ingest/scoring-faults.js";
import { limits } from "../limits.js";
import type { ThreadBuffers } from "../metrics/exposition.js";
import type { RouteLabel } from "../metrics/route-meters.js";
import { ThreadMeters } from "../metrics/thread-meters.js";
import { type Logger, loggedNetwork } from "../runtime/log.js";
import { StoreError, surviveCommitFailures } from "../store/failures.js";
import { openStore } from "../store/open-store.js";
import type { Store } from "../store/store.js";
import { newWriteCounts, WriteWatch } from "../store/write-watch.js";
import { scoringPool, scoringThreadsUp, watchScoring } from "./scoring-pool.js";
import type { Services } from "./services.js";
import { newSharedMemory, type ThreadPlace } from "./shared-memory.js";
import { writeRecorded } from "./write-recorded.js";

/** One HTTP thread that takes requests, with what operations and tests need of it. */
export interface RunningServer {
  readonly port: number;
  readonly store: Store;
  readonly accounts: Accounts;
  readonly projects: Projects;
  /** The whole route table. */
  readonly routes: readonly Route[];
  /** What this thread and its scoring threads count. */
  readonly buffers: ThreadBuffers;
  /** Age of this node's copy of the cluster's configuration, ms; 0 without a cluster. */
  configAgeMs(): number;
  /** What this node last saw of its cluster; null on one host, and of further HTTP threads. */
  clusterState(): ClusterState | null;
  readonly routeLabels: readonly RouteLabel[];
  /** Of the process: all of its HTTP threads. */
  readiness(): Readiness;
  /** Keeps the keys of signed agents fresh from now on; for one thread of a process. */
  startAgentRefresh(): void;
  /** Makes this thread open its event log anew. */
  reopenEventLog(): void;
  /** Takes what a further thread judged from this port. */
  takeReports(port: MessagePort): void;
  /** From now on `/readyz` says that the server is not ready; it goes on serving. */
  drain(): void;
  /** Makes new connections use the current certificate files. Rejects and changes nothing when they can't be used. */
  reloadCertificate(): Promise<void>;
  /** Makes this thread use another table of network facts from the next request on. */
  useNetwork(network: SharedArrayBuffer): void;
  /**
   * Refuses new connections, finishes what was accepted, then closes those that are open and the store; the store only after `others`, which are
   * threads that may still change the configuration that this one follows for them.
   */
  stop(others?: PromiseLike<unknown>): Promise<void>;
}

export { createLog } from "../runtime/log.js";

/** What a test may replace. */
export interface ServerParts {
  /** The Piscina entry of the scoring threads. */
  readonly scoringWorker?: URL;
}

/** Starts one HTTP thread with its scoring workers. Rejects when the store or the port can't be had; nothing is left open then. */
export async function startServer(
  config: ServeConfig,
  log: Logger,
  parts: ServerParts = {},
  place: ThreadPlace = { shared: newSharedMemory(1), number: 0 },
): Promise<RunningServer> {
  const thread = await openThread(config, log, parts, place);
  try {
    return runningServer(thread, await beginServing(thread, config, log, place));
  } catch (error) {
    await thread.close();
    throw error;
  }
}

/** All of an HTTP thread that is open before it listens. */
interface OpenedThread {
  readonly store: Store;
  readonly cluster: OpenedCluster | null;
  readonly watch: ClusterWatch | null;
  readonly pool: ReturnType<typeof scoringPool>;
  /** Resolves once all scoring threads are there. */
  readonly threadsUp: Promise<unknown>;
  readonly meters: ThreadMeters;
  readonly readiness: ProcessReadiness;
  readonly services: Services;
  readonly server: ReturnType<typeof serverOf>;
  readonly batchOutages: OutageLog;
  /** From now on it says that it is stopping. */
  drain(): void;
  /** Ends what is under way and closes all; the store only after `others`. */
  close(others?: PromiseLike<unknown>): Promise<void>;
}

/** Opens store, services and scoring threads; the port is left to `beginServing`. */
async function openThread(
  config: ServeConfig,
  log: Logger,
  parts: ServerParts,
  place: ThreadPlace,
): Promise<OpenedThread> {
  const certificate = certificateOf(config);
  const { outage, batchOutage } = place.shared;
  const outages = new OutageLog(log, outage);
  const batchOutages = new OutageLog(log, batchOutage, "batches are accepted again");
  const cluster = config.store === "" ? null : await openCluster(config, nodeThread(outages, place));
  const store = cluster?.store ?? (await openOfHost(config.dataDir));
  const watch = cluster !== null && place.number === 0 ? watchCluster(config, cluster, log) : null;
  const threads = Math.max(1, Math.floor(config.scoringThreads / config.httpThreads));
  const meters = new ThreadMeters(threads);
  const writeCounts = newWriteCounts();
  const entry = cluster === null ? "scoring" : "cluster-scoring";
  const worker = parts.scoringWorker ?? pathToFileURL(workerPath(entry));
  const pool = scoringPool(
    config,
    threads,
    meters.scoring,
    writeCounts,
    worker,
    cluster && { url: cluster.url, outage: batchOutage },
  );
  const threadsUp = scoringThreadsUp(pool, threads, meters, (err) => log.error({ err }, "a scoring thread failed"));
  // Awaited by `beginServing`: a failure before that must wait, too.
  threadsUp.catch(() => {});
  // Loaded while the scoring threads start.
  const loading = Promise.all([import("../http/server.js"), import("./services.js")]);
  const [http, { buildServices }] = await loading.catch(async (error: unknown) => {
    await pool.destroy();
    await store.close();
    throw error;
  });
  let isStopping = false;
  const ownReadiness = (): Readiness => ({
    store: canRead(store),
    workers: pool.threads.length >= threads && meters.scoringThreadsUp >= threads,
    draining: isStopping,
    ...(cluster !== null && { cluster: watch?.isUsable ?? true }),
  });
  const readiness = new ProcessReadiness(place.shared.readiness, place.number, ownReadiness);
  const services = buildServices({
    config,
    log,
    store,
    pool,
    meters,
    isReady: () => isReady(readiness.all()),
    shared: place.shared,
    outages,
  });
  const server = serverOf(http, config, services, meters, log, certificate, () => cluster?.controlPlaneFault() ?? null);
  const writing = writeRecorded(services, outages, batchOutages, log);
  const leaveFailures = surviveCommitFailures((err) => log.error({ err }, "the store could not be written"));
  const watching = watchScoring(services.queue, pool, new WriteWatch(writeCounts), log);
  const drain = (): void => {
    isStopping = true;
  };
  const close = async (others?: PromiseLike<unknown>): Promise<void> => {
    drain();
    await Promise.all([services.queue.drain(), watch?.stop()]);
    clearInterval(watching);
    meters.stop();
    await writing.stop();
    await services.alerting
      .close()
      .catch((err: unknown) => outages.failed(err, "counts for baselines could not be stored"));
    await services.events?.close();
    services.reverseDns.close();
    await services.agentRefresh.stop();
    await services.feed.close();
    if (cluster !== null) await delay(countsOnTheirWayMs);
    await pool.close();
    await others;
    await store.close();
    leaveFailures();
  };
  return { store, cluster, watch, pool, threadsUp, meters, readiness, services, server, batchOutages, drain, close };
}

/** Listens once the scoring threads are there. */
async function beginServing(
  thread: OpenedThread,
  config: ServeConfig,
  log: Logger,
  place: ThreadPlace,
): Promise<Listening> {
  const { store, cluster, watch, pool, meters, readiness, services, server, batchOutages } = thread;
  await thread.threadsUp;
  pool.on("message", (news: unknown) => {
    tellOfBatches(batchOutages, news);
    logScoringFault(log, news);
    services.queue.settlePostponed(news);
  });
  const state = () => ({
    isReady: isReady(readiness.show()),
    cluster: cluster?.client.meters ?? null,
    dns: services.reverseDns.stats(),
  });
  meters.show(state, limits.stateShownEveryMs);
  watch?.start();
  await services.feed
    .listen(config.dataDir)
    .catch((err: unknown) =>
      log.warn({ err }, "verdictd tail will not work: no socket can be created in the data folder"),
    );
  // The last step of a migration marks the store, then looks for sockets. A mark that it made since this thread opened the store is seen here.
  const fault = cluster === null ? migratedFault(store) : null;
  if (fault !== null) throw new StoreError(fault);
  const listening = await server.listen(config.host, config.port);
  if (place.reports === undefined) services.alerting.startNode();
  else services.alerting.startReports(place.reports);
  return listening;
}

/** What others have of it while it runs. */
function runningServer(thread: OpenedThread, listening: Listening): RunningServer {
  const { store, cluster, watch, meters, readiness, services } = thread;
  return {
    port: listening.port,
    store,
    accounts: services.accounts,
    projects: services.projects,
    routes: services.routes,
    buffers: meters.buffers,
    configAgeMs: () => cluster?.configAgeMs() ?? 0,
    clusterState: () => watch?.state ?? null,
    routeLabels: meters.routeLabels,
    readiness: () => readiness.all(),
    startAgentRefresh: () => services.agentRefresh.start(),
    reopenEventLog: () => services.events?.reopen(),
    takeReports: (port) => services.alerting.takeReports(port),
    drain: () => {
      thread.drain();
      readiness.show();
    },
    reloadCertificate: listening.reloadCertificate,
    useNetwork: (network) => services.network.use(network),
    stop: async (others) => {
      thread.drain();
      await listening.stop();
      listening.close();
      await thread.close(others);
    },
  };
}

/** The listener of the services' routes, without its port. */
function serverOf(
  { HttpServer, meteredRows }: typeof import("../http/server.js"),
  config: ServeConfig,
  services: Services,
  meters: ThreadMeters,
  log: Logger,
  certificate: CertificateFiles | null,
  controlPlaneFault: () => string | null,
) {
  const routeMeters = meters.meterRoutes(meteredRows(services.routes));
  return new HttpServer({
    routes: services.routes,
    credentials: services.credentials,
    plans: defaultPlans,
    findProject: (id) => services.projects.find(id),
    strictAbilities: config.strictAbilities,
    onTokenUsed: (tokenId) => services.tokenUses.record(tokenId),
    controlPlaneFault,
    onTick: () => services.reads.begin(),
    onFailure: services.onFailure,
    meterOf: (method, path) => routeMeters.of(method, path),
    accessLog: log.isLevelEnabled("debug")
      ? new AccessLog((entry) => log.debug(entry, "request"), loggedNetwork)
      : null,
    certificate,
  });
}

/** The store of a single host. Throws a `StoreError` when the folder mirrors a cluster, or its store was migrated to one. */
async function openOfHost(dataDir: string): Promise<Store> {
  const store = openStore(dataDir);
  const fault = mirrorFault(store) ?? migratedFault(store);
  if (fault === null) return store;
  await store.close();
  throw new StoreError(fault);
}

/** Watches the cluster for the whole process. */
function watchCluster(config: ServeConfig, { client, url }: OpenedCluster, log: Logger): ClusterWatch {
  const known = (): readonly string[] => {
    const addresses = client.shards().flatMap(({ master, replicas }) => [master, ...replicas]);
    return addresses.length > 0 ? addresses : url.seeds;
  };
  return new ClusterWatch({ acks: config.storeAcks, look: () => lookAtCluster(config), known, log });
}

/** The role of an HTTP thread for a cluster's configuration: the first thread follows it for all of them. */
function nodeThread(outages: OutageLog, { shared, number }: ThreadPlace): NodeThread {
  return {
    state: shared.configState,
    isFollower: number === 0,
    onFault: (err) => {
      if (err === null) outages.over("the configuration of the cluster is up to date again");
      else outages.began(err, "the configuration of the cluster can't be read: the control plane answers 503");
    },
  };
}

/** Checks the certificate's files; null without TLS. Throws when they can't be used. */
function certificateOf({ tlsCert, tlsKey }: ServeConfig): CertificateFiles | null {
  if (tlsCert === "") return null;
  const files = { certificate: tlsCert, key: tlsKey };
  const read = readCertificate(files);
  if ("fault" in read) throw new Error(read.fault);
  return files;
}

function canRead(store: Store): boolean {
  try {
    return store.meta.get("schemaVersion") !== undefined;
  } catch {
    return false;
  }
}
