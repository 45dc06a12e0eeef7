/**
 * Counts across sessions, in hourly buckets that expire whole: how many sessions an address opens, how many send the very same batch, how much they
 * add to the path-reuse index. Bounded by the traffic of an hour; counted once per session or rarely.
 */
import type { EventPayload, IngestEvent, PointRow } from "../contract/events/events.js";
import { Hash64 } from "../contract/values/hashes.js";
import { subscriberNetwork } from "../net/network.js";
import { hourOf } from "../store/keys.js";
import type { CrossSessionKind, UnitOfWork } from "./unit-of-work.js";

type Counter = Pick<UnitOfWork, "countAcross">;

/** Counts one more session of an address; returns how many there were in this hour and the one before, this one included. */
export function countAddress(unit: Counter, projectId: number, address: string, nowMs: number): number {
  return countText(unit, "address", projectId, address, nowMs);
}

/** The same for shares of the path-reuse index that the sessions of an address, or of an IPv6 /64, were granted. */
export function countPathShare(unit: Counter, projectId: number, address: string, nowMs: number): number {
  return countText(unit, "paths", projectId, subscriberNetwork(address), nowMs);
}

/** The same for a start ticket that came back: more than one means that the ticket was used before. */
export function countTicket(unit: Counter, projectId: number, ticket: string, nowMs: number): number {
  // Without the last character, because base64 ignores some of its bits.
  return countText(unit, "ticket", projectId, ticket.slice(0, -1), nowMs);
}

/** The same for sessions that opened with this very environment, from a network of this size (a /24, of IPv6 a /48); 0 if none was reported. */
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
    // The state of the network changes every minute.
    if (key === "rtt") continue;
    hash.addText(key);
    addValue(hash, environment[key as keyof EventPayload]);
  }
  return count(unit, "environment", projectId, hash, nowMs);
}

/** The network that one tenant of a data centre, or one company, usually gets: three bytes of an IPv4 address, three groups of an IPv6 one. */
function blockOf(address: string): string {
  const separator = address.includes(":") ? ":" : ".";
  return address.split(separator, 3).join(separator);
}

/** The same for a batch that a visitor has sent before, in another session; `sent` is its name in 32 bits. */
export function countResent(unit: Counter, projectId: number, sent: number, nowMs: number): number {
  const hash = new Hash64();
  hash.add(sent);
  return count(unit, "resent", projectId, hash, nowMs);
}

/** The same for the shape of a batch; 0 when it has no distinctive one. */
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

/** A batch with less geometry than this is not distinctive: rows, or events with a position. */
const geometryMin = 8;

/**
 * Hashes the shape of a batch: types, keys and geometry, without ids and wall-clock times. Two people never send the same pointer path; a script that
 * posts a recorded batch sends nothing else. Returns null when the batch holds too little to be distinctive.
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
      if (key === "points" && payload.points !== undefined) addPoints(hash, payload.points);
      else addValue(hash, payload[key as keyof EventPayload]);
    }
  }
  return geometry >= geometryMin ? hash : null;
}

/** Hashes a value of a payload: a scalar, or lists of scalars. */
function addValue(hash: Hash64, value: unknown): void {
  if (typeof value === "number") hash.addNumber(value);
  else if (typeof value === "string") hash.addText(value);
  else if (Array.isArray(value)) {
    hash.addNumber(value.length);
    for (const each of value) addValue(hash, each);
  } else hash.addNumber(value === true ? 1 : 0);
}

/** As `addValue`, for what is most of a batch: a function that meets lists of lists and of numbers takes several times as long. */
function addPoints(hash: Hash64, points: readonly PointRow[]): void {
  hash.addNumber(points.length);
  for (const row of points) {
    hash.addNumber(row.length);
    hash.addNumber(row[0]);
    hash.addNumber(row[1]);
    hash.addNumber(row[2]);
  }
}
