/**
 * Keeps the timelines of recent sessions, off the ingest path. An HTTP thread copies a bounded number of bodies a second; once a second it folds the
 * accepted ones into the store, in one transaction. When batches come faster, it follows a share of the sessions, the same in every thread, rather
 * than a bit of each. A crash loses the last second.
 *
 * The bodies are parsed a second time here. That is at most 25 a second per thread, 10 µs each with ten events (bench/in-process/decode.ts): a
 * 4,000th of a core. Passing the events back from the scoring threads would add a cost to each batch.
 */
import type { Credentials } from "../auth/credentials.js";
import { parseJsonObject } from "../contract/api/json-body.js";
import type { IngestAnswer, IngestEvent } from "../contract/events/events.js";
import { decodeSessionToken } from "../contract/sessions/session-token.js";
import type { Timeline } from "../contract/sessions/timeline.js";
import { spreadBits } from "../contract/values/hashes.js";
import { Refusal } from "../errors.js";
import { limits } from "../limits.js";
import { sessionKey } from "../store/keys.js";
import type { TimelinePiece } from "../store/recorded-rows.js";
import type { Store } from "../store/store.js";
import { withEvents } from "./timeline.js";

/** Reports the outcome of a copied batch. */
type Keep = (outcome: object) => void;

interface Accepted {
  readonly siteKey: string;
  readonly body: Buffer;
  readonly token: string;
  readonly atMs: number;
}

/** What timelines need; `credentials` find the project of a body's site key. */
interface TimelineOptions {
  readonly store: Store;
  readonly credentials: Credentials;
  /** Maximum of sessions per project with a timeline; 0 means none. */
  readonly sessionsMax: number;
  readonly now: () => number;
}

/** One per HTTP thread; what `flush` stores is for people to look at, and is never scored. */
export class Timelines {
  readonly #options: TimelineOptions;
  #lost = 0;
  #accepted: Accepted[] = [];
  /** One in this many sessions is followed: a power of two, so a session that is followed at a larger value is also followed at a smaller one. */
  #share = 1;
  #firstContacts = 0;
  #furtherBatches = 0;
  #hasForgotten = false;

  constructor(options: TimelineOptions) {
    this.#options = options;
  }

  /** Copies the body if there is room for it; `null` means that it is not followed. `siteKey` is from the header, or "". */
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

  /** Stores what was accepted since the last flush. Rejects when the store can't be written; that data is lost then. */
  async flush(): Promise<void> {
    const { store, sessionsMax } = this.#options;
    if (sessionsMax === 0) return this.#forgetAll();
    this.#adapt();
    if (this.#accepted.length === 0) return;
    const pieces = this.#accepted.map((each) => this.#pieceOf(each)).filter((piece) => piece !== null);
    this.#accepted = [];
    if (pieces.length === 0) return;
    try {
      await store.recorded.timelines.fold(pieces, sessionsMax);
    } catch (error) {
      this.#lost += pieces.length;
      throw error;
    }
  }

  /** Batches whose entries could not be stored, since the start. */
  get lost(): number {
    return this.#lost;
  }

  /** Removes timelines that an earlier start with another option has kept. */
  async #forgetAll(): Promise<void> {
    if (this.#hasForgotten) return;
    this.#hasForgotten = true;
    const { store } = this.#options;
    await store.recorded.timelines.forget(store.projects.getKeys({}));
  }

  /** Returns a session's timeline; null when none is kept. */
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

  /** null when the key was rotated since. */
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
/** Position of the four characters that decide; all of them are random. */
const chooserAt = front.length + 24;

/**
 * Returns the deciding characters of the token where the SDK puts it; `null` for a first contact, or another client's form. Reads only a few bytes.
 */
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
