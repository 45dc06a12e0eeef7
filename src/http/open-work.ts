/**
 * What a server still has on its hands: connections and unanswered requests, so that it can stop when there are none, and what it holds
 * for clients, against the bounds of that. Counts only.
 */
import { limits } from "../limits.js";
import { HeldBytes } from "./held-bytes.js";
import { PeerAddresses } from "./peer-address.js";

/** One an HTTP thread, which every exchange and connection counts in. */
export class OpenWork {
  /** Who is at the other end of the connections. */
  readonly peers = new PeerAddresses();
  /** Bodies on their way whose request named a valid key or token, and those of anybody. */
  readonly bodies = new HeldBytes(limits.bodiesBytesMax);
  readonly anonymousBodies = new HeldBytes(limits.anonymousBodiesBytesMax);
  /** Answers whose clients are slow to read them. */
  readonly unreadAnswers = new HeldBytes(limits.unreadAnswersBytesMax);
  /** Open connections. */
  connections = 0;
  /** Requests that have no answer yet; their bodies may still be coming, or the answer still be on its way. */
  requests = 0;
  /** Whether each answer is the last of its connection. */
  isClosing = false;
  #bodilessAnswers = 0;

  /**
   * Whether an answer without a body is to be the last of its connection. uWebSockets tells of a client that does not read only where there is a
   * body, so how many others are waiting to be read is bounded by how many there are on a connection.
   */
  isLastWithoutBody(): boolean {
    if (this.#bodilessAnswers < limits.bodilessAnswersFree) {
      this.#bodilessAnswers++;
      return false;
    }
    // By chance, since connections are not told apart here, and nobody may count on others to be the ones that are closed.
    return Math.random() * limits.bodilessAnswersOfConnection < 1;
  }

  /**
   * Resolves when a stop cuts nobody off: nothing is unanswered, and connections are gone or have brought nothing for
   * `limits.stopQuietMs`. After `limits.stopRequestsMsMax` at the latest: a body that never ends must not keep the process.
   */
  async drain(): Promise<void> {
    this.isClosing = true;
    for (let waitedMs = 0; waitedMs < limits.stopRequestsMsMax; waitedMs += limits.stopLookMs) {
      if (this.requests === 0 && (this.connections === 0 || waitedMs >= limits.stopQuietMs)) return;
      await new Promise((resolve) => setTimeout(resolve, limits.stopLookMs));
    }
  }
}
