/**
 * Which pointer paths the sessions of a project have shown, as hashes, and which session showed each first. Bounded: when there is no room for a
 * hash, it is looked up but not recorded.
 */

/** How many hashes may still be recorded; the index counts it down. */
export interface PathRoom {
  left: number;
}

/** By project; a hash that the session itself showed first does not count. */
export interface PathReuseIndex {
  /**
   * Records the hashes of a batch while there is `room`; returns how many of them another session showed first. `session` names the session within
   * its project in 32 bits.
   */
  record(projectId: number, session: number, hashes: readonly number[], room: PathRoom): number;

  /** The same, but returns the other session behind each hash that is known. */
  recordOwners(projectId: number, session: number, hashes: readonly number[], room: PathRoom): readonly number[];
}
