/**
 * Nodes and engine are killed, frozen, cut off and resharded under load, ten times each: nothing that was acknowledged is lost or counted
 * twice. On the settings that are shipped. `INCIDENT_RUNS` says how often, `INCIDENT` which ones (a regular expression of the name), `INCIDENT_SETTINGS` what
 * is set once the nodes run ("name value;name value"), also if a start would refuse it.
 */
import { readFileSync } from "node:fs";
import t, { type Test } from "tap";
import {
  addRun,
  type IncidentSum,
  incidents,
  incidentTable,
  newSum,
  runIncident,
  type Scene,
} from "../resilience/cluster-incidents.js";
import { type Audit, ClusterLoad } from "../resilience/cluster-load.js";
import { startNodes } from "../support/cluster-nodes.js";
import { startRedis } from "../support/redis-cluster.js";
import { makeZones, type Zone } from "../support/zones.js";

const runs = Number(process.env["INCIDENT_RUNS"] ?? 10);
const only = new RegExp(process.env["INCIDENT"] ?? "");
const zoneCount = 3;

/** What `scripts/deploy/cluster/valkey.conf` says, and the engine's own delay before a replica gets its first copy, which other tests shorten. */
function shippedSettings(): string[][] {
  const lines = readFileSync(new URL("../../../scripts/deploy/cluster/valkey.conf", import.meta.url), "utf8").split(
    "\n",
  );
  const settings = lines.filter((line) => /^[a-z]/.test(line) && !line.startsWith("cluster-enabled"));
  return [...settings, "repl-diskless-sync-delay 5"].map((line) =>
    line.split(" ").map((word) => (word === '""' ? "" : word)),
  );
}

/** Runs those that suit the cluster, one after another, on one cluster and its nodes. */
async function runAll(t: Test, replicas: number, zones: Zone[] | null, times: number): Promise<void> {
  // A master and its replicas are each in another zone.
  const placed = zones && {
    placeOf: (index: number) => zones[(index + Math.floor(index / zoneCount)) % zoneCount]!,
  };
  const cluster = await startRedis(t, { masters: 3, replicas, settings: shippedSettings(), ...placed });
  const flags = ["--scoring-threads", "1"];
  const made = await startNodes(t, cluster, { count: 3, flags, ...(zones && { places: zones }) });
  const changed = (process.env["INCIDENT_SETTINGS"] ?? "").split(";").filter((setting) => setting !== "");
  for (const setting of changed) {
    for (const node of cluster.nodes) await node.ask("CONFIG", "SET", ...setting.split(" "));
  }
  const load = new ClusterLoad({ ...made, visitors: 32, seed: Date.now() % 100_000, pauseMs: 60 });
  const scene: Scene = { ...made, cluster, load, zones };
  const sums: IncidentSum[] = [];
  let before: Audit = { found: 0, lost: 0, doubled: 0, unknown: 0 };
  for (const { name, needsZones = false, needsTwoReplicas = false, happen } of incidents) {
    if (!only.test(name) || (needsZones && zones === null) || (needsTwoReplicas && replicas < 2)) continue;
    const sum = newSum(name);
    sums.push(sum);
    for (let run = 0; run < times; run++) {
      const outcome = await runIncident(scene, { name, happen }, run);
      addRun(sum, outcome, before);
      // Only the engine's logs say which replica it chose, and why.
      if (outcome.lost > before.lost) {
        t.comment(`${new Date().toISOString()} ${name}: events were lost; the engine's logs: ${cluster.keepFiles()}`);
      }
      before = outcome;
    }
    const { lost, doubled, unknown, wrong } = sum;
    t.same({ lost, doubled, unknown, wrong }, { lost: 0, doubled: 0, unknown: 0, wrong: [] }, name);
    console.error(incidentTable([sum]));
  }
  console.error(`\n${cluster.nodes.length} processes of the engine:\n\n${incidentTable(sums)}\n`);
}

t.test("three masters with two replicas each, and three nodes", async (t) => {
  const zones = makeZones(t, zoneCount);
  if (zones === null) t.comment("no network namespaces: nothing is cut off");
  await runAll(t, 2, zones, runs);
});

t.test("three masters with a replica each, and three nodes", (t) => runAll(t, 1, null, Math.ceil(runs / 3)));
