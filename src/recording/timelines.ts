/**
 * Keeps the timelines of recent sessions, off the ingest path: an HTTP thread copies a bounded number of bodies a second, and once a
 * second folds those that were accepted into the store, in one transaction. When batches come faster, it follows a share of the
 * sessions, the same in every thread, rather than a bit of each. A crash loses the last second.
 *
 * The bodies are parsed a second time here. That is at most 25 a second a thread, 10 µs each with ten events (bench/in-process/decode.ts):
 * a 4,000th of a core, where passing the events back from the scoring threads would cost something with each batch.
 */
import type { Credentials } from "../auth/credentials.js";
import type { IngestAnswer, IngestEvent } from "../contract/events.js";
import { spreadBits } from "../contract/hashes.js";
import { parseJsonObject } from "../contract/json-body.js";
import { decodeSessionToken } from "../contract/session-token.js";
import type { Timeline } from "../contract/timeline.js";
import { Refusal } from "../errors.js";
import { limits } from "../limits.js";
import { sessionKey } from "../store/keys.js";
import type { TimelinePiece } from "../store/recorded-rows.js";
import type { Store } from "../store/store.js";
import { withEvents } from "./timeline.js";

/** Tells what became of a batch that was copied. */
export type Keep = (outcome: object) => void;

interface Accepted {
  readonly siteKey: string;
  readonly body: Buffer;
  readonly token: string;
  readonly atMs: number;
}

/** What timelines need; `credentials` tell whose a body's site key is. */
export interface TimelineOptions {
  readonly store: Store;
  readonly credentials: Credentials;
  /** Sessions of a project whose timelines are kept; 0: none. */
  readonly sessionsMax: number;
  readonly now: () => number;
}

/** One an HTTP thread; what `flush` stores are lists for people to look at, nothing that is scored. */
export class Timelines {
  readonly #options: TimelineOptions;
  #accepted: Accepted[] = [];
  /** Of how many sessions one is followed: a power of two, so that those followed at a larger one are at a smaller one too. */
  #share = 1;
  #firstContacts = 0;
  #furtherBatches = 0;
  #hasForgotten = false;

  constructor(options: TimelineOptions) {
    this.#options = options;
  }

  /** Copies the body if there is room for it; null: it is not followed. `siteKey` is that of the header, or "". */
  follow(siteKey: string, body: Buffer): Keep | null {
    if (this.#options.sessionsMax === 0 || body.length > limits.timelineBodyBytesMax) return null;
    const chooser = this.#share === 1 ? null : chooserAtFront(body);
    if (chooser !== null && chooser % this.#share !== 0) return null;
    const isRoom =
      this.#share > 1 && chooser === null
        ? this.#firstContacts++ < limits.timelineBatchesPerFlush
        : this.#furtherBatches++ < limits.timelineBatchesPerFlush;
    if (!isRoom) return null;
    const copy = Buffer.from(body);
    const atMs = this.#options.now();
    return (outcome) => {
      const { session_token, accepted = 0 } = outcome as Partial<IngestAnswer>;
      if (session_token === undefined || accepted === 0 || chooserOf(session_token) % this.#share !== 0) return;
      this.#accepted.push({ siteKey, body: copy, token: session_token, atMs });
    };
  }

  /** Stores what was accepted since the last time. Rejects when the store can't be written; what it had is lost then. */
  async flush(): Promise<void> {
    const { store, sessionsMax } = this.#options;
    if (sessionsMax === 0) return this.#forgetAll();
    this.#adapt();
    if (this.#accepted.length === 0) return;
    const pieces = this.#accepted.map((each) => this.#pieceOf(each)).filter((piece) => piece !== null);
    this.#accepted = [];
    if (pieces.length > 0) await store.recorded.timelines.fold(pieces, sessionsMax);
  }

  /** What an earlier start with another option has kept. */
  async #forgetAll(): Promise<void> {
    if (this.#hasForgotten) return;
    this.#hasForgotten = true;
    const { store } = this.#options;
    await store.recorded.timelines.forget(store.projects.getKeys({}));
  }

  /** A session's timeline; null when none is kept. */
  async read(projectId: number, token: string): Promise<Timeline | null> {
    const bytes = decodeSessionToken(token);
    return bytes === null ? null : this.#options.store.recorded.timelines.read(sessionKey(projectId, bytes));
  }

  #adapt(): void {
    if (this.#furtherBatches > limits.timelineBatchesPerFlush)
      this.#share = Math.min(this.#share * 2, limits.timelineShareMax);
    else if (this.#furtherBatches < limits.timelineBatchesPerFlush / 4) this.#share = Math.max(1, this.#share / 2);
    this.#firstContacts = this.#furtherBatches = 0;
  }

  /** Null when the key was rotated since. */
  #pieceOf({ siteKey, body, token, atMs }: Accepted): TimelinePiece | null {
    const batch = parseJsonObject(body);
    const bytes = decodeSessionToken(token);
    if (batch instanceof Refusal || bytes === null) return null;
    const holder = this.#options.credentials.authenticatedKey("site", siteKey || String(batch["site_key"]));
    if (holder === null) return null;
    const projectId = holder.project.id;
    const events = batch["events"] as IngestEvent[];
    return { projectId, key: sessionKey(projectId, bytes), fold: (before) => withEvents(before, events, atMs) };
  }
}

const front = Buffer.from('{"session_token":"sess_');
/** Where the four characters lie that choose; all of them are random. */
const chooserAt = front.length + 24;

/** The chooser of the token where the SDK puts it; null: a first contact, or another client's form. Looks at a few bytes only. */
function chooserAtFront(body: Buffer): number | null {
  const isThere = body[18] === front[18] && body[chooserAt + 4] === 0x22 && body[0] === front[0];
  return isThere ? mixed(body[chooserAt]!, body[chooserAt + 1]!, body[chooserAt + 2]!, body[chooserAt + 3]!) : null;
}

function chooserOf(token: string): number {
  const at = token.length - 4;
  return mixed(token.charCodeAt(at), token.charCodeAt(at + 1), token.charCodeAt(at + 2), token.charCodeAt(at + 3));
}

/** Spreads four characters over 24 bits. */
function mixed(first: number, second: number, third: number, fourth: number): number {
  return spreadBits((first << 24) | (second << 16) | (third << 8) | fourth) >>> 8;
}
