/** Which sessions a backtest takes: those that began in a time, all of them or an even sample of it. */
import t from "tap";
import { decodeSessionToken } from "../../src/contract/session-token.js";
import { Sessions } from "../../src/control-plane/sessions.js";
import { limits } from "../../src/limits.js";
import { LongWork } from "../../src/long-work.js";
import { openStore } from "../../src/store/store.js";
import { putSession } from "../support/stored-session.js";

const untilMs = Date.UTC(2026, 10, 21, 12);
const hourMs = 3_600_000;
const day = { fromMs: untilMs - 24 * hourMs, untilMs };

const store = openStore(t.testdir());
t.teardown(() => store.close());
const sessions = new Sessions(store);

let puts = 0;

/** Puts sessions that began so long before the end of the day, in hours. */
function put(projectId: number, hoursAgo: readonly number[]): void {
  store.root.transactionSync(() => {
    for (const hours of hoursAgo) putSession(store, projectId, Math.floor(untilMs - hours * hourMs), puts++);
  });
}

/** So many times, evenly spread, in hours ago. */
function spread(count: number, fromHoursAgo: number, toHoursAgo: number): number[] {
  const step = (toHoursAgo - fromHoursAgo) / count;
  return Array.from({ length: count }, (_, index) => fromHoursAgo + (index + 0.5) * step);
}

/** Hours ago, of the sessions visited, and whether they were all. */
async function visited(
  projectId: number,
  count: number,
): Promise<{ areAll: boolean; hoursAgo: number[]; tokens: Set<string> }> {
  const hoursAgo: number[] = [];
  const tokens = new Set<string>();
  const slices = new LongWork().begin();
  const which = await sessions.visitSince(projectId, day, count, slices, ({ token, part }) => {
    hoursAgo.push((untilMs - part.firstSeenMs) / hourMs);
    t.ok(decodeSessionToken(token));
    tokens.add(token);
  });
  return { areAll: which === "all", hoursAgo, tokens };
}

t.test("all sessions of the time, the latest first, and none from before it or of another project", async (t) => {
  put(1, spread(1500, 0, 30));
  put(2, [1]);
  const { areAll, hoursAgo, tokens } = await visited(1, 1200);
  t.equal(areAll, true);
  t.equal(tokens.size, 1200, "each once, more than are read in a piece");
  t.ok(hoursAgo.every((hours) => hours <= 24));
  t.same(
    hoursAgo,
    hoursAgo.toSorted((one, other) => one - other),
  );
});

t.test("where there are more, a quiet time counts as much as a busy one", async (t) => {
  // A thousand sessions in the last hour, twenty in each hour before.
  put(3, spread(1000, 0, 1));
  put(3, spread(460, 1, 24));
  const { areAll, hoursAgo, tokens } = await visited(3, 240);
  t.equal(areAll, false);
  t.equal(tokens.size, 240, "as many as were asked for");
  for (let hour = 0; hour < 24; hour++)
    t.equal(hoursAgo.filter((hours) => hours > hour && hours <= hour + 1).length, 10, `hour ${hour}`);
});

t.test("sessions of this very moment are in a sample", async (t) => {
  put(5, Array(9).fill(0));
  const { areAll, tokens } = await visited(5, 8);
  t.equal(areAll, false);
  t.equal(tokens.size, 8);
});

t.test("no sessions, no sample", async (t) => {
  t.same(await visited(4, 10), { areAll: true, hoursAgo: [], tokens: new Set() });
});

t.test("other work has its turn whenever a slice is used up, between any two sessions", async (t) => {
  put(6, spread(30, 0, 1));
  let nowMs = 0;
  // Each look at the clock finds that another slice has passed, as with a rule that takes as long for one session.
  const slices = new LongWork(() => (nowMs += limits.workSliceMs)).begin();
  let turns = 0;
  let isOver = false;
  const tick = (): void => {
    turns++;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  let visits = 0;
  await sessions.visitLatest(6, 100, slices, () => visits++);
  isOver = true;
  t.equal(visits, 30);
  t.ok(turns >= visits, `${turns} turns of the event loop`);
});
