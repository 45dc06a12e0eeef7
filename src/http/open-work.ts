/** What a server still has on its hands: connections and unanswered requests, so that it can stop when there are none. Counts only. */
import { limits } from "../limits.js";
import { PeerAddresses } from "./peer-address.js";

export class OpenWork {
  /** Who is at the other end of the connections. */
  readonly peers = new PeerAddresses();
  /** Open connections. */
  connections = 0;
  /** Requests that have no answer yet; their bodies may still be coming. */
  requests = 0;
  /** Whether each answer is the last of its connection. */
  isClosing = false;

  /**
   * Resolves when a stop cuts nobody off: nothing is unanswered, and connections are gone or have brought nothing for
   * `limits.stopQuietMs`. After `limits.stopRequestsMsMax` at the latest: a body that never ends must not keep the process.
   */
  async quiet(): Promise<void> {
    this.isClosing = true;
    for (let waitedMs = 0; waitedMs < limits.stopRequestsMsMax; waitedMs += limits.stopLookMs) {
      if (this.requests === 0 && (this.connections === 0 || waitedMs >= limits.stopQuietMs)) return;
      await new Promise((resolve) => setTimeout(resolve, limits.stopLookMs));
    }
  }
}
