/**
 * Folds a batch of events and the facts of its request into the features of its session. Size and cost per event stay constant, however long the
 * session streams. One batch or many with the same events have the same result.
 */

import type { EventPayload, IngestEvent } from "../contract/events/events.js";
import type { CrossSessionCounts } from "../contract/evidence/evidence.js";
import type { RequestFacts } from "../contract/evidence/header-facts.js";
import { type CrawlerClaim, crawlerClaims } from "../contract/evidence/visitor.js";
import { isoTimeMs, receivedAtMs } from "../contract/values/iso-time.js";
import { limits } from "../limits.js";
import { boundedMs } from "./event-time.js";
import { environmentKeys, foldEnvironment, foldTiming } from "./fold-environment.js";
import { foldForm } from "./fold-form.js";
import { foldKeys } from "./fold-keyboard.js";
import { foldPageFlow } from "./fold-pages.js";
import { foldPointerEvents } from "./fold-pointer.js";
import { foldRequest } from "./fold-request.js";
import { foldScroll } from "./fold-scroll.js";
import { foldHands, foldUntouched } from "./fold-untouched.js";
import { F, type SessionFeatures } from "./session-features.js";

/**
 * Folds one accepted batch: its events in the order they were sent, without those seen before. Changes `features` in place. Never throws on events
 * that passed validation, whatever their times and coordinates.
 */
export function foldBatch(
  features: SessionFeatures,
  events: readonly IngestEvent[],
  facts: RequestFacts,
  crossSession: CrossSessionCounts,
): void {
  foldHands(features.numbers, events);
  for (const event of events) foldEvent(features, event, facts);
  const pathPoints = foldPointerEvents(features.numbers, events, facts.nowMs);
  features.numbers[F.events]! += events.length;
  foldClocks(features.numbers, events, facts.nowMs);
  foldOrder(features.numbers, events, facts.nowMs);
  foldRequest(features, facts, crossSession, pathPoints);
}

/** Folds what does not depend on the pointer's path. */
function foldEvent(features: SessionFeatures, event: IngestEvent, facts: RequestFacts): void {
  const n = features.numbers;
  const { payload } = event;
  foldTrust(n, payload);
  foldUntouched(n, event, facts.nowMs);
  foldPageFlow(n, event, facts.nowMs);
  if (event.type !== "env" && hasEnvironment(payload)) foldEnvironment(features, payload, facts);
  switch (event.type) {
    case "mouse":
    case "click":
    case "touch":
      return;
    case "scroll":
      foldScroll(n, event, facts.nowMs);
      return;
    case "key":
      foldKeys(n, event, facts.nowMs);
      return;
    case "form":
      foldForm(n, payload);
      return;
    case "env":
      n[F.environmentReported] = 1;
      foldEnvironment(features, payload, facts);
      return;
    case "timing":
      foldTiming(n, payload);
      return;
    case "page":
      return;
    default:
      n[F.presenceEvents]! += 1;
      return;
  }
}

/** All types share one whitelist of keys, so a client may report its environment with any event. */
function hasEnvironment(payload: EventPayload): boolean {
  for (const key in payload) if (environmentKeys.has(key)) return true;
  return false;
}

function foldTrust(n: number[], payload: EventPayload): void {
  if (payload.trusted === false) n[F.untrusted]! += 1;
  else if (payload.trusted === true) n[F.trusted]! += 1;
  if (payload.honeypot === true) n[F.honeypots]! += 1;
}

/**
 * The SDK stamps an event when it records it: after it has happened, and after the event before it in its batch. `pageOrigin` is when the session's
 * earliest page was opened, by the visitor's clock. A stamp earlier than that time plus the event's own page time is impossible.
 */
function foldOrder(n: number[], events: readonly IngestEvent[], nowMs: number): void {
  const isFirst = n[F.batches] === 0;
  const firstSeenMs = isFirst ? nowMs : n[F.firstSeenMs]!;
  let hasPage = false;
  let hasEnvironmentReport = false;
  let before = "";
  for (const { type, received_at, payload } of events) {
    // Times in the form of `Date.toISOString` sort as their texts do.
    if (received_at.length === isoLength && before.length === isoLength && received_at < before) {
      n[F.stampReversals]! += 1;
    }
    before = received_at;
    if (type === "env") hasEnvironmentReport = true;
    if (type !== "page") continue;
    hasPage = true;
    if (payload.t === undefined) continue;
    const origin = (receivedAtMs(received_at, nowMs) - boundedMs(payload.t) - firstSeenMs) / 1000;
    if (!(n[F.pageOrigin]! <= origin)) n[F.pageOrigin] = origin;
  }
  if (isFirst && hasEnvironmentReport && !hasPage) n[F.pagelessStart] = 1;
  const last = events[events.length - 1];
  if (last === undefined || last.type === "page" || last.payload.t === undefined) return;
  const end = boundedMs(last.payload.t) + lengthMs(last.payload);
  const earliest = firstSeenMs + n[F.pageOrigin]! * 1000 + end;
  if (receivedAtMs(last.received_at, nowMs) < earliest - stampSlackMs) n[F.earlyEvents]! += 1;
}

const isoLength = "2026-01-01T00:00:00.000Z".length;
/** A clock may be set back by this much meanwhile. */
const stampSlackMs = 1000;

/** How long an event continued after its time, at least, ms. */
function lengthMs({ points, strokes, dt }: EventPayload): number {
  return boundedMs((points ?? strokes)?.at(-1)?.[0] ?? dt ?? 0);
}

/** A clock that leaps by more than this was set, s. */
const correctionMin = 3600;

/**
 * Of two clocks that part, the one that leapt was set. If it was the server's, the visitor's offsets so far move with it: they say nothing of the
 * visitor. Runs before the batch counts as seen.
 */
function foldCorrection(n: number[], seconds: number, nowMs: number): void {
  const shift = seconds - n[F.clockSkewLast]!;
  n[F.clockSkewLast] = seconds;
  // NaN before the first batch.
  if (!(Math.abs(shift) > correctionMin)) return;
  const byServer = (nowMs - n[F.lastSeenMs]!) / 1000;
  if (Math.abs(byServer) <= Math.abs(byServer + shift)) {
    n[F.clockLeaps]! += 1;
    return;
  }
  n[F.clockSkewMin]! += shift;
  n[F.clockSkewMax]! += shift;
  n[F.futureEvents] = 0;
}

/** The last event of a batch is stamped just before it is sent, so its distance from the server's clock should not move. */
function foldClocks(n: number[], events: readonly IngestEvent[], nowMs: number): void {
  const last = events[events.length - 1];
  if (last === undefined) return;
  if (isoTimeMs(last.received_at) - nowMs > limits.clockSkewMs) n[F.futureEvents]! += 1;
  const seconds = (receivedAtMs(last.received_at, nowMs) - nowMs) / 1000;
  foldCorrection(n, seconds, nowMs);
  if (!(n[F.clockSkewMin]! <= seconds)) n[F.clockSkewMin] = seconds;
  if (!(n[F.clockSkewMax]! >= seconds)) n[F.clockSkewMax] = seconds;
}

/** Records what is known about the session's claim to be a crawler, which ranges and DNS decide elsewhere. The latest verdict counts. */
export function setCrawlerClaim(features: SessionFeatures, claim: CrawlerClaim): void {
  features.numbers[F.crawlerClaim] = crawlerClaims.indexOf(claim);
}
