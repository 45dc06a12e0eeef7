/** Serves metrics and health on the admin address, and reloads certificates and network facts on SIGHUP. */
import { bytesOfMib } from "../config/config.js";
import { startAdmin } from "../http/admin.js";
import { isReady } from "../http/readiness.js";
import { limits } from "../limits.js";
import { createExposition, type ProcessState, type ThreadBuffers } from "../metrics/exposition.js";
import { freeBytesOf } from "../store/disk-room.js";
import type { Store } from "../store/store.js";
import { rowsOf, usedBytes } from "../store/store-size.js";
import { type CertificateOptions, CertificateReload } from "./certificate-reload.js";
import type { RunningServer } from "./http-thread.js";
import { programVersion } from "./version.js";

/** What the admin address shows and SIGHUP reloads; `first` is the HTTP thread of the main thread. */
interface OperationsOptions extends CertificateOptions {
  readonly first: RunningServer;
  /** The counts of all HTTP threads; the first thread's come first. */
  readonly buffers: () => readonly ThreadBuffers[];
  /** Makes all HTTP threads use the current files of `--ip-database`; rejects when one can't be used, and changes nothing. */
  readonly reloadNetwork: () => Promise<void>;
  /** Makes all HTTP threads open the file of `--event-log` anew. */
  readonly reopenEventLog: () => void;
}

/** Running operations; `close` ends the admin address and its signal handlers. */
interface Operations {
  close(): Promise<void>;
}

/** Rejects when the certificate can't be used, or when listening on the admin address fails for any reason but that it is taken. */
export async function startOperations(options: OperationsOptions): Promise<Operations> {
  const { config, log, buffers } = options;
  const certificate = new CertificateReload(options);
  const exposition = createExposition({
    version: programVersion(),
    routes: options.first.routeLabels,
    threads: buffers,
    state: stateReader(options, certificate),
  });
  const admin = await startAdmin({
    host: config.adminHost,
    port: config.adminPort,
    token: config.adminToken,
    metrics: exposition.text,
    metricsType: exposition.contentType,
    readiness: options.first.readiness,
    onFailure: (err) => log.error({ err }, "the admin address failed"),
    onTaken: () =>
      log.warn(
        { host: config.adminHost, port: config.adminPort },
        "the admin address is in use; retrying until it is free",
      ),
    onListening: (port) => log.info({ host: config.adminHost, port }, "admin listening"),
    retryMs: limits.adminRetryMs,
    connectionsMax: limits.adminConnectionsMax,
    requestsOfConnection: limits.adminRequestsOfConnection,
    silenceMs: limits.adminSilenceMs,
    headerMs: limits.adminHeaderMs,
    lookMs: limits.adminLookMs,
  });
  let reloading = Promise.resolve();
  const onHangUp = (): void => {
    options.reopenEventLog();
    certificate.reloadLater();
    // One after another, if the signal comes more than once.
    reloading = reloading.then(() => reloadNetwork(options));
  };
  process.on("SIGHUP", onHangUp);
  return {
    close: async () => {
      process.off("SIGHUP", onHangUp);
      await admin.close();
    },
  };
}

/** The state of the process at a scrape; after the store has closed, the last known state. */
function stateReader(options: OperationsOptions, certificate: CertificateReload): () => ProcessState {
  const { config, first } = options;
  const remote = remoteState(first.store);
  let stored = { storeBytes: 0, diskFreeBytes: 0, sessionsStored: 0, blocksStored: 0 };
  return () => {
    const readiness = first.readiness();
    if (readiness.store) stored = { ...storedState(first.store, config.dataDir), ...remote() };
    return {
      ...stored,
      isReady: isReady(readiness),
      configAgeSeconds: first.configAgeMs() / 1000,
      cluster: first.clusterState(),
      shedAboveBytes: bytesOfMib(config.queueMb),
      certificateExpiresAt: certificate.expiresAt,
      certificateReloads: certificate.reloads,
    };
  };
}

const countEveryMs = 60_000;

/** What a cluster stores, up to a minute old, because a scrape does not wait for it. Empty for a store of one host. */
function remoteState({ remoteSessions, projects }: Store): () => { readonly sessionsStored?: number } {
  if (remoteSessions === undefined) return () => ({});
  let sessionsStored = 0;
  let countedMs = Number.NEGATIVE_INFINITY;
  const count = (): { sessionsStored: number } => {
    if (performance.now() - countedMs < countEveryMs) return { sessionsStored };
    countedMs = performance.now();
    remoteSessions.count([...projects.getKeys({})]).then(
      (sessions) => {
        sessionsStored = sessions;
      },
      // The cluster does not answer: keep the last known values.
      () => {},
    );
    return { sessionsStored };
  };
  count();
  return count;
}

function storedState(store: Store, dataDir: string) {
  return {
    storeBytes: usedBytes(store),
    diskFreeBytes: freeBytesOf(dataDir),
    sessionsStored: rowsOf(store.sessions),
    blocksStored: rowsOf(store.blocks),
  };
}

/** Reads the files of `--ip-database` again. If one can't be used, logs that and keeps the old facts. */
async function reloadNetwork({ config, log, reloadNetwork: reload }: OperationsOptions): Promise<void> {
  if (config.ipDatabase.length === 0) return;
  try {
    await reload();
    log.info({ files: config.ipDatabase }, "network data reloaded");
  } catch (err) {
    log.error({ err }, "the new network data can't be used; the old data stays");
  }
}
