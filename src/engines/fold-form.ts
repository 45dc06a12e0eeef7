/** Folds forms into the features. Counts and times only: the contents of fields never reach the service. */
import type { EventPayload } from "../contract/events/events.js";
import { boundedCount } from "./bounded-sums.js";
import { F } from "./session-features.js";

/** No one fills three fields by hand in this time, ms. */
const instantFillMs = 300;

/** Folds a `form` event. */
export function foldForm(n: number[], payload: EventPayload): void {
  if (payload.submit === true) n[F.submits]! += 1;
  const isFilledAtOnce = payload.fill_ms !== undefined && payload.fill_ms >= 0 && payload.fill_ms < instantFillMs;
  if (isFilledAtOnce && payload.autofill === false && (payload.field_count ?? 0) >= 3 && (payload.pastes ?? 0) === 0) {
    n[F.instantFills]! += 1;
  }
  if (isUnkeyed(payload)) n[F.unkeyedForms]! += 1;
  n[F.fieldsFilled]! += boundedCount(payload.field_count);
  n[F.formChanges]! += boundedCount(payload.count);
  n[F.unkeyed]! += boundedCount(payload.unkeyed);
}

/** Whether no text of a form with two fields and more came by a key, a paste, a drop, an input method or the browser's own memory. Boxes may be ticked once each. */
function isUnkeyed({ field_count: fields = 0, count = 0, unkeyed = 0, autofill }: EventPayload): boolean {
  return autofill === false && unkeyed >= 2 && count - unkeyed <= fields - 2;
}
