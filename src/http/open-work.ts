/**
 * Counts a server's open work: connections and unanswered requests, so that it can stop when there are none, and the bytes that it holds for clients.
 */
import { limits } from "../limits.js";
import { HeldBytes } from "./held-bytes.js";
import { PeerAddresses } from "./peer-address.js";
import { TickEnd } from "./tick-end.js";
import { TickShares } from "./tick-shares.js";

/** One per HTTP thread; every exchange and connection is counted here. */
export class OpenWork {
  /** The addresses of the connections' peers. */
  readonly peers = new PeerAddresses();
  /** Incomplete bodies: of requests that named a valid key or token, and of all others. */
  readonly bodies = new HeldBytes(limits.bodiesBytesMax);
  readonly anonymousBodies = new HeldBytes(limits.anonymousBodiesBytesMax);
  /** Answers that clients read slowly. */
  readonly unreadAnswers = new HeldBytes(limits.unreadAnswersBytesMax);
  /** The requests of this tick of the event loop. */
  readonly tick = new TickShares();
  readonly tickEnd = new TickEnd();
  /** Open connections. */
  connections = 0;
  /** Unanswered requests: their body may be incomplete, or their answer partly sent. */
  requests = 0;
  /** Whether each answer is the last of its connection. */
  isClosing = false;
  #bodilessAnswers = 0;

  /**
   * Whether an answer without a body must be the last on its connection. uWebSockets reports a client that does not read only for answers with a body,
   * so the number of unread answers is bounded by limiting how many a connection gets.
   */
  isLastWithoutBody(): boolean {
    if (this.#bodilessAnswers < limits.bodilessAnswersFree) {
      this.#bodilessAnswers++;
      return false;
    }
    // At random: connections can't be told apart here, and no client may rely on others being closed.
    return Math.random() * limits.bodilessAnswersOfConnection < 1;
  }

  /**
   * Resolves when a stop cuts nobody off: no request is unanswered, and connections are closed or idle for `limits.stopQuietMs`. Resolves after
   * `limits.stopRequestsMsMax` at the latest, because a body that never ends must not keep the process alive.
   */
  async drain(): Promise<void> {
    this.isClosing = true;
    for (let waitedMs = 0; waitedMs < limits.stopRequestsMsMax; waitedMs += limits.stopLookMs) {
      if (this.requests === 0 && (this.connections === 0 || waitedMs >= limits.stopQuietMs)) return;
      await new Promise((resolve) => setTimeout(resolve, limits.stopLookMs));
    }
  }
}
