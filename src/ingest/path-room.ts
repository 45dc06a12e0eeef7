/**
 * Limits how much a session may add to its project's path-reuse index, to keep anyone from flushing it. Shares are granted as they are used, with a
 * maximum per session and per address (the /64 of IPv6) in two hours. Every batch is still checked for replays.
 */
import type { RequestFacts } from "../contract/evidence/header-facts.js";
import { F, type SessionFeatures } from "../engines/session-features.js";
import { limits } from "../limits.js";
import { isVisitorAddress } from "../net/visitor-address.js";
import { countPathShare } from "./cross-session-counts.js";
import type { PathRoom } from "./path-reuse-index.js";
import type { UnitOfWork } from "./unit-of-work.js";

/** Marks that no more shares are granted. */
const exhausted = 0xff;

/** Returns the session's room for this many hashes, within the bounds. Call `keepRoom` afterwards. */
export function roomFor(
  hashes: number,
  unit: UnitOfWork,
  projectId: number,
  { numbers: n }: SessionFeatures,
  facts: RequestFacts,
): PathRoom {
  while (n[F.pathRoom]! < hashes && n[F.pathShares]! < limits.pathSharesPerSession) {
    const isGranted = isShareGranted(unit, projectId, facts);
    if (isGranted) n[F.pathRoom]! += limits.pathShareHashes;
    n[F.pathShares] = isGranted ? n[F.pathShares]! + 1 : exhausted;
  }
  return { left: n[F.pathRoom]! };
}

/** Counts one more share of an address, and returns whether it is granted. */
export function isShareGranted(
  unit: Pick<UnitOfWork, "countAcross">,
  projectId: number,
  { ip, nowMs }: RequestFacts,
): boolean {
  // An address that is no visitor's belongs to a gateway in front of the service: all visitors share it, so it has no bound.
  return !isVisitorAddress(ip) || countPathShare(unit, projectId, ip, nowMs) <= limits.pathSharesPerAddress;
}

/** Stores the remaining room in the features. */
export function keepRoom({ numbers }: SessionFeatures, { left }: PathRoom): void {
  numbers[F.pathRoom] = left;
}
