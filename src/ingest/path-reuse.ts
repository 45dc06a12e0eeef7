/**
 * Counts how many of a batch's pointer paths another session of the project has shown before, and how many sessions sent this very batch. It records
 * paths in the project's path-reuse index while the visitor has room there.
 */
import type { IngestEvent } from "../contract/events/events.js";
import type { CrossSessionCounts } from "../contract/evidence/evidence.js";
import type { RequestFacts } from "../contract/evidence/header-facts.js";
import { Hash64 } from "../contract/values/hashes.js";
import { cornerHashes, foldCornerOwners } from "../engines/path-corners.js";
import { shingleHashes } from "../engines/path-shingles.js";
import { turnHashes } from "../engines/path-turns.js";
import type { SessionFeatures } from "../engines/session-features.js";
import { subscriberNetwork } from "../net/network.js";
import { countResent, countShape } from "./cross-session-counts.js";
import type { PathRoom } from "./path-reuse-index.js";
import { keepRoom, roomFor } from "./path-room.js";
import type { UnitOfWork } from "./unit-of-work.js";

/** A session as the path-reuse index sees it. */
interface PathOwner {
  readonly projectId: number;
  /** Names it within its project, 32 bits. */
  readonly name: number;
  readonly features: SessionFeatures;
  /** Whether this is its first batch. */
  readonly isFirst: boolean;
}

type PathReuse = Pick<CrossSessionCounts, "sessionsWithShape" | "replayedShingles" | "replayedTurns">;

/** If at least this share of hashes is known, a batch is a copy. */
const copyShare = 0.5;
/** How many times a visitor's events may come again, for example from a second tab or a reloaded page. */
const resentMax = 2;
const noRoom: PathRoom = { left: 0 };

/** Records the paths of a batch and counts how many are known. Call before `foldBatch`. */
export function countPathReuse(
  unit: UnitOfWork,
  { projectId, name, features, isFirst }: PathOwner,
  events: readonly IngestEvent[],
  facts: RequestFacts,
): PathReuse {
  const shingles = shingleHashes(features, events);
  const turns = turnHashes(features, events);
  const corners = cornerHashes(features, events);
  const hashes = shingles.length + turns.length + corners.length;
  if (hashes === 0) return nothingReplayed(isFirst ? countShape(unit, projectId, events, facts.nowMs) : 0);
  const { paths } = unit;
  const room = roomFor(hashes + 1, unit, projectId, features, facts);
  const replayedShingles = paths.record(projectId, name, shingles, room);
  const replayedTurns = paths.record(projectId, name, turns, room);
  const cornerOwners = paths.recordOwners(projectId, name, corners, room);
  const isCopy = replayedShingles + replayedTurns + cornerOwners.length >= copyShare * hashes;
  const sent = sentHash(events, facts);
  // Only ids of new paths are recorded: a replay must not excuse the next one.
  const isResent = paths.record(projectId, name, [sent], isCopy ? noRoom : room) > 0;
  keepRoom(features, room);
  if (isCopy && isResent && countResent(unit, projectId, sent, facts.nowMs) <= resentMax) {
    return nothingReplayed(0);
  }
  foldCornerOwners(features, cornerOwners);
  const sessionsWithShape = isFirst || isCopy ? countShape(unit, projectId, events, facts.nowMs) : 0;
  // The original was not counted, unless it opened its session: a batch only shows as a copy after the original was seen.
  return { sessionsWithShape: sessionsWithShape + (isFirst ? 0 : 1), replayedShingles, replayedTurns };
}

function nothingReplayed(sessionsWithShape: number): PathReuse {
  return { sessionsWithShape, replayedShingles: 0, replayedTurns: 0 };
}

/**
 * Names the first path of a batch by its event's id, the browser and the address that sent it: if these are the same, the same visitor resends it.
 */
function sentHash(events: readonly IngestEvent[], { ip, userAgent }: RequestFacts): number {
  const hash = new Hash64();
  hash.addText(events.find(({ payload }) => payload.points !== undefined || payload.x !== undefined)?.request_id ?? "");
  hash.addText(subscriberNetwork(ip));
  hash.addText(userAgent);
  const words: number[] = [];
  hash.push(words);
  return words[0]! >>> 0;
}
