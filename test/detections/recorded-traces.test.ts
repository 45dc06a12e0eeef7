/** The recorded traces, where they are at hand: no human source may lose its people, no step bot its name. A sample, for speed. */
import t from "tap";
import { longVisits } from "../../scripts/altered-traces.js";
import { leftOutCells, leftOutRows } from "../../scripts/left-out.js";
import { people, ShingleIndex, scoreTrace } from "../../scripts/quality.js";
import { isWorthPlaying, replays } from "../../scripts/replayed-traces.js";
import { botScoreMax, type Outcome } from "../../scripts/trace-outcome.js";
import { dataFolder, readTraces, type Trace } from "../../scripts/trace-sessions.js";

const samplePerGroup = 40;

const folder = dataFolder();
const skip = folder === null ? "no ../shared/data" : false;

t.test("people stay people and step bots are recognised", { skip }, async (t) => {
  const groups = new Map<string, Trace[]>();
  for (const trace of readTraces(folder!, "dev")) {
    const key = trace.generator ?? trace.source;
    const group = groups.get(key) ?? [];
    if (group.length < samplePerGroup) group.push(trace);
    groups.set(key, group);
  }
  const botsIn = (key: string) => {
    const index = new ShingleIndex();
    return groups.get(key)!.filter((trace) => scoreTrace(trace, "sdk", index).score <= botScoreMax).length;
  };
  for (const source of ["balabit", "delbot", "delbot-touch", "dsjtzs", "mousetrap-kh2017", "omniglot", "barkworth"]) {
    t.ok(botsIn(source) <= 1, source);
  }
  for (const generator of ["linear_fixed_sleep", "linear_steps_cdp", "teleport_click", "ghost_cursor_cdp"]) {
    const total = groups.get(generator)!.length;
    t.ok(botsIn(generator) >= 0.95 * total, `${generator}: ${botsIn(generator)} of ${total}`);
  }
  for (const generator of ["scroll_const", "teleport_humantime", "key_gauss", "key_lognormal_iid"]) {
    const total = groups.get(generator)!.length;
    t.ok(botsIn(generator) >= 0.8 * total, `${generator}: ${botsIn(generator)} of ${total}`);
  }
  for (const generator of ["bezier_gauss", "ghost_cursor_ts", "humancursor_like_knots", "minjerk_tremor"]) {
    const total = groups.get(generator)!.length;
    t.ok(botsIn(generator) >= 0.6 * total, `${generator}: ${botsIn(generator)} of ${total}`);
  }
});

t.test("recordings that are moved, turned, scaled or given noise are known again", { skip }, async (t) => {
  const recordings = people(readTraces(folder!, "dev")).filter(
    (each) => each.source === "balabit" && isWorthPlaying(each),
  );
  const index = new ShingleIndex();
  for (const each of recordings) t.notOk(scoreTrace(each, "system", index).score <= botScoreMax, each.id);
  for (const { name, play } of replays) {
    const outcomes = recordings.slice(0, samplePerGroup).map((each) => scoreTrace(play(each), "system", index));
    const known = outcomes.filter(({ score }) => score <= botScoreMax).length;
    t.ok(known >= 0.75 * outcomes.length, `${name}: ${known} of ${outcomes.length}`);
  }
});

t.test("nobody becomes a program by staying long", { skip }, async (t) => {
  const visits = longVisits(people(readTraces(folder!, "dev")), 8);
  t.ok(visits.length >= 60, `${visits.length}`);
  for (const visit of visits) t.ok(scoreTrace(visit, "system", new ShingleIndex()).score > botScoreMax, visit.id);
});

t.test("a detection's row says what leaving it out changes", async (t) => {
  const trace = (id: string, label: Trace["label"], source: string): Trace => ({
    ...{ id, label, source, user: id, events: [] },
    generator: label === "bot" ? "timer" : null,
  });
  const outcome = (each: Trace, score: number, without: number, detectionIds: readonly number[]): Outcome => ({
    ...{ trace: each, score, detectionIds },
    scoreWithout: (id) => (id === 300303 ? without : score),
  });
  const rows = leftOutRows([
    outcome(trace("a", "human", "office"), 60, 60, []),
    outcome(trace("b", "human", "office"), 27, 60, [300303]),
    outcome(trace("c", "human", "home"), 60, 60, []),
    outcome(trace("d", "bot", "made"), 27, 60, [300303]),
  ]);
  t.same(rows.map(leftOutCells), [
    ["`metronome-scrolling`", "moderate", "office 50.0 %", "0.0 %", "0 → 1 of 2", "timer 0.0 % → 100.0 %"],
  ]);
});
