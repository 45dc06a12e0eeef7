/**
 * Counts across sessions, in hourly buckets that expire whole: how many sessions an address opens, how many send the very
 * same batch, what they put into the path-reuse index. Bounded by what an hour can bring; counted once a session or seldom.
 */
import type { EventPayload, IngestEvent } from "../contract/events.js";
import { Hash64 } from "../contract/hashes.js";
import { subscriberNetwork } from "../net/subscriber-network.js";
import { hourOf } from "../store/keys.js";
import type { CrossSessionKind, UnitOfWork } from "./unit-of-work.js";

type Counter = Pick<UnitOfWork, "countAcross">;

/** Counts one more session of an address; returns how many there were in this hour and the one before, this one included. */
export function countAddress(unit: Counter, projectId: number, address: string, nowMs: number): number {
  return countText(unit, "address", projectId, address, nowMs);
}

/** The same of shares that the sessions of an address, or of an IPv6 /64, were granted in the path-reuse index. */
export function countPathShare(unit: Counter, projectId: number, address: string, nowMs: number): number {
  return countText(unit, "paths", projectId, subscriberNetwork(address), nowMs);
}

/** The same of a start ticket that came back: more than one is a ticket that was used before. */
export function countTicket(unit: Counter, projectId: number, ticket: string, nowMs: number): number {
  // But for the last character, of which base64 ignores some bits.
  return countText(unit, "ticket", projectId, ticket.slice(0, -1), nowMs);
}

/** The same of sessions that opened with this very environment, from a network of so many addresses (a /24, of IPv6 a /48); 0: none was reported. */
export function countEnvironment(
  unit: Counter,
  projectId: number,
  events: readonly IngestEvent[],
  address: string,
  nowMs: number,
): number {
  const environment = events.find(({ type }) => type === "env")?.payload;
  if (environment === undefined) return 0;
  const hash = new Hash64();
  hash.addText(blockOf(address));
  for (const key in environment) {
    // The state of the network changes by the minute.
    if (key === "rtt") continue;
    hash.addText(key);
    addValue(hash, environment[key as keyof EventPayload]);
  }
  return count(unit, "environment", projectId, hash, nowMs);
}

/** What one tenant of a data centre, or one company, is commonly given: three bytes of an IPv4 address, three groups of an IPv6 one. */
function blockOf(address: string): string {
  const separator = address.includes(":") ? ":" : ".";
  return address.split(separator, 3).join(separator);
}

/** The same of a batch that a visitor has sent before, in another session; `sent` is its name in 32 bits. */
export function countResent(unit: Counter, projectId: number, sent: number, nowMs: number): number {
  const hash = new Hash64();
  hash.add(sent);
  return count(unit, "resent", projectId, hash, nowMs);
}

/** The same of the shape of a batch; 0 when it has none that is telling. */
export function countShape(unit: Counter, projectId: number, events: readonly IngestEvent[], nowMs: number): number {
  const hash = shapeHash(events);
  return hash === null ? 0 : count(unit, "shape", projectId, hash, nowMs);
}

function countText(unit: Counter, kind: CrossSessionKind, projectId: number, text: string, nowMs: number): number {
  const hash = new Hash64();
  hash.addText(text);
  return count(unit, kind, projectId, hash, nowMs);
}

function count(unit: Counter, kind: CrossSessionKind, projectId: number, hash: Hash64, nowMs: number): number {
  const words: number[] = [];
  hash.push(words);
  return unit.countAcross(kind, projectId, words, hourOf(nowMs));
}

/** Geometry below which a batch says too little to be telling: rows, or events with a place. */
const geometryMin = 8;

/**
 * The shape of a batch: types, keys and geometry, without ids and wall-clock times. Two people never send the same pointer path;
 * a script that posts a recorded batch sends nothing else. null when the batch holds too little to be telling.
 */
export function shapeHash(events: readonly IngestEvent[]): Hash64 | null {
  const hash = new Hash64();
  let geometry = 0;
  for (const { type, payload } of events) {
    if (payload.points === undefined && payload.strokes === undefined && payload.x === undefined) continue;
    geometry += payload.points?.length ?? payload.strokes?.length ?? 1;
    hash.addText(type);
    for (const key in payload) {
      if (key === "t") continue;
      hash.addText(key);
      addValue(hash, payload[key as keyof EventPayload]);
    }
  }
  return geometry >= geometryMin ? hash : null;
}

/** A value of a payload: a scalar, or lists of them. */
function addValue(hash: Hash64, value: unknown): void {
  if (typeof value === "number") hash.addNumber(value);
  else if (typeof value === "string") hash.addText(value);
  else if (Array.isArray(value)) {
    hash.addNumber(value.length);
    for (const each of value) addValue(hash, each);
  } else hash.addNumber(value === true ? 1 : 0);
}
