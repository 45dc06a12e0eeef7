/**
 * How much a session may put into its project's path-reuse index, so that nobody flushes it: shares are granted as they are used,
 * so many a session and so many the address (the /64 of IPv6) in two hours. Replays are looked for in every batch all the same.
 */
import type { RequestFacts } from "../contract/header-facts.js";
import { F, type SessionFeatures } from "../engines/session-features.js";
import { limits } from "../limits.js";
import { isVisitorAddress } from "../net/visitor-address.js";
import { countPathShare } from "./cross-session-counts.js";
import type { PathRoom } from "./path-reuse-index.js";
import type { UnitOfWork } from "./unit-of-work.js";

/** No share is granted any more. */
const exhausted = 0xff;

/** The session's room for so many hashes, as far as the bounds go. Call `keepRoom` afterwards. */
export function roomFor(
  hashes: number,
  unit: UnitOfWork,
  projectId: number,
  { numbers: n }: SessionFeatures,
  { ip, nowMs }: RequestFacts,
): PathRoom {
  while (n[F.pathRoom]! < hashes && n[F.pathShares]! < limits.pathSharesPerSession) {
    // Everybody comes from an address that is no visitor's: it is a gateway in front of the service.
    const isGranted =
      !isVisitorAddress(ip) || countPathShare(unit, projectId, ip, nowMs) <= limits.pathSharesPerAddress;
    if (isGranted) n[F.pathRoom]! += limits.pathShareHashes;
    n[F.pathShares] = isGranted ? n[F.pathShares]! + 1 : exhausted;
  }
  return { left: n[F.pathRoom]! };
}

/** Leaves in the features what of the room is left. */
export function keepRoom({ numbers }: SessionFeatures, { left }: PathRoom): void {
  numbers[F.pathRoom] = left;
}
