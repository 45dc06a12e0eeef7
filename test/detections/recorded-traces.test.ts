/** The recorded traces, where they are at hand: no human source may lose its people, no step bot its name. A sample, for speed. */
import t from "tap";
import { ShingleIndex, scoreTrace, wilson } from "../../scripts/quality.js";
import { dataFolder, readTraces, type Trace } from "../../scripts/trace-sessions.js";

const botScoreMax = 29;
const samplePerGroup = 40;

t.test("the Wilson interval holds the share, and never leaves 0 to 1", async (t) => {
  t.same(wilson(0, 0), [0, 1]);
  const [low, high] = wilson(3, 100);
  t.ok(low > 0 && low < 0.03 && high > 0.03 && high < 0.1);
  t.equal(wilson(0, 50)[0], 0);
  t.equal(wilson(50, 50)[1], 1);
});

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
  for (const generator of ["bezier_gauss", "ghost_cursor_ts", "humancursor_like_knots", "minjerk_tremor"]) {
    const total = groups.get(generator)!.length;
    t.ok(botsIn(generator) >= 0.6 * total, `${generator}: ${botsIn(generator)} of ${total}`);
  }
});
