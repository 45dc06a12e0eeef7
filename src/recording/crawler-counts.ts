/** Counts visits of crawlers by operator: verified ones with their paths, and impostors; in memory and off the hot path. */
import type { JudgedFacts, TrafficObserver } from "../contract/traffic/traffic.js";
import { limits } from "../limits.js";
import type { Store } from "../store/store.js";
import { type ChangedRow, type JudgedPart, JudgedRecorder, type WriterNames } from "./judged-writer.js";
import { packed, unpacked } from "./traffic-row.js";
import { ValueSketch } from "./value-sketch.js";

/** The visits of one operator in an hour. */
interface CrawlerRow {
  readonly operator: string;
  /** What its bot is for; "" for not known. */
  readonly category: string;
  readonly verified: number;
  readonly impostors: number;
  readonly lastMs: number;
  /** Of verified ones, by template. */
  readonly paths: readonly (readonly [path: string, count: number])[];
}

interface Operator {
  category: string;
  verified: number;
  impostors: number;
  lastMs: number;
  readonly paths: ValueSketch;
}

class HourOfCrawlers implements JudgedPart {
  readonly #operators = new Map<string, Operator>();
  #changes = 0;
  #stored = 0;

  add({ values, verifiedBotCategory, impostorOf, impostorCategory, atMs }: JudgedFacts): void {
    const { verified_bot: verified, path } = values;
    const name = verified || impostorOf;
    let operator = this.#operators.get(name);
    if (operator === undefined) {
      if (this.#operators.size >= limits.crawlerOperatorsMax) return;
      operator = {
        category: "",
        verified: 0,
        impostors: 0,
        lastMs: 0,
        paths: new ValueSketch(limits.crawlerPathSlots),
      };
      this.#operators.set(name, operator);
    }
    this.#changes++;
    operator.lastMs = Math.max(operator.lastMs, atMs);
    if (verified === "") {
      operator.impostors++;
      operator.category ||= impostorCategory;
      return;
    }
    operator.verified++;
    operator.category = verifiedBotCategory;
    if (path !== "") operator.paths.add(path);
  }

  changed(): ChangedRow[] {
    if (this.#changes === this.#stored) return [];
    const encode = () => {
      const changes = this.#changes;
      const onStored = (): void => {
        this.#stored = changes;
      };
      return { bytes: encodeCrawlers(this.#rows()), onStored };
    };
    return [{ kind: "crawlers", number: 0, encode }];
  }

  #rows(): CrawlerRow[] {
    return [...this.#operators].map(([operator, { paths, ...counts }]) => ({
      operator,
      ...counts,
      paths: Array.from(paths.values(), ([value, { count }]) => [value, count] as const),
    }));
  }
}

function encodeCrawlers(rows: readonly CrawlerRow[]): Buffer {
  return packed(
    rows.map(({ operator, category, verified, impostors, lastMs, paths }) => [
      operator,
      category,
      verified,
      impostors,
      lastMs,
      paths,
    ]),
  );
}

/** Empty for a damaged row. */
export function decodeCrawlers(bytes: Buffer): CrawlerRow[] {
  const rows = unpacked(bytes);
  if (!Array.isArray(rows)) return [];
  return (rows as [string, string, number, number, number, CrawlerRow["paths"]][]).map(
    ([operator, category, verified, impostors, lastMs, paths]) => ({
      operator,
      category,
      verified,
      impostors,
      lastMs,
      paths,
    }),
  );
}

/** One per HTTP thread. */
export class CrawlerCounts extends JudgedRecorder<HourOfCrawlers> implements TrafficObserver {
  constructor(store: Pick<Store, "recorded">, names: WriterNames, now: () => number) {
    super(store, names, now, () => new HourOfCrawlers());
  }

  onJudged(facts: JudgedFacts): void {
    if (facts.values.verified_bot === "" && facts.impostorOf === "") return;
    const held = this.hours.of(facts.projectId, facts.atMs);
    held.add(facts);
    if (this.hours.count > limits.judgedHoursHeldMax) this.hours.forgetEnded(limits.judgedHoursHeldMax / 2);
  }
}
