/**
 * Which pointer paths the sessions of a project have shown, as hashes, and which session showed each first. Bounded: where there is no
 * more room for a hash, it is looked up and not recorded.
 */

/** Hashes that may be recorded: counted down by the index. */
export interface PathRoom {
  left: number;
}

/** By project; a hash that the session itself has shown first does not count. */
export interface PathReuseIndex {
  /**
   * Records the hashes of a batch, as far as there is `room`; returns how many of them another session has shown first. `session` names
   * the session among those of its project in 32 bits.
   */
  record(projectId: number, session: number, hashes: readonly number[], room: PathRoom): number;

  /** The same; returns which other session has shown each of those that are known. */
  recordOwners(projectId: number, session: number, hashes: readonly number[], room: PathRoom): readonly number[];
}
