/** The simulation of several nodes: bounded by what is measured to be the limit. */
import t from "tap";
import { simulateRate } from "../../bench/cluster/nodes-simulation.js";

const two = (times: { nodeUs: number; mastersUs: number; wholeUs: number }, conflicts = 0): number => {
  const rate = (nodes: number): number =>
    simulateRate({ group: 128, ...times }, { nodes, masters: 3, inFlight: 2, conflicts });
  return rate(2) / rate(1);
};

t.test("two nodes do twice the work of one while the engine has room", async (t) => {
  const ratio = two({ nodeUs: 13_000, mastersUs: 5000, wholeUs: 20_000 });
  t.ok(ratio > 1.9 && ratio < 2.1, String(ratio));
});

t.test("and no more than one where the engine is the limit", async (t) => {
  const ratio = two({ nodeUs: 1000, mastersUs: 30_000, wholeUs: 12_000 });
  t.ok(ratio > 0.95 && ratio < 1.15, String(ratio));
});

t.test("one node does what its thread can do, less what is done again", async (t) => {
  const times = { group: 100, nodeUs: 10_000, mastersUs: 300, wholeUs: 11_000 };
  const rate = (conflicts: number): number => simulateRate(times, { nodes: 1, masters: 3, inFlight: 2, conflicts });
  t.ok(Math.abs(rate(0) - 10_000) < 100, String(rate(0)));
  t.ok(Math.abs(rate(0.25) - 8000) < 100, String(rate(0.25)));
});
