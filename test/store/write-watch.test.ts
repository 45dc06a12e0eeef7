/** Whether a thread hangs in a write transaction, as seen from outside of it. */
import t from "tap";
import { newWriteCounts, WriteMarker, WriteWatch } from "../../src/store/write-watch.js";

t.test("a transaction that hangs is seen, and those that come and go are not", async (t) => {
  const counts = newWriteCounts();
  const watch = new WriteWatch(counts);
  const marker = new WriteMarker(counts);
  const short = (): number => {
    marker.asking(() => marker.holding(() => {}));
    return watch.tick();
  };
  t.same([short(), short(), short(), watch.tick()], [0, 0, 0, 0]);
  let ticks: number[] = [];
  marker.asking(() =>
    marker.holding(() => {
      ticks = [1, 2, 3].map(() => watch.tick());
      t.notOk(watch.isIdle);
    }),
  );
  t.same(ticks, [0, 1, 2]);
  t.same([watch.tick(), watch.isIdle], [0, true], "it is over");
});
