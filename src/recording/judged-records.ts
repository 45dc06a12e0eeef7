/** Everything that is recorded of judged requests in one thread, and when it is stored: about every second, less often where that takes long. */
import type { JudgedFacts, TrafficObserver } from "../contract/traffic/traffic.js";
import type { VerdictSubject } from "../contract/verdicts/verdict.js";
import { limits } from "../limits.js";
import type { Store } from "../store/store.js";
import { CrawlerCounts } from "./crawler-counts.js";
import { WriterNames } from "./judged-writer.js";
import { RequestSamples } from "./request-samples.js";
import { RuleMinutes } from "./rule-minutes.js";
import { TrafficValues } from "./traffic-values.js";

/** One per HTTP thread; the server calls `flushIfDue` and `flush`. */
export class JudgedRecords implements TrafficObserver {
  readonly #values: TrafficValues;
  readonly #crawlers: CrawlerCounts;
  readonly #samples: RequestSamples;
  readonly #ruleMinutes: RuleMinutes;
  /** All of these, in the order in which they are stored. */
  readonly #parts: readonly { readonly unstored: number; flush(): Promise<number> }[];
  readonly #tell: () => void;
  #writing: Promise<void> | null = null;
  /** By `performance.now()`, which no set clock moves. */
  #dueAtMs = 0;

  /** `samplesMax`: of an hour and project; 0: none. `tell` reports the verdicts that were not reported yet. */
  constructor(store: Pick<Store, "recorded">, now: () => number, samplesMax: number, tell = () => {}) {
    this.#tell = tell;
    const names = new WriterNames();
    this.#values = new TrafficValues(store, names, now);
    this.#crawlers = new CrawlerCounts(store, names, now);
    this.#samples = new RequestSamples(store, names, now, samplesMax);
    this.#ruleMinutes = new RuleMinutes(store, names, now);
    this.#parts = [this.#values, this.#crawlers, this.#samples, this.#ruleMinutes];
  }

  onJudged(facts: JudgedFacts): void {
    this.#values.onJudged(facts);
    this.#crawlers.onJudged(facts);
    this.#samples.onJudged(facts);
  }

  /** The rules that matched in one computed verdict. Never throws. */
  countRules(
    projectId: number,
    rules: readonly { readonly id: number }[],
    subject: VerdictSubject,
    atMs: number,
  ): void {
    this.#ruleMinutes.count(projectId, rules, subject, atMs);
  }

  /** Stores what is new, unless the last time took so long that it is too early. Rejects as `flush` does. */
  async flushIfDue(): Promise<void> {
    if (this.#writing === null && performance.now() >= this.#dueAtMs) await this.flush();
  }

  /** Stores what is new, after an earlier flush has ended. Rejects when the store can't be written; all is kept then, in bounded memory. */
  async flush(): Promise<void> {
    while (this.#writing !== null) await this.#writing.catch(() => {});
    this.#writing = this.#flush();
    try {
      await this.#writing;
    } finally {
      this.#writing = null;
    }
  }

  /** Rows of an hour that are not stored yet, counts and samples together. */
  get unstored(): number {
    this.#tell();
    return this.#parts.reduce((rows, { unstored }) => rows + unstored, 0);
  }

  async #flush(): Promise<void> {
    this.#tell();
    let tookMs = 0;
    for (const part of this.#parts) tookMs += await part.flush();
    this.#dueAtMs = performance.now() + Math.min(limits.judgedFlushMaxMs, tookMs / limits.judgedWriteShare);
  }
}
