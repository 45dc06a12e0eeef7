/**
 * Events in the form that takes the fewest bytes, for servers that say that they read it: `src/contract/events/packed-clicks.ts` and `packed-points.ts` tell
 * how. In this file of the SDK because it has room. Loses the kinds of element that were clicked, but the first: nothing reads them.
 */
import type { IngestEvent } from "../../contract/events/events.js";
import type { Told } from "../recorder.js";

/** After so many characters another click has an event of its own: a server takes 512. */
const clicksTextMost = 460;

/**
 * The events with the `shorter` texts of their points, by payload, and with clicks of one kind that follow each other as one event; undefined where the
 * server does not read it. `delta` makes a number's text.
 */
export function joinEvents(
  events: readonly IngestEvent[],
  told: Told,
  shorter: WeakMap<object, string>,
  delta: (value: number) => string,
): IngestEvent[] | undefined {
  if (!(told.packing! > 1)) return undefined;
  const joined: IngestEvent[] = [];
  let text = "";
  let kindBefore = "";
  let before: number[] = [];
  for (const event of events) {
    const { payload, type } = event;
    const { t, x, y, dwell, off_center, target_tag, ...same } = payload;
    // NaN where one is missing.
    const now = [
      10 * t!,
      10 * (Date.parse(event.received_at) - t!),
      100 * x!,
      100 * y!,
      10 * dwell!,
      1000 * off_center!,
    ].map(Math.round);
    const kind = type === "click" && !now.some(Number.isNaN) ? type + Object.entries(same) : "";
    if (kind && kind === kindBefore && text.length < clicksTextMost) {
      text += now.map((value, index) => delta(value - before[index]!)).join("");
      joined[joined.length - 1]!.payload.packed_clicks = text;
    } else {
      const short = shorter.get(payload);
      joined.push({ ...event, payload: { ...payload, ...(short && { packed_points: short }) } });
      text = "";
    }
    kindBefore = kind;
    before = now;
  }
  return joined;
}
