/** How fast the page loaded, and how evenly the browser draws. */
import { pageLoad } from "../collectors/page.js";
import { type ObservedFacts, round } from "../recorder.js";

const framesMax = 24;

/** NaN for an empty list, which `round` leaves out. */
function mean(values: number[]): number {
  // Old libraries replace `reduce`.
  let sum = 0;
  for (const each of values) sum += each;
  return sum / values.length;
}

/** Mean and standard deviation of the time between frames; empty where nothing is drawn (a hidden page) within `ms`. */
function measureFrames(ms: number): Promise<ObservedFacts> {
  return new Promise((resolve) => {
    const gaps: number[] = [];
    let last = 0;
    // Called twice it does no harm.
    const finish = () => {
      const middle = mean(gaps);
      const variance = mean(gaps.map((each) => (each - middle) ** 2));
      resolve({ raf_mean: round(middle, 2), raf_sd: round(Math.sqrt(variance), 2) });
    };
    const frame = (at: number) => {
      if (last) gaps.push(at - last);
      last = at;
      if (gaps.length < framesMax) requestAnimationFrame(frame);
      else finish();
    };
    requestAnimationFrame(frame);
    setTimeout(finish, ms);
  });
}

/** The payload of a `timing` event; takes at most `ms`. */
export async function collectTiming(ms: number): Promise<ObservedFacts> {
  const frames = await measureFrames(ms);
  const load = pageLoad();
  const since = (at: number | undefined) => (at ? round(at, 1) : undefined);
  return {
    ttfb: since(load?.responseStart),
    dcl: since(load?.domContentLoadedEventEnd),
    load: since(load?.loadEventEnd),
    ...frames,
  };
}
