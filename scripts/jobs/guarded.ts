/** verdictd before the shop: a server of its own with one set of rules, and the middleware as the documentation recommends it. */
import { join } from "node:path";
import type { KnownAgent } from "../../src/contract/bots/agents.js";
import type { Visit } from "../../src/middleware/guard.js";
import { startDemoServer } from "../live/demo-server.js";
import type { Gate, OpenVisit } from "./shop.js";

const startMsMax = 60_000;

/** A rule as it is posted, in the order of the list. */
interface RuleOfShop {
  readonly expression: string;
  readonly action: "block" | "challenge";
}

const bands: readonly RuleOfShop[] = [
  { expression: 'band == "definite"', action: "block" },
  { expression: 'band in {"likely_automated", "confident_automated"}', action: "challenge" },
];

const withoutSession: readonly RuleOfShop[] = [
  {
    expression: 'NOT has_session AND NOT cleared AND (method == "POST" OR requests_per_minute > 5)',
    action: "challenge",
  },
];

const visits: readonly RuleOfShop[] = [
  { expression: "visit_silent_pages >= 4 AND NOT cleared", action: "challenge" },
  { expression: "cookie_kept == false AND visit_pages > 5 AND NOT cleared", action: "challenge" },
];

/** Above the bands: a probable bot's challenge is passed by any browser that computes, an agent's too. */
const agentsAtForms: readonly RuleOfShop[] = [
  { expression: 'method == "POST" AND agent_certainty in {"marked", "behavior"}', action: "block" },
];

/** A: the bands alone. B: all that `protect.md` recommends, its rule against agents at forms too. "watch" stops nobody: what is known of a visit in the end. */
export const ruleSets = {
  watch: [],
  A: bands,
  B: [...agentsAtForms, ...bands, ...withoutSession, ...visits],
} as const satisfies Record<string, readonly RuleOfShop[]>;

export type RuleSetName = keyof typeof ruleSets;

/** A server of verdictd with one project, and what reads it. */
export interface Guarded {
  readonly gate: Gate;
  /** `GET /v1/sessions/{token}/verdict`. */
  verdict(
    token: string,
  ): Promise<{ readonly verdict: string; readonly score: number; readonly detection_ids: number[] }>;
  /** What the session shows of its detections, experimental ones too: name, contribution, what was read. */
  detections(
    token: string,
  ): Promise<readonly { readonly slug: string; readonly contribution: number; readonly evidence: object }[]>;
  /** Who the session shows to be an agent; null for nobody. */
  agent(token: string): Promise<KnownAgent | null>;
  stop(): Promise<void>;
}

/** Starts verdictd of the build in `dist`. */
export function startGuarded(dist: string, set: RuleSetName): Promise<Guarded> {
  return startDemoServer(join(dist, "program/verdictd.js"), startMsMax, async (server) => {
    const { origin, project, accountToken, siteKey, privateKey, configure, stop } = server;
    await configure("PUT", "challenge", { enabled: true });
    await configure("PUT", "request-scoring", { enabled: true });
    for (const [index, { expression, action }] of ruleSets[set].entries()) {
      await configure("POST", "rules", { name: `${set}${index}`, expression, action, sort_order: index - 20 });
    }
    const middleware = (await import(
      join(dist, "src/middleware/express.js")
    )) as typeof import("../../src/middleware/express.js");
    const gate: Gate = {
      origin,
      script: `<script async src="/sdk.js" data-site-key="${siteKey}"></script>`,
      install(app, visitOf) {
        const byAddress = new Map<string, OpenVisit>();
        app.use(
          middleware.verdictd({
            // One machine runs all of it: a verdict that comes late is no verdict, and would be the machine's result.
            client: { baseUrl: origin, privateKey: privateKey, timeoutMs: 5000 },
            requests: true,
            challenge: "verdictd",
            siteKey: siteKey,
            issueToken: true,
            waitForReport: ({ method }: { readonly method: string }) => (method === "POST" ? 400 : 0),
            clientIp: (req) => {
              const visit = visitOf(req);
              if (visit === null) return undefined;
              byAddress.set(visit.address, visit);
              return visit.address;
            },
            onVerdict: (visit) => noteVerdict(byAddress.get(visit.context.ip ?? ""), visit),
          }),
        );
      },
    };
    const session = async (token: string) => {
      const headers = { Authorization: `Bearer ${accountToken}` };
      const answer = await fetch(`${origin}/v1/projects/${project}/sessions/${token}`, { headers });
      return (await answer.json()) as {
        readonly detections?: Awaited<ReturnType<Guarded["detections"]>>;
        readonly agent?: KnownAgent | null;
      };
    };
    return {
      gate,
      stop,
      detections: async (token) => (await session(token)).detections ?? [],
      agent: async (token) => (await session(token)).agent ?? null,
      async verdict(token) {
        const headers = { Authorization: `Bearer ${privateKey}` };
        const answer = await fetch(`${origin}/v1/sessions/${token}/verdict`, { headers });
        return (await answer.json()) as Awaited<ReturnType<Guarded["verdict"]>>;
      },
    };
  });
}

function noteVerdict(visit: OpenVisit | undefined, { verdict, context }: Visit): void {
  visit?.note({
    request: `${context.method} ${context.path}`,
    action: verdict.failed === null ? verdict.action : `failed: ${verdict.failed}`,
    band: verdict.verdict,
    score: verdict.score,
    detectionIds: verdict.detection_ids,
    isAgent: verdict.agent !== undefined,
  });
}
