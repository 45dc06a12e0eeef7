/**
 * Counts across sessions, in hourly buckets that expire whole: how many sessions an address opens, how many send the very
 * same batch, what they put into the memory of paths. Bounded by what an hour can bring; read and raised inside the ingest transaction,
 * once a session or seldom.
 */
import type { EventPayload, IngestEvent } from "../contract/events.js";
import { hourOf, sightingKey, writeSightingHour } from "../store/keys.js";
import type { SessionStore } from "../store/session-store.js";
import { sumOverOthers } from "../store/session-stores.js";
import { packSightingCount, unpackSightingCount } from "../store/sighting-count.js";
import { Hash64 } from "./hash.js";
import { subscriberNetwork } from "./subscriber-network.js";

type SightingKind = "address" | "shape" | "paths" | "resent";
const kindNumbers: Record<SightingKind, number> = { address: 1, shape: 2, paths: 3, resent: 4 };

/** Counts one more sighting of an address; returns how many there were in this hour and the one before, this one included. */
export function countAddress(store: SessionStore, projectId: number, address: string, nowMs: number): number {
  const hash = new Hash64();
  hash.addText(address);
  return countSighting(store, "address", projectId, hash, nowMs);
}

/** The same of shares that the sessions of an address, or of an IPv6 /64, were granted in the memory of paths. */
export function countPathShare(store: SessionStore, projectId: number, address: string, nowMs: number): number {
  const hash = new Hash64();
  hash.addText(subscriberNetwork(address));
  return countSighting(store, "paths", projectId, hash, nowMs);
}

/** The same of a batch that a visitor has sent before, in another session; `sent` is its name in 32 bits. */
export function countResent(store: SessionStore, projectId: number, sent: number, nowMs: number): number {
  const hash = new Hash64();
  hash.add(sent);
  return countSighting(store, "resent", projectId, hash, nowMs);
}

/** The same of the shape of a batch; 0 when it has none that is telling. */
export function countShape(
  store: SessionStore,
  projectId: number,
  events: readonly IngestEvent[],
  nowMs: number,
): number {
  const hash = shapeHash(events);
  return hash === null ? 0 : countSighting(store, "shape", projectId, hash, nowMs);
}

function countSighting(
  store: SessionStore,
  kind: SightingKind,
  projectId: number,
  hash: Hash64,
  nowMs: number,
): number {
  const hour = hourOf(nowMs);
  const words: number[] = [];
  hash.push(words);
  const key = sightingKey(hour, kindNumbers[kind], projectId, words);
  const before = readCount(store, key);
  store.sightings.putSync(key, packSightingCount(before + 1));
  // Sightings are the project's: those that other environments have counted are seen as well.
  const elsewhere = sumOverOthers(store, (part) => readCount(part, key));
  writeSightingHour(key, hour - 1);
  return before + 1 + elsewhere + readCount(store, key) + sumOverOthers(store, (part) => readCount(part, key));
}

function readCount(store: SessionStore, key: Buffer): number {
  const bytes = store.sightings.getBinaryFast(key) as Buffer | undefined;
  return bytes === undefined ? 0 : (unpackSightingCount(bytes) ?? 0);
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
