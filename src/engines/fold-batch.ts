/**
 * Folds a batch of events and the facts of its request into the features of its session: constant size and constant cost an
 * event, however long the session streams. Folding a stream in one batch or in many comes to the same.
 */

import type { EventPayload, IngestEvent } from "../contract/events.js";
import type { RequestFacts, Surroundings } from "../contract/evidence.js";
import { receivedMs } from "./event-time.js";
import { foldEnvironment, foldTiming } from "./fold-environment.js";
import { foldForm, foldKeys, foldScroll } from "./fold-keyboard.js";
import { foldPointer } from "./fold-pointer.js";
import { foldRequest } from "./fold-request.js";
import { F, type SessionFeatures } from "./session-features.js";

/** A clock that is further ahead than this is no clock of a visitor, ms. */
const futureMs = 86_400_000;

/**
 * Folds one accepted batch: its events in the order they were sent, repeats already dropped. Changes `features` in place.
 * Never throws on events that passed validation, whatever their times and coordinates.
 */
export function foldBatch(
  features: SessionFeatures,
  events: readonly IngestEvent[],
  facts: RequestFacts,
  surroundings: Surroundings,
): void {
  let pathPoints = 0;
  for (const event of events) pathPoints += foldEvent(features, event, facts);
  features.numbers[F.events]! += events.length;
  foldClocks(features.numbers, events, facts.nowMs);
  foldRequest(features, facts, surroundings, pathPoints);
}

/** Returns the number of path points of the event. */
function foldEvent(features: SessionFeatures, event: IngestEvent, facts: RequestFacts): number {
  const n = features.numbers;
  const { payload } = event;
  foldTrust(n, payload);
  switch (event.type) {
    case "mouse":
    case "click":
    case "touch":
      return foldPointer(n, event);
    case "scroll":
      foldScroll(n, event);
      return 0;
    case "key":
      foldKeys(n, event);
      return 0;
    case "form":
      foldForm(n, payload);
      return 0;
    case "env":
      foldEnvironment(features, payload, facts);
      return 0;
    case "timing":
      foldTiming(n, payload);
      return 0;
    case "page":
      n[F.pages]! += 1;
      return 0;
    default:
      n[F.presenceEvents]! += 1;
      return 0;
  }
}

function foldTrust(n: number[], payload: EventPayload): void {
  if (payload.trusted === false) n[F.untrusted]! += 1;
  else if (payload.trusted === true) n[F.trusted]! += 1;
  if (payload.honeypot === true) n[F.honeypots]! += 1;
}

/** The last event of a batch is stamped just before it is sent, so its distance from the server's clock should not move. */
function foldClocks(n: number[], events: readonly IngestEvent[], nowMs: number): void {
  const last = events[events.length - 1];
  if (last === undefined) return;
  const skew = receivedMs(last.received_at) - nowMs;
  if (skew > futureMs) n[F.futureEvents]! += 1;
  const seconds = skew / 1000;
  if (!(n[F.clockSkewMin]! <= seconds)) n[F.clockSkewMin] = seconds;
  if (!(n[F.clockSkewMax]! >= seconds)) n[F.clockSkewMax] = seconds;
}
