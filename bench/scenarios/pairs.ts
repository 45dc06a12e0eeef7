/** The scenarios that race verdictd against the bare server (and some against the peer) at full speed: a row each. */

import { Bed } from "../bed.js";
import { batchText, UniqueIds } from "../load/batches.js";
import { arrivalJob, type LoadJob } from "../load/job.js";
import type { TokensSpec } from "../load/tokens.js";
import type { TrafficSpec } from "../load/traffic-spec.js";
import { measurePairs, settleMs } from "../measure.js";
import type { BareAnswers } from "../servers/bare.js";
import { checkPeer } from "../servers/peer/check.js";
import { startBare, startVerdictd, type Target } from "../servers/servers.js";
import type { BenchContext, Scenario, ScenarioResult } from "./scenario.js";

interface Race {
  readonly name: string;
  readonly title: string;
  readonly goals?: ScenarioResult["goals"];
  readonly traffic: (context: BenchContext, target: Target) => TrafficSpec;
  readonly contains: string;
  readonly withPeer?: boolean;
  /** Whether the visitors have to come before they are measured. */
  readonly arrives?: true;
  readonly tool?: LoadJob["tool"];
  /** Connections of the generator, where they are not those of the options. */
  readonly connections?: number;
  /** Another server on the same store, with these flags. */
  readonly flags?: readonly string[];
  /** Changes the project first; returns how to change it back. */
  readonly prepare?: (context: BenchContext) => Promise<(() => Promise<void>) | null>;
}

/** Sessions that ingest goes on with, and that cached verdicts are of. */
const activeSessions = 20_000;
const cachedSessions = 1000;
const warmUpMs = 400;

function stored(context: BenchContext, target: Target, most?: number): TokensSpec {
  return context.bed.tokens(target.name === "Fastify + Redis" ? "peer-sessions" : "sessions", most);
}

const verdicts =
  (most?: number) =>
  (context: BenchContext, target: Target): TrafficSpec => ({
    kind: "verdict",
    request: context.bed.requests.verdict,
    tokens: stored(context, target, most),
    pages: 1,
  });

/** Visitors as recorded, all of whom have come already. */
const visits = ({ bed }: BenchContext, { name, url }: Target): Extract<TrafficSpec, { kind: "visits" }> => ({
  kind: "visits",
  crowd: `${name} at ${url}`,
  visitors: activeSessions,
  siteKey: bed.keys.siteKey,
});

const batches =
  (sizes: readonly number[], tokens: boolean, sends = 1) =>
  (context: BenchContext, target: Target): TrafficSpec => ({
    kind: "ingest",
    siteKey: context.bed.keys.siteKey,
    tokens: tokens ? stored(context, target, activeSessions) : null,
    sizes,
    sends,
  });

const races: readonly Race[] = [
  {
    name: "verdict-cached",
    title: "verdict, cached",
    goals: { rateRatio: 0.8, cpuRatio: 1.35 },
    traffic: verdicts(cachedSessions),
    contains: '"verdict":"',
    withPeer: true,
  },
  {
    name: "verdict-uncached",
    title: "verdict, uncached, all stored sessions in turn, 10 active rules",
    goals: { rateRatio: 0.6, cpuRatio: 1.7 },
    traffic: verdicts(),
    contains: '"verdict":"',
    withPeer: true,
    // A second is less than a round through the sessions takes: every read misses and pays for its place in the cache.
    flags: ["--verdict-ttl", "1"],
  },
  {
    name: "verdict-rules-heavy",
    title: "verdict, uncached, 100 active rules",
    goals: { rateRatio: 0.5 },
    traffic: verdicts(),
    contains: '"verdict":"',
    flags: ["--verdict-ttl", "0"],
    prepare: ({ bed }) => bed.addRules(10, 100),
  },
  {
    name: "verdict-not-computed",
    title: "verdict of sessions nobody knows",
    traffic: ({ bed }) => ({
      kind: "verdict",
      request: bed.requests.verdict,
      tokens: bed.unknownTokens(1000),
      pages: 1,
    }),
    contains: '"not_computed"',
  },
  {
    name: "verdict-autocannon",
    title: "verdict, cached, by autocannon (latency)",
    traffic: verdicts(cachedSessions),
    contains: '"verdict":"',
    tool: "autocannon",
    connections: 16,
    withPeer: true,
  },
  {
    name: "request",
    title: "a request judged without a session, a browser's 15 headers, 10 active rules",
    goals: { rateRatio: 0.4 },
    traffic: ({ bed }) => ({ kind: "request", request: bed.requests.judged, tokens: null, pages: 1 }),
    contains: '"subject":"request"',
    prepare: ({ bed }) => bed.enableRequestScoring(),
  },
  {
    name: "request-session",
    title: "the same with a session",
    goals: { rateRatio: 0.35 },
    traffic: (context, target) => ({
      kind: "request",
      request: context.bed.requests.known,
      tokens: stored(context, target),
      pages: 1,
    }),
    contains: '"subject":"session"',
    prepare: ({ bed }) => bed.enableRequestScoring(),
  },
  {
    name: "request-forward-auth",
    title: "a request judged by forward-auth, without a session",
    goals: { rateRatio: 0.4 },
    traffic: ({ bed }) => ({ kind: "forward-auth", privateKey: bed.keys.privateKey, tokens: null }),
    contains: "",
    flags: ["--trusted-proxies", "127.0.0.1"],
    prepare: ({ bed }) => bed.enableRequestScoring(),
  },
  {
    name: "forward-auth",
    title: "the verdict of a session by forward-auth, cached",
    traffic: (context, target) => ({
      kind: "forward-auth",
      privateKey: context.bed.keys.privateKey,
      tokens: stored(context, target, cachedSessions),
    }),
    contains: "X-Verdict-Score",
    flags: ["--trusted-proxies", "127.0.0.1"],
  },
  {
    name: "ingest-visits",
    title: "ingest, visits as recorded",
    traffic: visits,
    contains: '"session_token":"sess_',
    arrives: true,
  },
  {
    name: "ingest-known",
    title: "ingest, 10 events, known sessions",
    goals: { rateRatio: 0.25, cpuRatio: 5 },
    traffic: batches([10], true),
    contains: '"accepted":10,"duplicates":0',
    withPeer: true,
  },
  {
    name: "ingest-few-visitors",
    title: "ingest, 10 events, known sessions, from 64 connections",
    traffic: batches([10], true),
    contains: '"accepted":10,"duplicates":0',
    connections: 64,
    withPeer: true,
  },
  {
    name: "ingest-first-contacts",
    title: "ingest, 10 events, first contacts",
    traffic: batches([10], false),
    contains: '"accepted":10,"duplicates":0',
    withPeer: true,
  },
  {
    name: "ingest-retries",
    title: "ingest, 10 events, every batch sent twice",
    traffic: batches([10], true, 2),
    contains: '"session_token":"sess_',
  },
  {
    name: "ingest-mixed-sizes",
    title: "ingest, batches of 1, 3, 10, 30 and 100 events",
    traffic: batches([1, 3, 10, 3, 1, 30, 10, 3, 1, 100], true),
    contains: '"session_token":"sess_',
  },
  {
    name: "ingest-autocannon",
    title: "ingest, 10 events, known sessions, by autocannon (latency)",
    traffic: batches([10], true),
    contains: '"accepted":10,"duplicates":0',
    tool: "autocannon",
    connections: 16,
    withPeer: true,
  },
];

export const raceScenarios: readonly Scenario[] = races.map((race) => ({
  name: race.name,
  title: race.title,
  isExtra: race.goals === undefined,
  estimateS: ({ pairs, durationMs }) => {
    const servers = race.withPeer === true ? 3 : 2;
    return servers * (settleMs + pairs * (warmUpMs + durationMs)) * 0.001 + 3;
  },
  run: (context) => run(race, context),
}));

async function run(race: Race, context: BenchContext): Promise<Omit<ScenarioResult, "name" | "title">> {
  const { bed, generator, options } = context;
  const undo = (await race.prepare?.(context)) ?? null;
  const isOwn = race.flags !== undefined && bed.dataDir !== "";
  const verdictd = isOwn ? await startVerdictd(bed.dataDir, race.flags) : bed.verdictd;
  const bare = await startBare(await sampledAnswers(race, context, verdictd));
  const peer = race.withPeer === true ? await seededPeer(context) : null;
  try {
    const targets = peer === null ? [verdictd, bare] : [verdictd, bare, peer];
    const jobFor = (target: Target): LoadJob => jobOf(race, context, target);
    for (const target of targets) {
      const [checked] = await generator.run({ ...jobFor(target), tool: "raw", warmUpMs: 0, requestsMax: 256 });
      if (checked.errors > 0) throw new Error(`${race.name}: ${target.name} answers wrongly: ${checked.firstError}`);
    }
    for (const target of race.arrives === true ? targets : []) {
      const { url } = target;
      await generator.run(arrivalJob(url, visits(context, target), options.visitors));
    }
    const measured = await measurePairs(generator, targets, jobFor, options.pairs);
    return { measured, goals: race.goals ?? {}, figures: [], fill: [] };
  } finally {
    await bare.stop();
    if (isOwn) await verdictd.stop();
    await undo?.();
  }
}

function jobOf(race: Race, context: BenchContext, target: Target): LoadJob {
  const traffic = race.traffic(context, target);
  const { options } = context;
  return {
    url: target.url,
    traffic,
    tool: race.tool ?? "raw",
    connections: race.connections ?? (statusOf[traffic.kind] === 202 ? options.visitors : options.connections),
    // uWebSockets.js closes connections that pipeline behind an answer still to come, as those of ingest are.
    pipelining: traffic.kind === "verdict" ? options.pipelining : 1,
    warmUpMs,
    durationMs: options.durationMs,
    rate: 0,
    statuses: [statusOf[traffic.kind]],
    contains: race.contains,
  };
}

const statusOf = {
  verdict: 200,
  "page-views": 200,
  ingest: 202,
  visits: 202,
  request: 200,
  "forward-auth": 204,
  challenge: 200,
} as const;

/** What the bare server shall answer: bytes that verdictd answered to the same kind of request. */
async function sampledAnswers(race: Race, context: BenchContext, verdictd: Target): Promise<BareAnswers> {
  const { bed } = context;
  const ingest = await fetch(`${verdictd.url}/v1/events`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-service-site-key": bed.keys.siteKey },
    body: batchText(10, 1, true).replaceAll(/"request_id":"0+"/g, () => `"request_id":"${sampleIds.next()}"`),
  });
  const answer = await ingest.text();
  const { session_token } = JSON.parse(answer) as { session_token: string };
  const token = race.contains.includes("not_computed") ? "sess_unknown" : session_token;
  const verdict = await fetch(`${verdictd.url}/v1/sessions/${token}/verdict`, {
    headers: { authorization: `Bearer ${bed.keys.privateKey}` },
  });
  const request = await fetch(`${verdictd.url}/v1/verdict`, {
    method: "POST",
    headers: { authorization: `Bearer ${bed.keys.privateKey}` },
    body: JSON.stringify({ session_token: race.contains.includes("session") ? token : null, request: {} }),
  });
  if (ingest.status !== 202 || verdict.status !== 200 || request.status !== 200)
    throw new Error(`verdictd answered ${ingest.status}, ${verdict.status}, ${request.status}`);
  return { ingest: answer, verdict: await verdict.text(), request: await request.text() };
}

const sampleIds = new UniqueIds();

/** The peer, checked, with as many sessions of as many events as verdictd has under load. */
async function seededPeer(context: BenchContext): Promise<Target | null> {
  const { bed, generator } = context;
  const peer = await bed.peer();
  if (peer === null || bed.tokens("peer-sessions").count > 0) return peer;
  await checkedPeer(context);
  const traffic: TrafficSpec = { kind: "ingest", siteKey: bed.keys.siteKey, tokens: null, sizes: [20] };
  await generator.run({
    ...jobOf({ ...races[0]!, traffic: () => traffic, contains: "" }, context, peer),
    statuses: [202],
    warmUpMs: 0,
    requestsMax: activeSessions,
    tokensTo: bed.file("peer-sessions"),
  });
  return peer;
}

/** Compares a fresh peer with a fresh verdictd: what they have seen of other visitors is part of a score. */
async function checkedPeer({ options, say }: BenchContext): Promise<void> {
  const bed = await Bed.open(options);
  try {
    await checkPeer(bed.verdictd, (await bed.peer())!, bed.keys);
    say("  the peer gives verdictd's answers and verdicts to the same visitors");
  } finally {
    await bed.close();
  }
}
