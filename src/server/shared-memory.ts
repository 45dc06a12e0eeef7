/** Memory that all HTTP threads of a process share besides the store: created once at start, and passed to each thread. */

import type { MessagePort } from "node:worker_threads";
import { newNonceTable } from "../bots/signed/nonces.js";
import { newAskedSessions } from "../challenge/asked-sessions.js";
import { newChallengingRules } from "../challenge/challenging-rules.js";
import { newConfigState } from "../cluster-store/config/config-state.js";
import { newOutage } from "../cluster-store/outage-log.js";
import { newReadinessBoard } from "../http/readiness.js";
import { shippedFacts } from "../network/network-files.js";
import { newRates, ratesSize } from "../requests/rates.js";
import { newReportsUnderWay } from "../requests/reports-under-way.js";
import { newVisits, visitsSize } from "../requests/visits.js";

/** Can be posted to other threads. */
export interface SharedMemory {
  readonly readiness: SharedArrayBuffer;
  readonly challengingRules: SharedArrayBuffer;
  /** Sessions that asked for a challenge. */
  readonly askedSessions: SharedArrayBuffer;
  /** Reports that a verdict may wait for. */
  readonly reportsUnderWay: SharedArrayBuffer;
  /** Of signed requests. */
  readonly nonces: SharedArrayBuffer;
  /** Network facts at start; `RunningServer.useNetwork` replaces them. */
  readonly network: SharedArrayBuffer;
  readonly requestRates: SharedArrayBuffer;
  readonly visits: SharedArrayBuffer;
  /** Until when a cluster's configuration may be relied on. */
  readonly configState: SharedArrayBuffer;
  /** What the log already said about a failing cluster: in general, and about batches. */
  readonly outage: SharedArrayBuffer;
  readonly batchOutage: SharedArrayBuffer;
}

/** `network` is a table of network facts; default: the shipped one. */
export function newSharedMemory(httpThreads: number, network = shippedFacts()): SharedMemory {
  return {
    readiness: newReadinessBoard(httpThreads),
    challengingRules: newChallengingRules(),
    askedSessions: newAskedSessions(),
    reportsUnderWay: newReportsUnderWay(),
    nonces: newNonceTable(),
    network,
    requestRates: newRates(ratesSize(httpThreads)),
    visits: newVisits(visitsSize(httpThreads)),
    configState: newConfigState(),
    outage: newOutage(),
    batchOutage: newOutage(),
  };
}

/** An HTTP thread among those of its process. */
export interface ThreadPlace {
  readonly shared: SharedMemory;
  /** From 0. */
  readonly number: number;
  /** Of a further thread: where it reports what it judged. */
  readonly reports?: MessagePort;
}
