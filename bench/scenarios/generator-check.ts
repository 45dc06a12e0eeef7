/** The bench's own load generator against `wrk`: the same cached reads of verdictd and of the bare server, in turn. */
import type { LoadJob } from "../load/job.js";
import type { TrafficSpec } from "../load/traffic-spec.js";
import { runWrk, wrkProgram } from "../load/wrk.js";
import { longRuns, median } from "../measure.js";
import { startBare, type Target } from "../servers/servers.js";
import type { Figure, Scenario } from "./scenario.js";

const cachedSessions = 1000;
/** `wrk` counts in whole seconds. */
const seconds = 1;

export const generatorCheckScenario: Scenario = {
  name: "generator-check",
  title: "the bench's generator beside wrk",
  estimateS: (options) => 2 + longRuns(options) * 4 * (seconds + 0.2),
  run: async ({ bed, generator, options, say }) => {
    const program = wrkProgram();
    if (program === null) {
      say("  not checked: wrk is not installed");
      return { measured: [], goals: {}, figures: [], fill: [] };
    }
    const tokens = bed.tokens("sessions", cachedSessions);
    const traffic: TrafficSpec = { kind: "verdict", request: bed.requests.verdict, tokens, pages: 1 };
    const bare = await startBare({ verdict: await bed.storedVerdict(), ingest: "{}" });
    const byWrk = ({ url }: Target): Promise<number> =>
      runWrk(program, bed.folder, url, traffic, options.connections, seconds);
    const byBench = async ({ url }: Target): Promise<number> => {
      const job: LoadJob = {
        url,
        traffic,
        tool: "raw",
        connections: options.connections,
        pipelining: 1,
        warmUpMs: 0,
        durationMs: 1000 * seconds,
        rate: 0,
        statuses: [200],
        contains: "",
      };
      const [result] = await generator.run(job);
      return result.requests / result.seconds;
    };
    try {
      for (const target of [bed.verdictd, bare]) await byBench(target);
      const rounds: {
        readonly own: number;
        readonly ownBare: number;
        readonly wrk: number;
        readonly wrkBare: number;
      }[] = [];
      for (let round = 0; round < longRuns(options); round++) {
        const [own, ownBare] = [await byBench(bed.verdictd), await byBench(bare)];
        rounds.push({ own, ownBare, wrk: await byWrk(bed.verdictd), wrkBare: await byWrk(bare) });
      }
      const of = (value: (round: (typeof rounds)[number]) => number): number => median(rounds.map(value));
      const figures: Figure[] = [
        ratio(
          "cached reads, to the bare server's, by the bench's generator",
          of(({ own, ownBare }) => own / ownBare),
        ),
        ratio(
          "cached reads, to the bare server's, by wrk",
          of(({ wrk, wrkBare }) => wrk / wrkBare),
        ),
        ratio(
          "reads of the bare server by the bench's generator, to wrk's",
          of(({ ownBare, wrkBare }) => ownBare / wrkBare),
        ),
      ];
      return { measured: [], goals: {}, figures, fill: [] };
    } finally {
      await bare.stop();
    }
  },
};

function ratio(what: string, value: number): Figure {
  return { what, value, unit: "×" };
}
