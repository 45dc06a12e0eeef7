/** `compare_from` and `compare_to`: another range, for which the same is answered as `compare`. */

import type { ParameterDoc } from "../../../contract/api/route-doc.js";
import { dayMs } from "../../../contract/values/durations.js";
import { isoDateOrTimeMs } from "../../../contract/values/iso-time.js";
import { type Refusal, refuse } from "../../../errors.js";

const time = { type: "string", description: "ISO-8601: a date, or date and time; UTC where no zone is given" };

/** Both, for the OpenAPI document. */
export const compareParameters: readonly ParameterDoc[] = [
  {
    in: "query",
    name: "compare_from",
    description: "Start of another range, for which `compare` says the same. With `compare_to` only",
    schema: time,
  },
  { in: "query", name: "compare_to", description: "Its end, exclusive. With `compare_from` only", schema: time },
];

/** The other range, null where none is asked for; ms. `invalidPayload` for one that is none, or longer than so many days. */
export function comparedSpan(
  from: string | null | undefined,
  to: string | null | undefined,
  daysMax: number,
): { readonly fromMs: number; readonly untilMs: number } | null | Refusal {
  if (from == null && to == null) return null;
  if (from == null || to == null) {
    return refuse("invalidPayload", "compare_from and compare_to must be given together");
  }
  const fromMs = isoDateOrTimeMs(from);
  if (Number.isNaN(fromMs)) return refuse("invalidPayload", "compare_from must be an ISO-8601 date, or date and time");
  const untilMs = isoDateOrTimeMs(to);
  if (Number.isNaN(untilMs)) return refuse("invalidPayload", "compare_to must be an ISO-8601 date, or date and time");
  if (fromMs >= untilMs) return refuse("invalidPayload", "compare_from must be before compare_to");
  if (fromMs < 0 || untilMs - fromMs > daysMax * dayMs) {
    return refuse("invalidPayload", `compare_from and compare_to must be at most ${daysMax} days apart, after 1970`);
  }
  return { fromMs, untilMs };
}
