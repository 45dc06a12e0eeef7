/** Stored sessions as the data plane and the logs see them: the verdict part by token, and the logged-in assertion. */
import type { VerdictPart } from "../contract/session.js";
import { decodeSessionToken } from "../contract/session-token.js";
import { sessionKey } from "../store/keys.js";
import { decodeVerdictPart, loggedInAtMs, withLoggedInAt } from "../store/session-record.js";
import type { Store } from "../store/store.js";

export class Sessions {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** What a verdict of this session is made of; null for a token that is malformed, unknown or another project's. */
  verdictPart(projectId: number, token: string): VerdictPart | null {
    const bytes = this.#read(projectId, token);
    return bytes === null ? null : decodeVerdictPart(bytes);
  }

  exists(projectId: number, token: string): boolean {
    return this.#read(projectId, token) !== null;
  }

  /** When the session's visitor was last asserted to be logged in, ms; 0: never. */
  loggedInAtMs(projectId: number, token: string): number {
    const bytes = this.#read(projectId, token);
    return bytes === null ? 0 : loggedInAtMs(bytes);
  }

  /** Starts the logged-in window anew; false when there is no such session in the project. */
  async assertLoggedIn(projectId: number, token: string, atMs: number): Promise<boolean> {
    const id = decodeSessionToken(token);
    if (id === null) return false;
    const key = sessionKey(projectId, id);
    return this.#store.root.childTransaction(() => {
      const bytes = this.#store.sessions.getBinary(key);
      if (bytes === undefined) return false;
      this.#store.sessions.putSync(key, withLoggedInAt(bytes, atMs));
      return true;
    });
  }

  /** The record's bytes: valid until the next read. */
  #read(projectId: number, token: string): Buffer | null {
    const id = decodeSessionToken(token);
    if (id === null) return null;
    return (this.#store.sessions.getBinaryFast(sessionKey(projectId, id)) as Buffer | undefined) ?? null;
  }
}
