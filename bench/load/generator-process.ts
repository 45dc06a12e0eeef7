/** Entry of the load generator's own process: runs the jobs of each message at the same time, answers with their results. */
import { runAutocannonLoad } from "./autocannon-load.js";
import type { LoadJob } from "./job.js";
import { runRawLoad } from "./raw-load.js";

process.on("message", (jobs: LoadJob[]) => {
  const runs = jobs.map((job) => (job.tool === "raw" ? runRawLoad(job) : runAutocannonLoad(job)));
  Promise.all(runs).then(
    (results) => process.send!({ results }),
    (error: unknown) => process.send!({ failure: error instanceof Error ? error.message : String(error) }),
  );
});
process.on("disconnect", () => process.exit());
