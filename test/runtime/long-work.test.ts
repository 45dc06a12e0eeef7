/** Long work in slices: one a tick of the event loop, in the order of asking, and none for who has gone. */
import t from "tap";
import { limits } from "../../src/limits.js";
import { LongWork } from "../../src/runtime/long-work.js";

t.test("a slice lasts for its time on the clock", async (t) => {
  let nowMs = 0;
  const slices = new LongWork(() => nowMs).begin();
  t.equal(slices.isOver, true, "nothing is done before the first turn");
  t.equal(await slices.next(), true);
  t.equal(slices.isOver, false);
  nowMs += limits.workSliceMs;
  t.equal(slices.isOver, true);
});

t.test("of much work under way one slice runs a turn, so that others wait for one only", async (t) => {
  const work = new LongWork(() => 0);
  const events: string[] = [];
  const begun = Array.from({ length: 4 }, async (_, index) => {
    const slices = work.begin();
    for (let slice = 0; slice < 3; slice++) {
      await slices.next();
      events.push(`work ${index}`);
    }
  });
  let isRunning = true;
  const tick = (): void => {
    events.push("turn");
    if (isRunning) setImmediate(tick);
  };
  setImmediate(tick);
  await Promise.all(begun);
  isRunning = false;
  const works = events.filter((each) => each !== "turn");
  t.same(
    works,
    [0, 1, 2].flatMap(() => ["work 0", "work 1", "work 2", "work 3"]),
    "one after another",
  );
  for (let at = 1; at < events.length; at++)
    t.notOk(events[at] !== "turn" && events[at - 1] !== "turn", `two slices in one turn at ${at}`);
});

t.test("work ends when nobody waits for it", async (t) => {
  let isGone = false;
  const slices = new LongWork().begin(() => isGone);
  t.equal(await slices.next(), true);
  isGone = true;
  t.equal(await slices.next(), false);
});
