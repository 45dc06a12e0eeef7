/** More power cuts, of runs with many connections and two scoring threads. */
import { spawnSync } from "node:child_process";
import t from "tap";
import { cutEverywhere, record } from "../resilience/power-cut.js";

const skip = spawnSync("strace", ["-V"]).status === 0 ? false : "needs strace";

for (const durability of ["process", "power-loss"]) {
  t.test(`thousands of cuts with --durability ${durability}`, { skip }, async (t) => {
    const flags = ["--durability", durability, "--scoring-threads", "2"];
    const recording = await record(t, flags, 320, 16);
    const { lostMost } = await cutEverywhere(t, recording, 400, Date.now() % 1_000_000);
    if (durability === "power-loss") t.equal(lostMost, 0);
  });
}
