/**
 * Counts across sessions, in hourly buckets that expire whole: how many sessions an address opens, how many open with the very
 * same batch. Bounded by what an hour can bring; read and raised inside the ingest transaction, once a session.
 */
import type { IngestEvent } from "../contract/events.js";
import { hourOf, sightingKey } from "../store/keys.js";
import type { SessionStore } from "../store/session-store.js";
import { sumOverOthers } from "../store/session-stores.js";
import { writeHash64 } from "./hash.js";

export type SightingKind = "address" | "shape";
const kindNumbers: Record<SightingKind, number> = { address: 1, shape: 2 };

/** Counts one more sighting of `text`; returns how many there were in this hour and the one before, this one included. */
export function countSighting(
  store: SessionStore,
  kind: SightingKind,
  projectId: number,
  text: string,
  nowMs: number,
): number {
  const hour = hourOf(nowMs);
  const key = sightingKey(hour, kindNumbers[kind], projectId);
  const hash = new Int32Array(2);
  writeHash64(text, hash, 0);
  key.writeInt32BE(hash[0]!, key.length - 8);
  key.writeInt32BE(hash[1]!, key.length - 4);
  const before = readCount(store, key);
  const count = Buffer.allocUnsafe(4);
  count.writeUInt32LE(Math.min(before + 1, 0xffffffff), 0);
  store.sightings.putSync(key, count);
  // Sightings are the project's: those that other environments have counted are seen as well.
  const elsewhere = sumOverOthers(store, (part) => readCount(part, key));
  key.writeUInt32BE(hour - 1, 0);
  return before + 1 + elsewhere + readCount(store, key) + sumOverOthers(store, (part) => readCount(part, key));
}

function readCount(store: SessionStore, key: Buffer): number {
  const bytes = store.sightings.getBinaryFast(key) as Buffer | undefined;
  return bytes === undefined ? 0 : bytes.readUInt32LE(0);
}

/**
 * The shape of a batch: types, keys and geometry, without ids and wall-clock times. Two people never send the same pointer path;
 * a script that posts a recorded batch sends nothing else. "" when the batch holds too little to be telling.
 */
export function batchShape(events: readonly IngestEvent[]): string {
  let shape = "";
  let geometry = 0;
  for (const { type, payload } of events) {
    if (payload.points !== undefined || payload.strokes !== undefined || payload.x !== undefined) {
      geometry += payload.points?.length ?? payload.strokes?.length ?? 1;
      const { t: _t, ...rest } = payload;
      shape += `${type}:${JSON.stringify(rest)};`;
    }
  }
  return geometry >= 8 ? shape : "";
}
