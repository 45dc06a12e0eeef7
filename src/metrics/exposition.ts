/**
 * The Prometheus exposition: at a scrape, the cells of all threads are added up and shown under their names. The only file that
 * knows prom-client; it writes the format and collects what is known of the process.
 */
import { collectDefaultMetrics, type Metric, Registry } from "prom-client";
import { actions, bands } from "../contract/verdicts/verdict.js";
import { detections } from "../detections/catalogue.js";
import { sumCells } from "./cells.js";
import { type ChallengeRow, challengeRows } from "./challenge-meters.js";
import { type RouteLabel, requestBoundsMs, routeCells, statusLabels } from "./route-meters.js";
import { type ScoringCell, ScoringReading } from "./scoring-meters.js";
import { lagBoundsMs, type ServiceCell, ServiceReading, serviceCells, verdictSources } from "./service-meters.js";

/** The shared memory of one HTTP thread and its scoring threads. Can be posted. */
export interface ThreadBuffers {
  readonly routes: SharedArrayBuffer;
  readonly services: SharedArrayBuffer;
  readonly scoring: SharedArrayBuffer;
  readonly challenges: SharedArrayBuffer;
}

/** What a node last saw of its cluster. */
interface ClusterReading {
  /** Every engine process; null: it does not answer, or still loads its data. */
  readonly engines: readonly { readonly address: string; readonly facts: EngineReading | null }[];
  /** Masters with too few replicas to acknowledge writes, and those with just enough. */
  readonly shardsRefusing: number;
  readonly shardsWithoutSpare: number;
}

/** One engine process; memory in bytes, 0 as `maxmemory` is no bound. */
interface EngineReading {
  readonly role: "master" | "replica";
  readonly replicas: number;
  readonly isLinkUp: boolean;
  readonly usedMemory: number;
  readonly maxmemory: number;
}

/** State of the process that is asked for at each scrape. */
export interface ProcessState {
  readonly isReady: boolean;
  readonly storeBytes: number;
  readonly diskFreeBytes: number;
  readonly sessionsStored: number;
  readonly blocksStored: number;
  /** 0 without a cluster. */
  readonly configAgeSeconds: number;
  /** Null without a cluster. */
  readonly cluster: ClusterReading | null;
  readonly shedAboveBytes: number;
  /** Seconds since the epoch; null without TLS. */
  readonly certificateExpiresAt: number | null;
  readonly certificateReloads: { readonly done: number; readonly refused: number };
}

/** What a scrape is made of. The functions are called at each one. */
interface ExpositionOptions {
  readonly version: string;
  /** The route table, the same for all threads. */
  readonly routes: readonly RouteLabel[];
  /** Of every HTTP thread, the first thread's first. */
  readonly threads: () => readonly ThreadBuffers[];
  readonly state: () => ProcessState;
}

interface Sample {
  readonly metricName?: string;
  readonly labels?: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** One metric name: what `read` returns of a scrape's numbers. */
interface Row {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly read: (scrape: Scrape) => readonly Sample[];
}

/** The numbers of one scrape. */
interface Scrape {
  readonly options: ExpositionOptions;
  readonly threads: readonly ThreadBuffers[];
  readonly routes: Float64Array;
  readonly services: ServiceReading;
  readonly scoring: ScoringReading;
  readonly challenges: readonly ChallengeRow[];
  readonly state: ProcessState;
}

/** The exposition of one process; `contentType` is that of the text format. */
interface Exposition {
  readonly contentType: string;
  /** The text of a scrape: about 90 KB in 4 ms, most of it prom-client writing text. */
  text(): Promise<string>;
}

/** Registers every metric, those of the process that prom-client collects among them, with a registry of its own. Call once a process. */
export function createExposition(options: ExpositionOptions): Exposition {
  const registry = new Registry();
  let scrape: Scrape | null = null;
  for (const row of rows) {
    const metric = {
      ...row,
      aggregator: "sum",
      get: () => ({ ...row, values: scrape === null ? [] : row.read(scrape) }),
    };
    // The registry asks no more of a metric than this; prom-client's own classes can't be set to counts made elsewhere.
    registry.registerMetric(metric as unknown as Metric);
  }
  collectDefaultMetrics({ register: registry });
  return {
    contentType: registry.contentType,
    text: () => {
      scrape = newScrape(options);
      return registry.metrics();
    },
  };
}

function newScrape(options: ExpositionOptions): Scrape {
  const threads = options.threads();
  return {
    options,
    threads,
    routes: sumCells(
      threads.map((thread) => thread.routes),
      options.routes.length * routeCells,
    ),
    services: new ServiceReading(
      sumCells(
        threads.map((thread) => thread.services),
        serviceCells,
      ),
    ),
    scoring: new ScoringReading(threads.map((thread) => thread.scoring)),
    challenges: challengeRows(threads.map((thread) => thread.challenges)),
    state: options.state(),
  };
}

const one = (value: number): Sample[] => [{ value }];

/** A sample for each value of a label. */
const by = (label: string, values: Readonly<Record<string, number>>): Sample[] =>
  Object.entries(values).map(([each, value]) => ({ labels: { [label]: each }, value }));

const counter = (name: string, help: string, read: Row["read"]): Row => ({ name, type: "counter", help, read });
const gauge = (name: string, help: string, read: Row["read"]): Row => ({ name, type: "gauge", help, read });
const service = (cell: ServiceCell): Row["read"] => {
  return ({ services }) => one(services.get(cell));
};

/** A cell for each value of a label. */
function serviceBy(label: string, cells: Readonly<Record<string, ServiceCell>>): Row["read"] {
  return ({ services }) =>
    Object.entries(cells).map(([each, cell]) => ({ labels: { [label]: each }, value: services.get(cell) }));
}

/** Of HTTP and scoring threads. */
const cluster = (cell: ServiceCell & ScoringCell): Row["read"] => {
  return ({ services, scoring }) => one(services.get(cell) + scoring.get(cell));
};

/** Cumulated buckets, sum and count, in seconds. */
function histogram(
  name: string,
  labels: Record<string, string>,
  boundsMs: readonly number[],
  cells: Float64Array,
): Sample[] {
  const samples: Sample[] = [];
  let count = 0;
  for (let index = 0; index <= boundsMs.length; index++) {
    count += cells[index]!;
    const le = index < boundsMs.length ? boundsMs[index]! / 1000 : "+Inf";
    samples.push({ metricName: `${name}_bucket`, labels: { ...labels, le }, value: count });
  }
  samples.push({ metricName: `${name}_sum`, labels, value: cells[boundsMs.length + 1]! / 1000 });
  samples.push({ metricName: `${name}_count`, labels, value: count });
  return samples;
}

const ingestRoute: RouteLabel = { method: "POST", route: "/v1/events" };
/** On the ingest route a status stands for one code. */
const ingestCodes = { "401": "UNAUTHENTICATED", "402": "NO_ACTIVE_SUBSCRIPTION", "422": "INVALID_PAYLOAD" } as const;

function requests({ options, routes }: Scrape, label: RouteLabel, status: (typeof statusLabels)[number]): number {
  const index = options.routes.findIndex((each) => each.method === label.method && each.route === label.route);
  return index < 0 ? 0 : routes[index * routeCells + statusLabels.indexOf(status)]!;
}

function rejected(scrape: Scrape): Sample[] {
  return Object.entries(ingestCodes).map(([status, code]) => ({
    labels: { code },
    value: requests(scrape, ingestRoute, status as keyof typeof ingestCodes),
  }));
}

/** Statuses that a route has answered; a route that nobody asked for has no series. */
function requestSamples({ options, routes }: Scrape): Sample[] {
  return options.routes.flatMap(({ method, route }, index) =>
    statusLabels
      .map((status, cell) => ({ labels: { method, route, status }, value: routes[index * routeCells + cell]! }))
      .filter(({ value }) => value > 0),
  );
}

function durationSamples({ options, routes }: Scrape): Sample[] {
  return options.routes.flatMap(({ method, route }, index) => {
    const cells = routes.subarray(index * routeCells, (index + 1) * routeCells);
    return cells.subarray(0, statusLabels.length).some((count) => count > 0)
      ? histogram(durationName, { method, route }, requestBoundsMs, cells.subarray(statusLabels.length))
      : [];
  });
}

function batchSamples(scrape: Scrape): Sample[] {
  const { services } = scrape;
  const refused = rejected(scrape).reduce((sum, { value }) => sum + value, 0);
  return by("result", {
    accepted: services.get("batchesAccepted"),
    duplicate: services.get("batchesDuplicate"),
    rejected: refused,
    shed: services.get("batchesShed"),
    failed: batchFailures(scrape).reduce((sum, { value }) => sum + value, 0),
  });
}

/** Batches that were answered 500 or 503. */
const batchFailures = serviceBy("cause", {
  error: "batchesFailed",
  cluster: "batchesUnavailable",
  disk: "batchesNoRoom",
});

function verdictSamples({ services }: Scrape): Sample[] {
  const samples: Sample[] = [];
  for (const band of bands) {
    for (const action of actions) {
      for (const source of verdictSources) {
        // A fail-open answer is always this one.
        if ((source === "fail_open") !== (band === "not_computed")) continue;
        if (source === "fail_open" && action !== "allow") continue;
        samples.push({ labels: { band, action, source }, value: services.verdicts(band, action, source) });
      }
    }
  }
  return samples;
}

function requestVerdictSamples({ services }: Scrape): Sample[] {
  return bands
    .filter((band) => band !== "not_computed")
    .flatMap((band) =>
      actions.map((action) => ({ labels: { band, action }, value: services.requestVerdicts(band, action) })),
    );
}

const challengeResults = ["issued", "passed", "failed"] as const;

function challengeSamples({ challenges }: Scrape): Sample[] {
  return challenges.flatMap((row) =>
    challengeResults.map((result) => ({
      labels: { project: row.project, rule: row.rule, result },
      value: row[result],
    })),
  );
}

function challengePassSamples({ challenges }: Scrape): Sample[] {
  return challenges.map(({ project, rule, passedMs }) => ({ labels: { project, rule }, value: passedMs / 1000 }));
}

function loopDelaySamples({ threads }: Scrape): Sample[] {
  return threads.flatMap(({ services }, index) => {
    const reading = new ServiceReading(new Float64Array(services));
    const thread = `http-${index}`;
    return [
      { labels: { thread, quantile: "0.5" }, value: reading.get("loopDelayP50Ms") / 1000 },
      { labels: { thread, quantile: "0.99" }, value: reading.get("loopDelayP99Ms") / 1000 },
      { labels: { thread, quantile: "1" }, value: reading.get("loopDelayMaxMs") / 1000 },
    ];
  });
}

type Engine = ClusterReading["engines"][number];

/** A sample for each engine process of which `read` knows one; none on one host. */
function engineSamples(read: (engine: Engine) => number | undefined): Row["read"] {
  return ({ state }) =>
    (state.cluster?.engines ?? []).flatMap((engine) => {
      const value = read(engine);
      const { address } = engine;
      const host = address.slice(0, address.lastIndexOf(":"));
      return value === undefined ? [] : [{ labels: { engine: address, host }, value }];
    });
}

const durationName = "verdictd_http_request_duration_seconds";
const lagName = "verdictd_scoring_lag_seconds";

/** Every metric of verdictd's own, in the order of the exposition. */
const rows: readonly Row[] = [
  gauge("verdictd_build_info", "Always 1; the labels say what runs.", ({ options }) => [
    { labels: { version: options.version, node: process.version }, value: 1 },
  ]),
  gauge("verdictd_ready", "1 while the process is ready for requests.", ({ state }) => one(state.isReady ? 1 : 0)),
  gauge("verdictd_http_threads", "Threads that answer requests.", ({ threads }) => one(threads.length)),
  counter("verdictd_http_requests_total", "Requests by route, method and status.", requestSamples),
  {
    name: durationName,
    type: "histogram",
    help: "From a request's headers to its answer, by route and method.",
    read: durationSamples,
  },
  counter(
    "verdictd_ingest_events_total",
    "Events of accepted batches, by result.",
    serviceBy("result", { accepted: "eventsAccepted", duplicate: "eventsDuplicate" }),
  ),
  counter("verdictd_ingest_batches_total", "Batches by result.", batchSamples),
  counter(
    "verdictd_ingest_failures_total",
    "Batches answered 500 or 503, by cause: the cluster refused them or did not answer, the disk is full, an error.",
    batchFailures,
  ),
  counter("verdictd_ingest_rejected_total", "Rejected batches by error code.", rejected),
  counter(
    "verdictd_ingest_sampled_total",
    "Batches recorded without being scored, under load.",
    service("batchesSampled"),
  ),
  counter(
    "verdictd_first_contacts_shed_total",
    "First contacts not kept, because their project has --sessions-max sessions.",
    service("contactsShed"),
  ),
  counter("verdictd_verdicts_total", "Verdict answers by band, action and source.", verdictSamples),
  counter(
    "verdictd_request_verdicts_total",
    "Verdict answers on requests without a scored session, by band and action; verdictd_verdicts_total includes them.",
    requestVerdictSamples,
  ),
  counter(
    "verdictd_requests_trimmed_total",
    "Judged requests that were changed before judging, by what was done: a value cut, headers beyond 100 dropped, a wrong type ignored.",
    serviceBy("result", { cut: "requestsCut", dropped: "requestsOver", ignored: "requestsIgnored" }),
  ),
  counter(
    "verdictd_verdict_failures_total",
    "Verdicts that failed open, by cause: the cluster did not answer in time whether there is a session, or an error.",
    serviceBy("cause", { error: "verdictFailures", cluster: "verdictsUnanswered" }),
  ),
  counter(
    "verdictd_verdicts_over_rule_budget_total",
    "Computed verdicts whose last rules were not evaluated, because those before them used up the budget.",
    service("verdictsOverRuleBudget"),
  ),
  counter(
    "verdictd_backtests_total",
    "Backtests of draft rules and queries of stored sessions by how they ended.",
    serviceBy("result", { done: "backtestsDone", aborted: "backtestsAborted", refused: "backtestsRefused" }),
  ),
  counter(
    "verdictd_backtest_sessions_total",
    "Stored sessions evaluated by backtests and queries.",
    service("backtestSessions"),
  ),
  counter(
    "verdictd_challenges_total",
    "Challenges of verdictd's own, by project, rule (0: no rule, or a repeated challenge) and result; beyond 256 pairs per thread, counted as project 0.",
    challengeSamples,
  ),
  counter(
    "verdictd_challenge_pass_seconds_total",
    "Time from issue to pass, summed over all passed challenges.",
    challengePassSamples,
  ),
  counter("verdictd_detections_fired_total", "Detections that newly fired on a session.", ({ scoring }) =>
    detections.map(({ id, slug, engine }) => ({ labels: { id, slug, engine }, value: scoring.detection(id) })),
  ),
  gauge("verdictd_queue_batches", "Batches that wait for a scoring thread.", service("queueBatches")),
  gauge("verdictd_queue_bytes", "Bytes of batches that wait or are being scored.", service("queueBytes")),
  gauge("verdictd_queue_tasks", "Tasks given to the scoring threads and not done yet.", service("queueTasks")),
  gauge(
    "verdictd_queue_shed_above_bytes",
    "Bytes of waiting batches above which batches are shed, for all threads.",
    ({ state, threads }) => one(state.shedAboveBytes * threads.length),
  ),
  {
    name: lagName,
    type: "histogram",
    help: "From a batch's arrival to its commit.",
    read: ({ services }) => histogram(lagName, {}, lagBoundsMs, services.lag()),
  },
  gauge("verdictd_scoring_threads", "Scoring threads started so far.", ({ scoring }) => one(scoring.get("up"))),
  counter("verdictd_scoring_tasks_total", "Tasks (transactions) done.", ({ scoring }) => one(scoring.get("tasks"))),
  counter("verdictd_scoring_batches_total", "Batches in these tasks.", ({ scoring }) => one(scoring.get("batches"))),
  counter("verdictd_scoring_busy_seconds_total", "Time that scoring threads spent on tasks.", ({ scoring }) =>
    one(scoring.get("busyMs") / 1000),
  ),
  counter("verdictd_cluster_round_trips_total", "Writes to sockets of the cluster.", cluster("clusterRoundTrips")),
  counter("verdictd_cluster_retries_total", "Commands that were repeated.", cluster("clusterRetries")),
  counter(
    "verdictd_cluster_conflicts_total",
    "Batches processed again because another node wrote their session.",
    ({ scoring }) => one(scoring.get("clusterConflicts")),
  ),
  counter(
    "verdictd_cluster_deadline_misses_total",
    "Commands without an answer in time.",
    cluster("clusterDeadlineMisses"),
  ),
  counter(
    "verdictd_cluster_acknowledgements_missing_total",
    "Writes that too few replicas acknowledged.",
    cluster("clusterAcknowledgementsMissing"),
  ),
  counter(
    "verdictd_cluster_failures_total",
    "Reads and writes of scoring threads that the cluster did not carry out.",
    ({ scoring }) => one(scoring.get("clusterFailures")),
  ),
  gauge(
    "verdictd_cluster_config_age_seconds",
    "How long ago this node last had the configuration of the cluster as it was; 0 on one host.",
    ({ state }) => one(state.configAgeSeconds),
  ),
  gauge(
    "verdictd_cluster_shards_short_of_replicas",
    "Shards of the cluster that refuse batches because too few replicas could acknowledge them, and shards without a spare replica: one more failure, and they refuse.",
    ({ state }) =>
      by("batches", { refused: state.cluster?.shardsRefusing ?? 0, accepted: state.cluster?.shardsWithoutSpare ?? 0 }),
  ),
  gauge(
    "verdictd_cluster_engine_up",
    "1 for each engine process of the cluster that answers this node and has its data; 0 for one that does not.",
    engineSamples(({ facts }) => (facts === null ? 0 : 1)),
  ),
  gauge(
    "verdictd_cluster_engine_master",
    "1 for each engine process that is a master, 0 for a replica; masters should be spread over hosts.",
    engineSamples(({ facts }) => (facts === null ? undefined : Number(facts.role === "master"))),
  ),
  gauge(
    "verdictd_cluster_engine_replicas",
    "Replicas that follow each master.",
    engineSamples(({ facts }) => (facts?.role === "master" ? facts.replicas : undefined)),
  ),
  gauge(
    "verdictd_cluster_engine_link_up",
    "1 for each replica that is connected to its master, 0 for one that is not.",
    engineSamples(({ facts }) => (facts?.role === "replica" ? Number(facts.isLinkUp) : undefined)),
  ),
  gauge(
    "verdictd_cluster_engine_memory_bytes",
    "Memory that each engine process uses.",
    engineSamples(({ facts }) => facts?.usedMemory),
  ),
  gauge(
    "verdictd_cluster_engine_memory_max_bytes",
    "maxmemory of each engine process; 0 for none.",
    engineSamples(({ facts }) => facts?.maxmemory),
  ),
  gauge("verdictd_store_bytes", "Bytes of the store's data file in use.", ({ state }) => one(state.storeBytes)),
  gauge("verdictd_store_disk_free_bytes", "Free bytes on the store's disk.", ({ state }) => one(state.diskFreeBytes)),
  gauge("verdictd_sessions_stored", "Sessions in the store.", ({ state }) => one(state.sessionsStored)),
  gauge("verdictd_blocks_stored", "Recorded blocks in the store.", ({ state }) => one(state.blocksStored)),
  counter("verdictd_blocks_recorded_total", "Blocks recorded.", service("blocksRecorded")),
  counter("verdictd_blocks_failed_total", "Blocks that could not be recorded.", service("blocksFailed")),
  counter(
    "verdictd_event_log_dropped_total",
    "Lines of the event log that were dropped: the file is too slow, or can't be written.",
    service("eventLogDropped"),
  ),
  gauge(
    "verdictd_event_loop_delay_seconds",
    "Delay of an HTTP thread's event loop over the last half minute to minute.",
    loopDelaySamples,
  ),
  counter("verdictd_reverse_dns_lookups_total", "Addresses looked up in DNS.", service("dnsLookups")),
  counter("verdictd_reverse_dns_failures_total", "Addresses that DNS could not resolve.", service("dnsFailures")),
  counter(
    "verdictd_reverse_dns_dropped_total",
    "Addresses not looked up because there were too many.",
    service("dnsDropped"),
  ),
  gauge("verdictd_reverse_dns_cached", "Addresses whose result is cached.", service("dnsCached")),
  gauge("verdictd_reverse_dns_active", "Addresses being looked up.", service("dnsActive")),
  gauge("verdictd_reverse_dns_waiting", "Addresses waiting for a look-up.", service("dnsWaiting")),
  counter(
    "verdictd_signatures_total",
    "Requests with a Web Bot Auth signature, by result of its check.",
    serviceBy("result", {
      verified: "signaturesVerified",
      unverified: "signaturesUnverified",
      invalid: "signaturesInvalid",
    }),
  ),
  counter(
    "verdictd_signatures_shed_total",
    "Requests whose signature was not verified because there were too many at once.",
    service("signaturesShed"),
  ),
  counter(
    "verdictd_signatures_foreign_total",
    "Requests with a signature for a host that is none of the project's own, which is unverified.",
    service("signaturesForeign"),
  ),
  counter(
    "verdictd_signature_nonces_forgotten_total",
    "Nonces forgotten before their signature expired, because there were too many.",
    service("noncesForgotten"),
  ),
  counter(
    "verdictd_agent_fetches_total",
    "Key directories of signed agents fetched, by result.",
    serviceBy("result", { done: "agentFetches", failed: "agentFetchFailures" }),
  ),
  gauge("verdictd_tls_certificate_expiry_timestamp_seconds", "When the certificate expires.", ({ state }) =>
    state.certificateExpiresAt === null ? [] : one(state.certificateExpiresAt),
  ),
  counter("verdictd_tls_reloads_total", "Reloads of the certificate by result.", ({ state }) =>
    by("result", { done: state.certificateReloads.done, refused: state.certificateReloads.refused }),
  ),
];
