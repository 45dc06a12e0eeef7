/** The log of sessions, page by page; and which of them a backtest and a query take: those that began in a time, all or an even sample of it. */

import t from "tap";
import { decodeSessionToken } from "../../src/contract/sessions/session-token.js";
import { defaultBotSettings } from "../../src/control-plane/accounts/projects.js";
import { querySessions } from "../../src/control-plane/insight/query-sessions.js";
import { sessionPage } from "../../src/control-plane/sessions/session-log.js";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { Refusal } from "../../src/errors.js";
import { limits } from "../../src/limits.js";
import { LongWork } from "../../src/runtime/long-work.js";
import { hourOf } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import { putSession } from "../support/stored-session.js";

const untilMs = Date.UTC(2026, 10, 21, 12);
const hourMs = 3_600_000;
const day = { fromMs: untilMs - 24 * hourMs, untilMs };

const store = openStore(t.testdir());
t.teardown(() => store.close());
const sessions = new Sessions(store);

/** That a query of project 7 takes. */
const services = {
  store,
  addresses: { networkOf: () => ({ country: undefined, asn: undefined, asName: undefined }), listsOf: () => [] },
  rulesOf: () => [],
  agents: { declaredBot: () => undefined, marked: () => undefined },
  meter: { evaluated: () => {}, ended: () => {} },
};
const project = {
  id: 7,
  accountId: 1,
  name: "",
  siteKey: null,
  privateKeyHash: null,
  createdAt: "",
  botSettings: defaultBotSettings,
  likelyBotThreshold: 30,
  settingsRevision: 1,
  rulesRevision: 1,
};

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
  const which = await sessions.visitSince(projectId, day, count, slices, ({ token, state }) => {
    hoursAgo.push((untilMs - state.firstSeenMs) / hourMs);
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
  t.ok(turns >= visits, `${turns} ticks of the event loop`);
});

t.test(
  "a query counts all sessions of the time, or of more than it may scan an even sample by their number",
  async (t) => {
    // In each of the first three hours ten times as many as in the others.
    const perHour = Array.from({ length: 24 }, (_, hour) => (hour < 3 ? 6000 : 600));
    for (const [hour, count] of perHour.entries()) put(7, spread(count, hour, hour + 1));
    store.root.transactionSync(() => {
      for (const [hour, count] of perHour.entries())
        store.traffic.putSync([7, hourOf(untilMs) - 1 - hour], {
          events: 0,
          sessions: count,
          verdicts: {},
          actions: {},
        });
    });
    const total = perHour.reduce((sum, count) => sum + count, 0);
    const ask = async (span: { fromMs: number; untilMs: number }, isAborted = () => false) => {
      const query = { ...span, expressionSource: "", groupBy: [], top: 10, limit: 10, cursor: null };
      const found = await querySessions(services, project, query, new LongWork().begin(isAborted), untilMs);
      if (found instanceof Refusal) throw new Error(found.message);
      return found;
    };
    const day24 = (await ask(day))!;
    t.match(day24, { isSample: true, counts: { total } });
    t.ok(
      day24.scanned > limits.sessionQueryMax * 0.95 && day24.scanned <= limits.sessionQueryMax * 1.02,
      `${day24.scanned}`,
    );
    t.equal(day24.matched, day24.scanned);
    const bars = day24.counts!.bars;
    const inHours = (from: number, until: number) =>
      bars
        .filter(({ startMs }) => startMs < untilMs - from * hourMs && startMs >= untilMs - until * hourMs)
        .reduce((sum, { verdicts }) => sum + Object.values(verdicts).reduce((all, each) => all + each, 0), 0);
    const ratio = inHours(0, 3) / inHours(3, 6);
    t.ok(ratio > 9 && ratio < 11, `busy hours count as much as they had sessions: ${ratio}`);
    const rows = day24.rows.map(({ state }) => state.firstSeenMs);
    t.equal(rows.length, 10);
    t.ok(Math.min(...rows) > untilMs - hourMs / 100, "the rows are the latest sessions, not those of the sample");
    const quiet = (await ask({ fromMs: untilMs - 8 * hourMs, untilMs: untilMs - 4 * hourMs }))!;
    t.match(quiet, { isSample: false, scanned: 2400, matched: 2400, counts: { total: 2400 } });
    t.equal(await ask(day, () => true), null, "it ends when whoever asked has gone");
  },
);

/** Tokens of the whole log, read in pages of seven. */
async function logOf(projectId: number): Promise<string[]> {
  const found: string[] = [];
  const slices = new LongWork().begin();
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof sessionPage>> = await sessionPage(store, projectId, 7, cursor, slices);
    if (page === null || page instanceof Refusal) throw new Error("no page");
    found.push(...page.rows.map(({ token }) => token));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

t.test("the log is by first contact, the latest first, page by page", async (t) => {
  const tokens = Array.from({ length: 25 }, (_, index) => putSession(store, 71, untilMs + index * 400, index));
  t.same(await logOf(71), tokens.toReversed());
});

t.test("the log leaves none out whose token is ahead of its first contact", async (t) => {
  // As two scoring threads mint them, one of which is ahead of the clock and at last in the next second.
  const tokens = Array.from({ length: 120 }, (_, index) =>
    putSession(store, 72, untilMs + 800 + index, index, undefined, index % 2 === 0 ? 5 * index : 0),
  );
  const found = await logOf(72);
  t.equal(found.length, tokens.length);
  t.same([...found].sort(), [...tokens].sort());
});
