/** Runs `--http-threads` servers on one port: the first in this thread, the others in threads of their own. */

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { MessageChannel, Worker } from "node:worker_threads";
import { workerPath } from "../assets.js";
import { isMirrorOf, lookAtCluster, unfit } from "../cluster-store/open-cluster.js";
import type { ServeConfig } from "../config/config.js";
import type { HealthAnswer } from "../contract/api/api-types.js";
import { dayMs } from "../contract/values/durations.js";
import { Exceptions } from "../control-plane/exceptions/exceptions.js";
import type { WaitingOptions } from "../http/waiting-server.js";
import { limits } from "../limits.js";
import { isServed } from "../live/running.js";
import type { ThreadBuffers } from "../metrics/exposition.js";
import { loadNetworkFacts } from "../network/network-files.js";
import type { Logger } from "../runtime/log.js";
import { sweep } from "../store/expiry.js";
import type { Retention } from "../store/retention.js";
import { type RunningServer, type ServerParts, startServer } from "./http-thread.js";
import { newSharedMemory, type ThreadPlace } from "./shared-memory.js";

/** The data that a further HTTP thread starts with. */
export interface HttpThreadData {
  readonly config: ServeConfig;
  /** Its name in the log. */
  readonly name: string;
  readonly place: ThreadPlace;
}

/** A message from the first HTTP thread to a further one. */
export type HttpThreadOrder =
  | "drain"
  | "reload-certificate"
  | "reopen-event-log"
  | "stop"
  | { readonly network: SharedArrayBuffer };

/** A message from a further HTTP thread: one when it listens, then the result of each order to reload (`null` means done). */
export type HttpThreadReport = { readonly listening: ThreadBuffers } | { readonly reloaded: string | null };

interface HttpThread {
  readonly worker: Worker;
  readonly buffers: ThreadBuffers;
}

/**
 * Starts all HTTP threads and the admin address, or nothing: rejects when one fails. `stop` stops all. Waits for a cluster that does not answer until
 * `stopping` aborts.
 */
export async function startServers(
  given: ServeConfig,
  log: Logger,
  parts: ServerParts,
  stopping?: AbortSignal,
): Promise<RunningServer> {
  await refuseForeignPort(given);
  const found = given.store === "" ? given : { ...given, ...(await clusterIsThere(given, log, stopping)) };
  const config = { ...found, port: await sharedPort(found) };
  const shared = newSharedMemory(config.httpThreads, await loadNetworkFacts(config.ipDatabase));
  // Loaded while the first thread starts.
  const operationsLoaded = import("./admin-operations.js");
  const first = await startServer(config, log, parts, { shared, number: 0 });
  await sayParser(log);
  if (!config.noAgentFetch) first.startAgentRefresh();
  const threads: HttpThread[] = [];
  const stopSweeping = sweepRegularly(config, log, first);
  let closeOperations = async (): Promise<void> => {};
  const stopAll = async (): Promise<void> => {
    await stopSweeping();
    const others = Promise.all(threads.map(stopThread));
    await Promise.all([first.stop(others), others]);
    await closeOperations();
  };
  const drain = (): void => {
    first.drain();
    for (const { worker } of threads) worker.postMessage("drain" satisfies HttpThreadOrder);
  };
  try {
    const starting: Promise<HttpThread>[] = [];
    for (let count = 1; count < config.httpThreads; count++) {
      const { port1, port2 } = new MessageChannel();
      first.takeReports(port1);
      const place = { shared, number: count, reports: port2 };
      starting.push(startThread({ config: { ...config, port: first.port }, name: `http-${count}`, place }, log));
    }
    const started = await Promise.allSettled(starting);
    for (const each of started) if (each.status === "fulfilled") threads.push(each.value);
    for (const each of started) if (each.status === "rejected") throw each.reason;
    const { startOperations } = await operationsLoaded;
    const operations = await startOperations({
      config,
      log,
      first,
      buffers: () => [first.buffers, ...threads.map(({ buffers }) => buffers)],
      reloadCertificate: async () => {
        await Promise.all([first.reloadCertificate(), ...threads.map(reloadCertificateOf)]);
      },
      reopenEventLog: () => {
        first.reopenEventLog();
        for (const { worker } of threads) worker.postMessage("reopen-event-log" satisfies HttpThreadOrder);
      },
      reloadNetwork: async () => {
        const network = await loadNetworkFacts(config.ipDatabase);
        first.useNetwork(network);
        for (const { worker } of threads) worker.postMessage({ network } satisfies HttpThreadOrder);
      },
    });
    closeOperations = () => operations.close();
  } catch (error) {
    await stopAll();
    throw error;
  }
  const stop = async (): Promise<void> => {
    drain();
    await delay(config.drainSeconds * 1000);
    await stopAll();
  };
  return { ...first, drain, stop };
}

/** Says which release of the HTTP parser the host could load: what the older one can't read is answered 505. */
async function sayParser(log: Logger): Promise<void> {
  // Not imported above: where it can't be loaded, the thread's start says so in one line.
  const { isNewerRelease } = await import("../http/uws.js");
  if (isNewerRelease) log.info({ parser: "newer" }, "HTTP parser");
  else {
    log.info(
      { parser: "older", answers505: "a request line that TCP splits after its method or inside its ' HTTP/1.1'" },
      "HTTP parser: the newer one needs glibc 2.38 and the optional packages; behind a proxy that sends whole heads, such as nginx or Caddy, both read the same",
    );
  }
}

/**
 * Resolves with the ports to listen on once the cluster is fit for use; until then, they answer that the server is not ready. Unless this is the
 * first start, it also waits for missing replicas: otherwise no node could restart while one is down. Rejects with what is wrong with the cluster. If
 * it waited for the cluster, it rejects with what is still wrong `limits.clusterComingMs` after the cluster came back.
 */
async function clusterIsThere(config: ServeConfig, log: Logger, stopping?: AbortSignal): Promise<Ports> {
  let waiting: Waiting | null = null;
  let saidMs = 0;
  let said = "";
  let isMirror: boolean | undefined;
  // A cluster that comes back has its masters before its replicas: faults at that moment may pass.
  let cameMs = performance.now();
  let found: Found;
  try {
    for (;;) {
      const { faults, warnings, ...looked } = await lookAtCluster(config);
      found = { faults, ...looked };
      if (looked.lacksReplicas) isMirror ??= await isMirrorOf(config);
      stopping?.throwIfAborted();
      const mayWait = looked.isAway || (looked.lacksReplicas && isMirror === true);
      // The other shards are served, if one of them is that of the configuration.
      const isServed = mayWait && looked.lacksShards && (await isMirrorOf(config, { ifUnanswered: false }));
      if (isServed) log.error({ faults }, "the cluster lacks shards: serving the others");
      const isAway = mayWait && !isServed;
      const isComing =
        waiting !== null && !isServed && faults.length > 0 && performance.now() - cameMs < limits.clusterComingMs;
      if (isAway) cameMs = performance.now();
      if (!isAway && !isComing) {
        if (faults.length > 0 && !isServed) throw unfit(config, faults);
        if (waiting !== null) log.info("the cluster is there");
        for (const warning of warnings) log.warn({ warning }, "the cluster");
        return waiting?.ports ?? config;
      }
      if (waiting === null) {
        waiting = await startWaiting(config, log, () => found);
        saidMs = performance.now();
        said = troubleOf(found);
        log.error({ faults, ...waiting.ports }, `the cluster ${said}: waiting for it, not ready`);
      } else if (troubleOf(found) !== said || performance.now() - saidMs > limits.outageSaidEveryMs) {
        saidMs = performance.now();
        said = troubleOf(found);
        log.error({ faults }, "still waiting for the cluster, not ready");
      }
      await delay(limits.clusterLookMs, undefined, { signal: stopping }).catch(() => {});
      stopping?.throwIfAborted();
    }
  } finally {
    await waiting?.close();
  }
}

type Ports = Pick<ServeConfig, "port" | "adminPort">;

/** Both addresses while the server waits for the cluster. */
interface Waiting {
  readonly ports: Ports;
  close(): Promise<void>;
}

/** What the last look at the cluster found wrong. */
type Found = Pick<Awaited<ReturnType<typeof lookAtCluster>>, "faults" | "isAway" | "lacksReplicas">;

function troubleOf({ isAway, lacksReplicas }: Found): string {
  if (isAway) return "can't be reached";
  return lacksReplicas ? "lacks replicas" : "is not as it has to be yet";
}

/** Only the admin address shows addresses of the cluster and what its servers say. */
async function startWaiting(config: ServeConfig, log: Logger, found: () => Found): Promise<Waiting> {
  const { adminHost, adminPort } = config;
  const { startWaitingServer } = await import("../http/waiting-server.js");
  const notReady = (what: string): HealthAnswer => ({ status: "not ready", waiting_for: what });
  const server = await startWaitingServer({
    ...waitingOptions(config),
    readiness: () => notReady(`the cluster, which ${troubleOf(found())}`),
  });
  const admin = await startWaitingServer({
    host: adminHost,
    port: adminPort,
    readiness: () => notReady(`the cluster ${unfit(config, found().faults).message}`),
  }).catch((err: unknown) => {
    log.warn(
      { err, host: adminHost, port: adminPort },
      "the admin address can't be had while the cluster is waited for",
    );
    return null;
  });
  return {
    ports: { port: server.port, adminPort: admin?.port ?? adminPort },
    close: async () => {
      await Promise.all([server.close(), admin?.close()]);
    },
  };
}

function waitingOptions({ host, port, tlsCert, tlsKey }: ServeConfig): Omit<WaitingOptions, "readiness"> {
  if (tlsCert === "") return { host, port };
  return { host, port, tls: { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) } };
}

/**
 * Rejects when a program that is not a server of this store listens on the port. uWebSockets would share the port, as our own servers do during a
 * rolling restart, and half of the requests would go to the other program.
 */
async function refuseForeignPort({ host, port, dataDir }: ServeConfig): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  try {
    // Unlike uWebSockets, Node asks for the port alone.
    await once(probe.listen(port, host), "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || (await isServed(dataDir))) return;
    throw new Error(
      `can't listen on ${host}:${port}: another program uses it, or a verdictd that serves another store than ${dataDir}`,
    );
  }
  probe.close();
  await once(probe, "close");
}

/**
 * Returns the port to listen on. uWebSockets lets no other listener share a port that the system picks: if several threads listen, this picks a free
 * one beforehand.
 */
async function sharedPort({ host, port, httpThreads, tlsCert }: ServeConfig): Promise<number> {
  if (port !== 0 || (httpThreads === 1 && tlsCert === "")) return port;
  const probe = createServer().listen(0, host);
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function startThread(workerData: HttpThreadData, log: Logger): Promise<HttpThread> {
  const worker = new Worker(workerPath("http"), { workerData, transferList: [workerData.place.reports!] });
  const [report] = (await once(worker, "message")) as [HttpThreadReport];
  worker.on("error", (err) => log.fatal({ err }, "an HTTP thread failed"));
  if (!("listening" in report)) throw new Error("an HTTP thread did not start");
  return { worker, buffers: report.listening };
}

async function reloadCertificateOf({ worker }: HttpThread): Promise<void> {
  const reported = once(worker, "message") as Promise<[HttpThreadReport]>;
  worker.postMessage("reload-certificate" satisfies HttpThreadOrder);
  const [report] = await reported;
  if (!("reloaded" in report) || report.reloaded !== null) {
    throw new Error(`an HTTP thread keeps the old certificate: ${"reloaded" in report ? report.reloaded : ""}`);
  }
}

async function stopThread({ worker }: HttpThread): Promise<void> {
  const ended = once(worker, "exit");
  worker.postMessage("stop" satisfies HttpThreadOrder);
  await ended;
}

/** Removes expired data from time to time; returns a function that stops it. */
function sweepRegularly(config: ServeConfig, log: Logger, { store }: RunningServer): () => Promise<void> {
  const retention: Retention = {
    sessionMs: config.sessionDays * dayMs,
    sessionsMax: config.sessionsMax,
    blockMs: config.blockDays * dayMs,
    trafficMs: config.statsDays * dayMs,
  };
  const exceptions = new Exceptions(store, Date.now);
  let isStopping = false;
  let running = Promise.resolve();
  const run = async (): Promise<void> => {
    try {
      log.debug(await sweep(store, retention, Date.now(), () => isStopping), "swept");
      await exceptions.sweep();
      const projectIds = [...store.projects.getKeys({})];
      const sessions = await store.remoteSessions?.sweep(projectIds, retention, Date.now(), () => isStopping);
      if (typeof sessions === "number") log.debug({ sessions }, "swept the cluster");
    } catch (err) {
      log.error({ err }, "removing expired data failed");
    }
  };
  const timer = setInterval(() => {
    running = running.then(run);
  }, limits.sweepEveryMs);
  return () => {
    isStopping = true;
    clearInterval(timer);
    return running;
  };
}
