/** What a node tells the others of a minute: requests that stand for all it judged, and matches of alerts. Bounded, and packed off the event loop. */
import { deflateRaw, inflateRaw } from "node:zlib";
import type { CountedRequest } from "../incidents/counted-request.js";
import { limits } from "../limits.js";
import type { AlertMatches } from "./alert-matcher.js";

/** A report of an HTTP thread, or of a node. */
export interface ThreadReport {
  readonly requests: readonly CountedRequest[];
  readonly matches: readonly AlertMatches[];
}

interface Reservoir {
  kept: CountedRequest[];
  seen: number;
  weight: number;
}

/** Collects the reports of a node's threads. `random`: from 0 to 1. */
export class NodeReport {
  readonly #random: () => number;
  readonly #ofProjects = new Map<number, Reservoir>();
  #matches = new Map<number, AlertMatches>();

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  add({ requests, matches }: ThreadReport): void {
    for (const request of requests) this.#keep(request);
    for (const each of matches) {
      const count = (this.#matches.get(each.alertId)?.count ?? 0) + each.count;
      this.#matches.set(each.alertId, { ...each, count });
    }
  }

  #keep(request: CountedRequest): void {
    let of = this.#ofProjects.get(request.projectId);
    if (of === undefined) {
      of = { kept: [], seen: 0, weight: 0 };
      this.#ofProjects.set(request.projectId, of);
    }
    of.seen++;
    of.weight += request.weight;
    if (of.kept.length < limits.nodeReportRequestsMax) of.kept.push(request);
    else {
      const at = Math.floor(this.#random() * of.seen);
      if (at < limits.nodeReportRequestsMax) of.kept[at] = request;
    }
  }

  /** Returns what was collected since the last call. Projects share the room: those with few requests lose none. */
  take(): ThreadReport {
    const projects = [...this.#ofProjects.values()].sort((one, other) => one.kept.length - other.kept.length);
    const requests: CountedRequest[] = [];
    let room = limits.nodeReportRequestsMax;
    for (const [index, { kept, weight }] of projects.entries()) {
      const share = Math.floor(room / (projects.length - index));
      const told = kept.length <= share ? kept : this.#some(kept, share);
      room -= told.length;
      const own = told.reduce((sum, request) => sum + request.weight, 0);
      for (const request of told) requests.push({ ...request, weight: (request.weight * weight) / own });
    }
    const matches = [...this.#matches.values()];
    this.#ofProjects.clear();
    this.#matches = new Map();
    return { requests, matches };
  }

  #some(kept: readonly CountedRequest[], count: number): CountedRequest[] {
    const left = [...kept];
    return Array.from({ length: count }, () => left.splice(Math.floor(this.#random() * left.length), 1)[0]!);
  }
}

/** For the cluster. */
export function packReport(report: ThreadReport): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    deflateRaw(JSON.stringify(report), (error, bytes) => (error === null ? resolve(bytes) : reject(error))),
  );
}

/** Rejects for bytes that are no report, or too large for one. */
export function unpackReport(bytes: Buffer): Promise<ThreadReport> {
  const options = { maxOutputLength: limits.nodeReportBytesMax };
  return new Promise((resolve, reject) =>
    inflateRaw(bytes, options, (error, text) => {
      if (error !== null) return reject(error);
      try {
        resolve(JSON.parse(text.toString()) as ThreadReport);
      } catch (fault) {
        reject(fault);
      }
    }),
  );
}
