/**
 * Sends batches: one at a time, in order, retried with the same key and the same body until answered or refused.
 * The last step of the flow in the browser. Must stay silent and bounded however the server behaves.
 */
import type { IngestAnswer, IngestEvent } from "../contract/events.js";
import { batchId } from "./ids.js";
import type { Settings } from "./options.js";
import { attempt } from "./page-hooks.js";
import { storageKey, type TokenStore } from "./token.js";

/** A batch under way. */
interface Batch {
  key: string;
  events: IngestEvent[];
  /** The session's token, as it was at the first attempt: every attempt is the same request. */
  token?: string | null;
}

/** The sending end. */
export interface Transport {
  /** Queues a batch. The queue is bounded: when it is full the oldest batch but the first is dropped. */
  send(events: IngestEvent[]): void;
  /** Starts sending; before, batches only queue up. */
  open(): void;
  isBusy(): boolean;
  /** Tries again now, for when the network or the page is back. */
  nudge(): void;
  /** The page is being left: everything queued and these last events go out as beacons, or wait for the next page. */
  leave(events: IngestEvent[]): void;
  stop(): void;
}

const queueMax = 12;
const retryFirstMs = 1000;
const retryMostMs = 60_000;
const answerMostMs = 10_000;
/** Refusals (401, 402, 422 and the like) in a row after which nothing more is sent. */
const refusalsMax = 3;
/** Browsers let a page that is left send 64 KiB. */
const keepaliveBytesMax = 60_000;

/** Opens the transport. `settled` is called with the token after each answer, and with what is known after a failure. */
export function openTransport(
  settings: Settings,
  tokens: TokenStore,
  wait: (task: () => void, ms: number) => void,
  settled: (token: string | null) => void,
): Transport {
  let queue: Batch[] = [];
  let opened = false;
  let stopped = false;
  let inFlight = false;
  let failures = 0;
  let refusals = 0;
  let attemptAt = 0;

  const url = `${settings.base}/v1/events`;
  // The site key is in a header where there can be one.
  const bodyOf = (batch: Batch, site_key?: string) => {
    if (batch.token === undefined) batch.token = tokens.read();
    return JSON.stringify({ session_token: batch.token, site_key, events: batch.events });
  };

  const stop = () => {
    stopped = true;
    queue = [];
  };

  const failed = () => {
    failures++;
    // Half to all of the doubled delay: clients that failed together don't come back together.
    const delay = Math.min(retryMostMs, retryFirstMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
    attemptAt = Date.now() + delay;
    wait(pump, delay);
    settled(tokens.read());
  };

  async function post(batch: Batch): Promise<void> {
    const body = bodyOf(batch);
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), answerMostMs);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "X-Service-Site-Key": settings.siteKey,
          "Idempotency-Key": batch.key,
        },
        body,
        credentials: "omit",
        referrerPolicy: "strict-origin",
        keepalive: body.length < keepaliveBytesMax,
        signal: abort.signal,
      });
      const status = response.status;
      if (status === 202) {
        const answer = (await response.json()) as Partial<IngestAnswer>;
        if (!stopped && typeof answer.session_token === "string")
          tokens.write(answer.session_token, batch.token ?? null);
      } else if (status >= 500 || status === 408 || status === 429 || (status === 204 && !batch.token)) {
        // A shed first contact has no token yet: it counts as not sent.
        return failed();
      }
      refusals = status >= 400 ? refusals + 1 : 0;
      failures = attemptAt = 0;
      queue.shift();
      settled(tokens.read());
      if (refusals >= refusalsMax) stop();
    } catch {
      failed();
    } finally {
      clearTimeout(timer);
    }
  }

  function pump(): void {
    const batch = queue[0];
    if (!opened || stopped || inFlight || !batch || Date.now() < attemptAt - 20) return;
    inFlight = true;
    post(batch).then(() => {
      inFlight = false;
      pump();
    });
  }

  const add = (batch: Batch) => {
    queue.push(batch);
    if (queue.length > queueMax) queue.splice(1, 1);
  };

  return {
    send(events) {
      if (stopped) return;
      add({ key: batchId(), events });
      pump();
    },
    open() {
      const kept = attempt(() => {
        const text = sessionStorage.getItem(storageKey);
        sessionStorage.removeItem(storageKey);
        return JSON.parse(text || "[]") as Batch[];
      });
      queue = [...(kept || []), ...queue].slice(-queueMax);
      opened = true;
      // Storage, cookie and network are slow at their first use: a task for each of the first and the others.
      wait(pump, 0);
    },
    isBusy: () => !opened || queue.length > 0,
    nudge() {
      attemptAt = 0;
      pump();
    },
    leave(events) {
      if (stopped) return;
      if (events.length) add({ key: batchId(), events });
      // A request in flight outlives the page, if the browser keeps it alive.
      const unsent = inFlight && tokens.read() && "keepalive" in Request.prototype ? queue.slice(1) : queue;
      if (!tokens.read() || failures) {
        // Nobody could read the answer of a beacon, so a first contact waits for the next page: same key, same session.
        attempt(() => sessionStorage.setItem(storageKey, JSON.stringify(unsent)));
      } else {
        for (const batch of unsent) navigator.sendBeacon(url, bodyOf(batch, settings.siteKey));
      }
      queue = inFlight ? queue.slice(0, 1) : [];
    },
    stop,
  };
}
