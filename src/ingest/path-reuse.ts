/**
 * What of a batch's pointer paths another session of the project has shown before, and how many sent this very batch. Paths are
 * recorded in the project's path-reuse index as far as the visitor's room there goes.
 */
import type { IngestEvent } from "../contract/events.js";
import type { CrossSessionCounts } from "../contract/evidence.js";
import { Hash64 } from "../contract/hashes.js";
import type { RequestFacts } from "../contract/header-facts.js";
import { cornerHashes, foldCornerOwners } from "../engines/path-corners.js";
import { shingleHashes } from "../engines/path-shingles.js";
import { turnHashes } from "../engines/path-turns.js";
import type { SessionFeatures } from "../engines/session-features.js";
import { subscriberNetwork } from "../net/subscriber-network.js";
import { countResent, countShape } from "./cross-session-counts.js";
import type { PathRoom } from "./path-reuse-index.js";
import { keepRoom, roomFor } from "./path-room.js";
import type { UnitOfWork } from "./unit-of-work.js";

/** A session as the path-reuse index knows it. */
export interface PathOwner {
  readonly projectId: number;
  /** Names it among those of its project, 32 bits. */
  readonly name: number;
  readonly features: SessionFeatures;
  /** Whether this is its first batch. */
  readonly isFirst: boolean;
}

type PathReuse = Pick<CrossSessionCounts, "sessionsWithShape" | "replayedShingles" | "replayedTurns">;

/** From this share of known hashes on a batch is a copy. */
const copyShare = 0.5;
/** So often a visitor's events may come once more, as those of a second tab or of a page that is loaded again. */
const resentMax = 2;
const noRoom: PathRoom = { left: 0 };

/** Notes the paths of a batch and counts what is known of them. Call before `foldBatch`. */
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
  if (hashes === 0)
    return { sessionsWithShape: isFirst ? countShape(unit, projectId, events, facts.nowMs) : 0, ...nothingReplayed };
  const { paths } = unit;
  const room = roomFor(hashes + 1, unit, projectId, features, facts);
  const replayedShingles = paths.record(projectId, name, shingles, room);
  const replayedTurns = paths.record(projectId, name, turns, room);
  const cornerOwners = paths.recordOwners(projectId, name, corners, room);
  const isCopy = replayedShingles + replayedTurns + cornerOwners.length >= copyShare * hashes;
  const sent = sentHash(events, facts);
  // Only ids of paths that were new are recorded: a replay must not excuse the next one.
  const isResent = paths.record(projectId, name, [sent], isCopy ? noRoom : room) > 0;
  keepRoom(features, room);
  if (isCopy && isResent && countResent(unit, projectId, sent, facts.nowMs) <= resentMax) {
    return { sessionsWithShape: 0, ...nothingReplayed };
  }
  foldCornerOwners(features, cornerOwners);
  const sessionsWithShape = isFirst || isCopy ? countShape(unit, projectId, events, facts.nowMs) : 0;
  // The original was not counted, unless it opened its session: a batch is known for a copy only once it was seen.
  return { sessionsWithShape: sessionsWithShape + (isFirst ? 0 : 1), replayedShingles, replayedTurns };
}

const nothingReplayed = { replayedShingles: 0, replayedTurns: 0 };

/** Names the first path of a batch by its event's id, the browser and the address that sent it: who resends it is the same visitor. */
function sentHash(events: readonly IngestEvent[], { ip, userAgent }: RequestFacts): number {
  const hash = new Hash64();
  hash.addText(events.find(({ payload }) => payload.points !== undefined || payload.x !== undefined)?.request_id ?? "");
  hash.addText(subscriberNetwork(ip));
  hash.addText(userAgent);
  const words: number[] = [];
  hash.push(words);
  return words[0]! >>> 0;
}
