/** What operators and their tools get of a running server: the admin address with metrics and health, and certificates on SIGHUP. */
import { type CertificateFacts, readCertificate, reasonToKeepOld } from "../config/certificate.js";
import type { ServeConfig } from "../config/config.js";
import { bytesOfMib } from "../config/config.js";
import { startAdmin } from "../http/admin.js";
import { isReady } from "../http/readiness.js";
import { limits } from "../limits.js";
import { createExposition, type ProcessState, type ThreadBuffers } from "../metrics/exposition.js";
import type { Logger } from "../runtime/log.js";
import { freeBytesOf } from "../store/disk-room.js";
import type { Store } from "../store/store.js";
import { rowsOf, usedBytes } from "../store/store-size.js";
import type { RunningServer } from "./http-thread.js";
import { programVersion } from "./version.js";

/** What the admin address shows and SIGHUP renews; `first` is the HTTP thread of the main thread. */
export interface OperationsOptions {
  readonly config: ServeConfig;
  readonly log: Logger;
  readonly first: RunningServer;
  /** Of all HTTP threads, the first thread's first. */
  readonly buffers: () => readonly ThreadBuffers[];
  /** Renews the certificate of all HTTP threads; rejects when one kept the old one. */
  readonly renewCertificate: () => Promise<void>;
  /** Has all HTTP threads use the files of `--ip-database` as they are now; rejects when one can't be used, and changes nothing. */
  readonly renewNetwork: () => Promise<void>;
}

/** Running operations; `close` ends the admin address and its signal handlers. */
export interface Operations {
  close(): Promise<void>;
}

/** Rejects when the admin address can't be had for another reason than that it is taken, or the certificate can't be used. */
export async function startOperations(options: OperationsOptions): Promise<Operations> {
  const { config, log, buffers } = options;
  const certificate = new Certificate(options);
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
  });
  let renewing = Promise.resolve();
  const onHangUp = (): void => {
    certificate.renewLater();
    // One after another, if the signal comes more than once.
    renewing = renewing.then(() => renewNetwork(options));
  };
  process.on("SIGHUP", onHangUp);
  return {
    close: async () => {
      process.off("SIGHUP", onHangUp);
      await admin.close();
    },
  };
}

/** The state of the process at a scrape; once the store is closed, as it was last. */
function stateReader(options: OperationsOptions, certificate: Certificate): () => ProcessState {
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
      shedAboveBytes: bytesOfMib(config.queueMb),
      certificateExpiresAt: certificate.expiresAt,
      certificateReloads: certificate.reloads,
    };
  };
}

const countEveryMs = 60_000;

/** What lies in a cluster, as of a minute ago: a scrape does not wait for it. Nothing for a store of one host. */
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
      // The cluster does not answer: what was known stays.
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

/** Reads the files of `--ip-database` again. What can't be used is logged; the old facts stay. */
async function renewNetwork({ config, log, renewNetwork: renew }: OperationsOptions): Promise<void> {
  if (config.ipDatabase.length === 0) return;
  try {
    await renew();
    log.info({ files: config.ipDatabase }, "network data reloaded");
  } catch (err) {
    log.error({ err }, "the new network data can't be used; the old data stays");
  }
}

/** The certificate in use. A bad new one is refused and logged; the old one stays. */
class Certificate {
  readonly #options: OperationsOptions;
  #facts: CertificateFacts | null = null;
  #done = 0;
  #refused = 0;
  #renewing = Promise.resolve();

  constructor(options: OperationsOptions) {
    this.#options = options;
    const read = this.#read();
    if (read === null) return;
    if ("fault" in read) throw new Error(read.fault);
    this.#facts = read;
    const reason = reasonToKeepOld(read, Date.now());
    if (reason !== null) options.log.warn({ reason }, "the certificate is used nevertheless");
  }

  /** Seconds since the epoch; null without TLS. */
  get expiresAt(): number | null {
    return this.#facts === null ? null : this.#facts.validToMs / 1000;
  }

  get reloads(): { readonly done: number; readonly refused: number } {
    return { done: this.#done, refused: this.#refused };
  }

  /** One after another, if the signal comes more than once. */
  renewLater(): void {
    this.#renewing = this.#renewing.then(() => this.#renew());
  }

  #read(): ReturnType<typeof readCertificate> | null {
    const { tlsCert, tlsKey } = this.#options.config;
    return tlsCert === "" ? null : readCertificate({ certificate: tlsCert, key: tlsKey });
  }

  async #renew(): Promise<void> {
    const { log, renewCertificate } = this.#options;
    const read = this.#read();
    if (read === null) {
      log.info("nothing to reload: TLS is off");
      return;
    }
    try {
      const reason = "fault" in read ? read.fault : reasonToKeepOld(read, Date.now());
      if (reason !== null || "fault" in read) throw new Error(reason ?? "");
      await renewCertificate();
      this.#facts = read;
      this.#done++;
      log.info({ subject: read.subject, validTo: new Date(read.validToMs).toISOString() }, "certificate reloaded");
    } catch (err) {
      this.#refused++;
      log.error({ err }, "the new certificate can't be used; the old one stays");
    }
  }
}
