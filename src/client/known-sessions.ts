/** Notices that verdictd knows none of a site's sessions, as when the site key of its pages is another project's than the backend's private key. */
import type { CheckedVerdict } from "./verdict-answer.js";

/** So many different sessions: a single one may be new, or of another server. */
const sessionsMin = 20;

/** What one client has seen of the sessions that it asked about. */
export class KnownSessions {
  #unknown: Set<string> | null = new Set();

  /** Takes an answer; true once, when none of the first sessions had a verdict. */
  isNoneKnown(sessionToken: string, { verdict }: Pick<CheckedVerdict, "verdict">): boolean {
    if (this.#unknown === null) return false;
    if (verdict === "not_computed") this.#unknown.add(sessionToken);
    const isSaid = this.#unknown.size >= sessionsMin;
    if (verdict !== "not_computed" || isSaid) this.#unknown = null;
    return isSaid;
  }
}
