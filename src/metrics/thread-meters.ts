/** All meters of one HTTP thread: what it counts, and the state it shows every half second for the scrape to read. */
import { ChallengeMeters } from "./challenge-meters.js";
import type { ThreadBuffers } from "./exposition.js";
import { LoopDelayMonitor } from "./loop-delay.js";
import { type RouteLabel, RouteMeters } from "./route-meters.js";
import { type ClientCounts, newScoringBuffer, ScoringReading } from "./scoring-meters.js";
import { ServiceMeters } from "./service-meters.js";

/** State that is asked for rather than counted. */
interface ThreadState {
  readonly isReady: boolean;
  /** Of this thread's client of the cluster; null: there is none. */
  readonly cluster: ClientCounts | null;
  readonly dns: {
    readonly cached: number;
    readonly active: number;
    readonly waiting: number;
    readonly lookups: number;
    readonly failures: number;
    readonly dropped: number;
  };
}

/** Made once for each HTTP thread; `buffers` is what is posted to the thread that answers scrapes. */
export class ThreadMeters {
  readonly services = new ServiceMeters();
  readonly challenges = new ChallengeMeters();
  /** Of the pool of this thread; its threads write to it. */
  readonly scoring: SharedArrayBuffer;
  #routes = new RouteMeters([]);
  readonly #loop = new LoopDelayMonitor(() => performance.now());
  #timer: NodeJS.Timeout | null = null;

  constructor(scoringThreads: number) {
    this.scoring = newScoringBuffer(scoringThreads);
  }

  /** Meters of the routes; call once, before `buffers`. */
  meterRoutes(labels: readonly RouteLabel[]): RouteMeters {
    this.#routes = new RouteMeters(labels);
    return this.#routes;
  }

  get routeLabels(): readonly RouteLabel[] {
    return this.#routes.labels;
  }

  /** What the scrape reads: can be posted to the thread that answers it. */
  get buffers(): ThreadBuffers {
    return {
      routes: this.#routes.buffer,
      services: this.services.buffer,
      scoring: this.scoring,
      challenges: this.challenges.buffer,
    };
  }

  /** Scoring threads of this thread's pool that have ever come up. */
  get scoringThreadsUp(): number {
    return new ScoringReading([this.scoring]).get("up");
  }

  /** Shows the state now and every so many ms until `stop`. */
  show(state: () => ThreadState, everyMs: number): void {
    const write = (): void => this.#write(state());
    write();
    this.#timer = setInterval(write, everyMs);
    this.#timer.unref();
  }

  #write({ isReady, cluster, dns }: ThreadState): void {
    const { services } = this;
    services.set("ready", isReady ? 1 : 0);
    if (cluster !== null) {
      services.set("clusterRoundTrips", cluster.roundTrips);
      services.set("clusterRetries", cluster.retries);
      services.set("clusterDeadlineMisses", cluster.deadlineMisses);
      services.set("clusterAcknowledgementsMissing", cluster.acknowledgementsMissing);
    }
    const delay = this.#loop.read();
    services.set("loopDelayP50Ms", delay.p50Ms);
    services.set("loopDelayP99Ms", delay.p99Ms);
    services.set("loopDelayMaxMs", delay.maxMs);
    services.set("dnsCached", dns.cached);
    services.set("dnsActive", dns.active);
    services.set("dnsWaiting", dns.waiting);
    services.set("dnsLookups", dns.lookups);
    services.set("dnsFailures", dns.failures);
    services.set("dnsDropped", dns.dropped);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#loop.stop();
  }
}
