/**
 * Visitors who are on a site at the same time, as recorded: each sends the batches of a visit in their order, from the first contact to the
 * last, and then another visitor comes in their place. Lives as long as the generator's process, so that loads can go on with each other's
 * sessions.
 */
import {
  type BatchTemplate,
  batchesPerSecond,
  batchTemplate,
  bodyOfNow,
  readVisits,
  sentHeaders,
  type Visit,
} from "../traffic/visits.js";
import { idPlaceholder, jitter, tokenPlaceholder, UniqueIds } from "./batches.js";
import type { ConnectionTraffic, Traffic, TrafficSpec } from "./traffic-spec.js";

type VisitSpec = Extract<TrafficSpec, { kind: "visits" }>;

/** A batch as a whole request. */
interface RequestTemplate extends BatchTemplate {
  /** Where its idempotency key stands. */
  readonly keyAt: number;
}

const tokenLength = tokenPlaceholder.length;
const tokenHead = Buffer.from('"session_token":"');

class Crowd {
  #size = 0;
  #tokens = Buffer.alloc(0);
  /** Which batch of the visit each visitor sends next; 0: the first contact. */
  #next = new Uint16Array(0);
  #turn = 0;

  get size(): number {
    return this.#size;
  }

  /** Makes room for so many in all; those who are new come next. */
  grow(size: number): void {
    if (size <= this.#size) return;
    const tokens = Buffer.alloc(size * tokenLength);
    this.#tokens.copy(tokens);
    this.#tokens = tokens;
    const next = new Uint16Array(size);
    next.set(this.#next);
    this.#next = next;
    this.#turn = this.#size;
    this.#size = size;
  }

  /** The next visitor in turn: by their number. */
  visitor(): number {
    const visitor = this.#turn;
    this.#turn = (visitor + 1) % this.#size;
    return visitor;
  }

  batchOf(visitor: number): number {
    return this.#next[visitor]!;
  }

  setBatch(visitor: number, batch: number): void {
    this.#next[visitor] = batch;
  }

  writeToken(visitor: number, into: Buffer, at: number): void {
    this.#tokens.copy(into, at, visitor * tokenLength, (visitor + 1) * tokenLength);
  }

  keepToken(visitor: number, bytes: Buffer, at: number): void {
    bytes.copy(this.#tokens, visitor * tokenLength, at, at + tokenLength);
  }
}

const crowds = new Map<string, Crowd>();

/** The crowd of this name; nobody is in it at first. */
export function crowdOf(name: string): Crowd {
  const crowd = crowds.get(name) ?? new Crowd();
  crowds.set(name, crowd);
  return crowd;
}

/** Batches a second that one active visitor sends, of the recording. */
export function visitorBatchRate(): number {
  return batchesPerSecond(readVisits());
}

export function visitTraffic(spec: VisitSpec, host: string): Traffic {
  const crowd = crowdOf(spec.crowd);
  crowd.grow(spec.visitors);
  const visits = readVisits().map((visit) => visit.batches.map(({ body }) => templateOf(visit, body, spec, host)));
  const bytesMax = Math.max(...visits.flat().map(({ bytes }) => bytes.length));
  const [keys, ids] = [new UniqueIds(), new UniqueIds(Math.random, "event")];
  const connection = (): ConnectionTraffic => {
    const own = Buffer.alloc(bytesMax);
    let visitor = -1;
    const next = (): Buffer => {
      visitor = crowd.visitor();
      const visit = visits[visitor % visits.length]!;
      const { bytes, tokenAt, keyAt, idsAt, jitterAt } = visit[spec.arriving === true ? 0 : crowd.batchOf(visitor)]!;
      bytes.copy(own);
      keys.write(own, keyAt);
      for (const at of idsAt) ids.write(own, at);
      jitter(own, jitterAt);
      if (tokenAt !== -1) crowd.writeToken(visitor, own, tokenAt);
      return own.subarray(0, bytes.length);
    };
    const answered = (status: number, bytes: Buffer, start: number, end: number): void => {
      const { length } = visits[visitor % visits.length]!;
      const at = status === 202 ? bytes.indexOf(tokenHead, start) : -1;
      // Who was not heard comes again: a batch that was shed counts as lost, a first contact as not made.
      if (at === -1 || at >= end) return;
      crowd.keepToken(visitor, bytes, at + tokenHead.length);
      // Those who have come are found at any point of their visits.
      const batch = spec.arriving === true ? Math.floor(Math.random() * length) : crowd.batchOf(visitor) + 1;
      crowd.setBatch(visitor, batch % length);
    };
    return { next, answered };
  };
  return { connection };
}

function templateOf(visit: Visit, body: string, { siteKey }: VisitSpec, host: string): RequestTemplate {
  const sent = bodyOfNow(body, siteKey);
  const head = [
    "POST /v1/events HTTP/1.1",
    `Host: ${host}`,
    ...sentHeaders(visit).map(([name, value]) => `${name}: ${value}`),
    `X-Service-Site-Key: ${siteKey}`,
    `Idempotency-Key: ${idPlaceholder}`,
    `Content-Length: ${Buffer.byteLength(sent)}`,
  ];
  const template = batchTemplate(`${head.join("\r\n")}\r\n\r\n${sent}`);
  return { ...template, keyAt: template.bytes.indexOf(idPlaceholder) };
}
