/**
 * `packed_clicks` of a click: the clicks that followed it, alike in pointer, button, pressure and trust, as numbers like those of packed points
 * (packed-points.ts). Six each, as differences from the click before: `t` in tenths of a ms, `received_at` in tenths of a ms less that, `x` and `y` in
 * hundredths of a pixel, `dwell` in tenths of a ms, `off_center` in thousandths. `target_tag`, which nothing reads, is the first one's alone. The SDK writes
 * it once an answer has said that it is understood.
 */
import { isoTimeMs } from "../values/iso-time.js";
import type { EventPayload, IngestEvent } from "./events.js";
import { unpackNumbers } from "./packed-points.js";

const numbersEach = 6;
/** The year 10000. */
const msMax = Date.UTC(10_000, 0);

/** The click and those that it packs, in their order; null where the text is none, or the click lacks what the others are told from. */
export function spreadClicks({ request_id: id, type, received_at, payload: given }: IngestEvent): IngestEvent[] | null {
  const { packed_clicks: packed = "", ...payload } = given;
  const { t = Number.NaN, x = 0, y = 0, dwell = Number.NaN, off_center: offCenter = Number.NaN } = payload;
  const numbers = unpackNumbers(packed);
  const now = [10 * t, 10 * (isoTimeMs(received_at) - t), 100 * x, 100 * y, 10 * dwell, 1000 * offCenter];
  if (type !== "click" || numbers === null || numbers.length % numbersEach > 0) return null;
  if (!now.every(Number.isFinite)) return null;
  const { target_tag: _, ...alike } = payload;
  const clicks: IngestEvent[] = [{ request_id: id, type, received_at, payload }];
  for (let at = 0; at < numbers.length; at += numbersEach) {
    for (let index = 0; index < numbersEach; index++) now[index] = Math.round(now[index]!) + numbers[at + index]!;
    const receivedMs = (now[0]! + now[1]!) / 10;
    // Of a `t` beyond all clocks nothing is left that could be told.
    if (!(receivedMs >= 0 && receivedMs < msMax)) return null;
    // Member by member: to spread a second object here takes as long as all else.
    const told: EventPayload = { ...alike };
    told.t = now[0]! / 10;
    told.x = now[2]! / 100;
    told.y = now[3]! / 100;
    told.dwell = now[4]! / 10;
    told.off_center = now[5]! / 1000;
    // No client can choose such an id.
    const request_id = `${id}.${clicks.length}`;
    clicks.push({ request_id, type, received_at: new Date(receivedMs).toISOString(), payload: told });
  }
  return clicks;
}

/** The events of a batch that was accepted, however its clicks came. */
export function spreadEvents(events: readonly IngestEvent[]): IngestEvent[] {
  return events.flatMap((event) => (event.payload.packed_clicks === undefined ? event : (spreadClicks(event) ?? [])));
}
