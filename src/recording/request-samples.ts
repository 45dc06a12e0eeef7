/**
 * Keeps samples of judged requests without a session: of each project and hour those with the least random draws (a bottom-k sample), so that the samples of
 * all threads and nodes together are one sample. In memory and off the hot path; `flush` stores them.
 */
import type { BotCategory } from "../contract/bots/bot-categories.js";
import type { VisitFacts } from "../contract/evidence/visit-facts.js";
import type { RequestSample, WeightedSample } from "../contract/traffic/request-sample.js";
import type { JudgedFacts, TrafficObserver } from "../contract/traffic/traffic.js";
import { limits } from "../limits.js";
import type { Slices } from "../runtime/long-work.js";
import { TextMemo } from "../runtime/text-memo.js";
import type { StoredJudgedRow } from "../store/judged-rows.js";
import type { Store } from "../store/store.js";
import { type ChangedRow, type JudgedPart, JudgedRecorder, type WriterNames } from "./judged-writer.js";
import { pathWithoutTokens } from "./path-template.js";
import { packed, unpacked } from "./traffic-row.js";

/** Rows that the samples of an hour fill; a row that is full is not written again until samples are dropped. */
const rowsOfHour = 20;
/** Samples of an hour that are held and stored before those with the greatest draws are dropped, in those that count. */
const heldMax = 1.25;
/** The number of the row that says how many requests there were. */
const seenRow = 255;

class HourOfSamples implements JudgedPart {
  readonly #max: number;
  readonly #rowSize: number;
  #samples: RequestSample[] = [];
  /** A draw that is not below it is too late. */
  #bound = 1;
  #seen = 0;
  #seenStored = 0;
  /** By row. */
  readonly #changes: number[] = [];
  readonly #stored: number[] = [];

  constructor(max: number) {
    this.#max = max;
    this.#rowSize = Math.ceil(max / rowsOfHour);
  }

  get size(): number {
    return this.#samples.length;
  }

  add(draw: number, weight: number, sampleOf: () => RequestSample): void {
    this.#seen += weight;
    if (draw >= this.#bound) return;
    this.#change(Math.floor(this.#samples.length / this.#rowSize));
    this.#samples.push(sampleOf());
    if (this.#samples.length >= heldMax * this.#max + 1) this.#prune();
  }

  #change(row: number): void {
    this.#changes[row] = (this.#changes[row] ?? 0) + 1;
  }

  #prune(): void {
    this.#samples = leastDraws(this.#samples, this.#max);
    this.#bound = this.#samples.at(-1)!.draw;
    for (let row = 0; row < this.#changes.length; row++) this.#change(row);
  }

  changed(): ChangedRow[] {
    const rows: ChangedRow[] = [];
    if (this.#seen !== this.#seenStored) {
      const encode = () => {
        const seen = this.#seen;
        const onStored = (): void => {
          this.#seenStored = seen;
        };
        return { bytes: packed({ seen }), onStored };
      };
      rows.push({ kind: "samples", number: seenRow, encode });
    }
    for (let number = 0; number < this.#changes.length; number++) {
      if (this.#changes[number] === this.#stored[number]) continue;
      const encode = () => {
        const changes = this.#changes[number]!;
        const samples = this.#samples.slice(number * this.#rowSize, (number + 1) * this.#rowSize);
        const onStored = (): void => {
          this.#stored[number] = changes;
        };
        return { bytes: packed({ samples }), onStored };
      };
      rows.push({ kind: "samples", number, encode });
    }
    return rows;
  }
}

function visitOf(visit: VisitFacts | undefined): Omit<VisitFacts, "evidence"> | null {
  if (visit === undefined) return null;
  const { pages, silentPages, seconds, posts, cookieKept } = visit;
  return { pages, silentPages, seconds, posts, cookieKept };
}

/** Those with the least draws, the least first. */
function leastDraws(samples: readonly RequestSample[], max: number): RequestSample[] {
  return samples.length <= max ? [...samples] : [...samples].sort((one, other) => one.draw - other.draw).slice(0, max);
}

/** The samples of an hour from the rows of all its writers, in no order; at most `max`. Null when whoever asked has gone meanwhile. */
export async function samplesOfHour(
  rows: readonly StoredJudgedRow[],
  max: number,
  slices: Slices,
): Promise<WeightedSample[] | null> {
  let seen = 0;
  const all: RequestSample[] = [];
  for (const { bytes } of rows) {
    if (slices.isOver && !(await slices.next())) return null;
    const row = unpacked(bytes) as { seen?: number; samples?: RequestSample[] } | null;
    seen += row?.seen ?? 0;
    all.push(...(row?.samples ?? []));
  }
  const kept = leastDraws(all, max);
  const weight = kept.length === 0 ? 1 : Math.max(1, seen / kept.length);
  return kept.map((sample) => ({ ...sample, weight }));
}

/** One per HTTP thread. */
export class RequestSamples extends JudgedRecorder<HourOfSamples> implements TrafficObserver {
  readonly #max: number;
  readonly #paths = new TextMemo<string>(limits.trafficMemoMax);
  #sinceLook = 0;

  /** `max`: of an hour and project; 0: none. */
  constructor(store: Pick<Store, "recorded">, names: WriterNames, now: () => number, max: number) {
    super(store, names, now, () => new HourOfSamples(max));
    this.#max = max;
  }

  onJudged(facts: JudgedFacts): void {
    if (this.#max === 0 || facts.subject !== "request") return;
    // The least draw of as many requests as it stands for.
    const draw = facts.weight === 1 ? Math.random() : 1 - (1 - Math.random()) ** (1 / facts.weight);
    this.hours.of(facts.projectId, facts.atMs).add(draw, facts.weight, () => this.#sampleOf(facts, draw));
    if (++this.#sinceLook >= limits.trafficLookEvery) this.#makeRoom();
  }

  #sampleOf(facts: JudgedFacts, draw: number): RequestSample {
    const { values, network, request, rule } = facts;
    return {
      draw,
      atMs: facts.atMs,
      method: facts.method,
      path: this.#path(facts.path),
      host: values.host,
      ip: values.ip,
      country: values.country,
      asn: network.asn ?? null,
      asName: network.asName ?? "",
      userAgent: facts.userAgent,
      declaredBot: values.declared_bot,
      declaredBotCategory: request?.declaredBot?.category ?? "",
      verifiedBot: values.verified_bot,
      verifiedBotCategory: facts.verifiedBotCategory as BotCategory | "",
      agent: values.agent,
      band: facts.band,
      score: facts.score,
      action: facts.action,
      ruleId: rule?.id ?? null,
      detectionIds: facts.detectionIds,
      signature: request?.signature ?? "none",
      signedAgent: request?.signedAgent?.host ?? "",
      httpVersion: request?.httpVersion ?? "",
      requestsPerMinute: request?.requestsPerMinute ?? null,
      visit: visitOf(request?.visit),
    };
  }

  #path(path: string): string {
    let kept = this.#paths.get(path);
    if (kept === undefined) {
      kept = pathWithoutTokens(path);
      this.#paths.set(path, kept);
    }
    return kept;
  }

  #makeRoom(): void {
    this.#sinceLook = 0;
    const size = () => this.hours.parts.reduce((sum, part) => sum + part.size, 0);
    if (size() < limits.requestSamplesHeldMax) return;
    this.hours.endAll();
    for (let parts = this.hours.count; size() >= 2 * limits.requestSamplesHeldMax && parts > 0; ) {
      parts = Math.floor(parts / 2);
      this.hours.forgetEnded(parts);
    }
  }
}
