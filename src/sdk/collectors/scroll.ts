/** Scrolling of the page: one `scroll` event a burst, and which input led to it. */
import { doc } from "../bare.js";
import type { Collector } from "../collector.js";
import { round } from "../recorder.js";

/** A burst ends when the page has stood still for this long. */
const burstGapMs = 250;
/** An input older than this did not cause a burst. */
const causeMs = 1200;

/** Follows scroll bursts. */
export const collectScroll: Collector = (scene) => {
  let burst: { start: number; end: number; x: number; y: number; count: number; input: string } | null = null;
  let x = scrollX;
  let y = scrollY;

  const drain = () => {
    const done = burst;
    burst = null;
    if (!done) return;
    scene.record("scroll", {
      t: round(done.start, 1),
      dt: round(done.end - done.start, 1),
      dx: round(scrollX - done.x),
      dy: round(scrollY - done.y),
      count: done.count,
      scroll_input: done.input,
    });
  };
  const endIfStill = () => {
    if (!burst) return;
    if (performance.now() - burst.end >= burstGapMs - 5) drain();
    else scene.later(endIfStill, burstGapMs);
  };

  scene.listen(doc, "scroll", (event) => {
    if (event.target !== document) return;
    const now = performance.now();
    if (!burst) {
      const input = now - scene.input.at < causeMs ? scene.input.kind : "none";
      burst = { start: now, end: now, x, y, count: 0, input };
      scene.later(endIfStill, burstGapMs);
    }
    burst.end = now;
    burst.count++;
    x = scrollX;
    y = scrollY;
  });
  scene.onDrain(drain);
};
