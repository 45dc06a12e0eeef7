/** The short form of `test/long/cluster-failures.test.ts`: three masters with a replica each and two nodes, under load, lose a node and a master. */
import t from "tap";
import { incidents, runIncident } from "../resilience/cluster-incidents.js";
import { ClusterLoad } from "../resilience/cluster-load.js";
import { startNodes } from "../support/cluster-nodes.js";
import { startRedis } from "../support/redis-cluster.js";

t.test("nothing that was acknowledged is lost or counted twice", async (t) => {
  // What does not answer for a second is replaced.
  const cluster = await startRedis(t, { settings: [["cluster-node-timeout", "1000"]] });
  const made = await startNodes(t, cluster, { count: 2, flags: ["--scoring-threads", "1"] });
  const load = new ClusterLoad({ ...made, visitors: 16, seed: Date.now() % 100_000, pauseMs: 20 });
  const scene = { ...made, cluster, load, zones: null };
  for (const name of ["kill of a node", "kill of a master until it is replaced"]) {
    const incident = incidents.find((each) => each.name === name)!;
    const { lost, doubled, unknown, counts } = await runIncident(scene, incident, 1);
    const { wrong, batches, refused, unanswered } = counts;
    t.same({ lost, doubled, unknown, wrong }, { lost: 0, doubled: 0, unknown: 0, wrong: [] }, name);
    t.ok(refused + unanswered > 0, "and it was noticed");
    t.comment(`${name}: ${batches} batches taken, ${refused} refused, ${unanswered} unanswered`);
  }
});
