/**
 * Sends batches: one at a time, in order, retried with the same key and the same body until answered or refused; what is urgent goes beside them.
 * The last step of the flow in the browser. Must stay silent and bounded however the server behaves.
 */
import type { IngestAnswer, IngestEvent } from "../contract/events/events.js";
import { batchId } from "./ids.js";
import { jsonOf } from "./json.js";
import type { Settings } from "./options.js";
import { attempt } from "./page-hooks.js";
import type { Told } from "./recorder.js";
import { storagePrefix, type TokenStore } from "./token.js";

/** A batch under way. */
interface Batch {
  events: IngestEvent[];
  key?: string;
  /** The session's token, as it was at the first attempt: every attempt is the same request. */
  token?: string | null;
  /** The events in the form that every server reads, where the attempts have a shorter one. */
  plain?: IngestEvent[] | undefined;
}

/** The sending end. */
interface Transport {
  /** Queues a batch. The queue is bounded: when it is full the oldest batch but the first is dropped. Nothing is sent before the first `push`. */
  send(events: IngestEvent[]): void;
  /** Takes over what the tab's last page could not bring to an end; storage is slow at its first use. */
  prepare(): void;
  /** Sends what is queued now: what would have to wait for an answer goes as beacons. */
  push(): void;
  isBusy(): boolean;
  /** Tries again now, for when the network or the page is back. */
  nudge(): void;
  /** The page is being left: what is queued and what is `taken` now go out as beacons, or wait for the tab's next page. */
  leave(taken: () => IngestEvent[]): void;
  stop(): void;
}

const queueMax = 12;
/** Half of the first delay, which doubles. */
const retryHalfMs = 500;
const retryMostMs = 60_000;
const answerMostMs = 10_000;
/** Refusals (401, 402, 422 and the like) in a row after which nothing more is sent. */
const refusalsMax = 3;
/** Characters, nearly all of one byte, that a page sends as beacons between two answers, so while it is left. */
const leavingMax = 24_000;

/**
 * Opens the transport. `settled` is called with the token after each answer, and with what is known after a failure. What the answer says of batches to
 * come is put into `told`.
 */
export function openTransport(
  settings: Settings,
  tokens: TokenStore,
  told: Told,
  wait: (task: () => void, ms: number) => void,
  settled: (token: string | null) => void,
): Transport {
  let queue: Batch[] = [];
  let prepared = false;
  let opened = false;
  let stopped = false;
  let inFlight = false;
  let failures = 0;
  let refusals = 0;
  let attemptAt = 0;
  let room = leavingMax;
  /** The key of a first contact: that of the tab until a page of it has heard an answer, so that all its pages are one session. */
  let firstKey: string;
  let answered = false;

  const storageKey = `${storagePrefix}_${settings.siteKey}`;
  const url = `${settings.base}/v1/events`;
  // Site key and idempotency key are in headers where there can be some.
  const bodyOf = (batch: Batch, site_key?: string) => {
    if (batch.token === undefined) {
      batch.token = tokens.read();
      // A beacon hears no refusal.
      const joined = site_key ? undefined : told.join?.(batch.events);
      if (joined) {
        batch.plain = batch.events;
        batch.events = joined;
      }
    }
    batch.key ??= answered ? batchId() : firstKey;
    const idempotency_key = site_key && batch.key === firstKey ? firstKey : undefined;
    return jsonOf({ session_token: batch.token, site_key, idempotency_key, events: batch.events });
  };
  const beacon = (batch: Batch) => {
    const body = bodyOf(batch, settings.siteKey);
    const sent = body.length <= room && attempt(() => navigator.sendBeacon(url, body));
    if (sent) room -= body.length;
    return sent;
  };

  /** Leaves to the tab's next page, or to the next start, the key of a first contact without an answer, and what was not sent. */
  const keep = (batches: Batch[]) => {
    if (batches.length || !answered) {
      attempt(() => sessionStorage.setItem(storageKey, jsonOf({ key: firstKey, batches })));
    }
  };
  const stop = () => {
    if (opened) keep([]);
    stopped = true;
    queue = [];
  };

  const failed = () => {
    failures++;
    // Half to all of the doubled delay: clients that failed together don't come back together.
    const delay = Math.min(retryMostMs, retryHalfMs * 2 ** failures) * (0.5 + Math.random() / 2);
    attemptAt = Date.now() + delay;
    wait(pump, delay);
    told.times = told.packing = 0;
    settled(tokens.read());
  };

  async function post(batch: Batch): Promise<void> {
    const body = bodyOf(batch);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "X-Service-Site-Key": settings.siteKey,
          "Idempotency-Key": batch.key!,
        },
        body,
        credentials: "omit",
        referrerPolicy: "strict-origin",
        keepalive: true,
        // Browsers that lack it have a patience of their own.
        signal: AbortSignal.timeout?.(answerMostMs),
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
      if (status === 422 && batch.plain) {
        // A server of an older release, while several are side by side.
        batch.events = batch.plain;
        batch.plain = undefined;
        return failed();
      }
      answered = true;
      refusals = status >= 400 ? refusals + 1 : 0;
      failures = attemptAt = 0;
      room = leavingMax;
      queue.shift();
      told.times = +response.headers.get("X-Verdict-Interval")!;
      told.packing = +response.headers.get("X-Verdict-Packing")!;
      settled(tokens.read());
      if (refusals >= refusalsMax) stop();
    } catch {
      failed();
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

  const add = (events: IngestEvent[]) => {
    queue.push({ events });
    if (queue.length > queueMax) queue.splice(1, 1);
  };
  const prepare = () => {
    if (prepared) return;
    prepared = true;
    firstKey = batchId();
    attempt(() => {
      const kept = JSON.parse(sessionStorage.getItem(storageKey)!) as { key: string; batches: Batch[] };
      sessionStorage.removeItem(storageKey);
      firstKey = kept.key;
      queue = [...kept.batches, ...queue].slice(-queueMax);
    });
  };

  return {
    send(events) {
      if (stopped) return;
      add(events);
      pump();
    },
    prepare,
    push() {
      if (stopped) return;
      prepare();
      opened = true;
      if (inFlight && !failures) {
        queue = queue.filter((batch, at) => !at || !beacon(batch));
      } else pump();
    },
    isBusy: () => !opened || queue.length > 0,
    nudge() {
      attemptAt = 0;
      pump();
    },
    leave(taken) {
      if (stopped) return;
      prepare();
      // Nothing starts on its way while the last events are gathered.
      const wasInFlight = inFlight;
      inFlight = true;
      const events = taken();
      inFlight = wasInFlight;
      if (events.length) add(events);
      // A request in flight outlives the page, if the browser keeps it alive.
      const unsent = inFlight && "keepalive" in Request.prototype ? queue.slice(1) : queue;
      keep(unsent.filter((batch) => failures || !beacon(batch)));
      queue = inFlight ? queue.slice(0, 1) : [];
    },
    stop,
  };
}
