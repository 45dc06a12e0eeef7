/** What a cached verdict read costs, part by part: servers that do more and more of it, and verdictd, in turn. */
import type { LoadJob } from "../load/job.js";
import { measurePairs, settleMs } from "../measure.js";
import { startBare, startReadParts, type Target } from "../servers/servers.js";
import type { Scenario } from "./scenario.js";

const cachedSessions = 1000;
const warmUpMs = 400;

/** Each includes those before it. */
const partNames = [
  [1, "bare, walking the headers"],
  [2, "and taking token and query"],
  [3, "and writing verdictd's header lines"],
] as const;

export const readPartsScenario: Scenario = {
  name: "read-parts",
  title: "verdict, cached, part by part",
  localOnly: true,
  isExtra: true,
  estimateS: ({ pairs, durationMs }) =>
    ((partNames.length + 2) * (settleMs + pairs * (warmUpMs + durationMs))) / 1000 + 3,
  run: async ({ bed, generator, options }) => {
    const tokens = bed.tokens("sessions", cachedSessions);
    const verdict = await bed.storedVerdict();
    const jobFor = ({ url }: Target): LoadJob => ({
      url,
      traffic: { kind: "verdict", request: bed.requests.verdict, tokens, pages: 1 },
      tool: "raw",
      connections: options.connections,
      pipelining: 1,
      warmUpMs,
      durationMs: options.durationMs,
      rate: 0,
      statuses: [200],
      contains: '"verdict":"',
    });
    const bare = await startBare({ verdict, ingest: "{}" });
    const others: Target[] = [];
    try {
      for (const [parts, name] of partNames) others.push(await startReadParts(name, { parts, verdict }));
      const measured = await measurePairs(generator, [bare, ...others, bed.verdictd], jobFor, options.pairs);
      return { measured, goals: {}, figures: [], fill: [] };
    } finally {
      for (const target of [bare, ...others]) await target.stop();
    }
  },
};
