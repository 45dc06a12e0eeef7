/** Bounds by age and number, as the options of the server set them. */

/** How long rows are kept, and how many sessions, as the options of the server say. */
export interface Retention {
  /** ms after its last batch that a session is kept. */
  readonly sessionMs: number;
  /** Sessions a project may have: of one that is close to it, the oldest go. */
  readonly sessionsMax: number;
  /** ms that a recorded block, and a mark of a session, is kept. */
  readonly blockMs: number;
  /** ms that hourly counts are kept. */
  readonly trafficMs: number;
}
