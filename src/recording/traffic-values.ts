/** Counts judged requests by value of each dimension, in memory and off the hot path; `flush` stores them. */
import type { JudgedFacts, TrafficDimension, TrafficObserver } from "../contract/traffic/traffic.js";
import { trafficDimensions, valuesInOrder } from "../contract/traffic/traffic.js";
import type { Action, Band, VerdictSubject } from "../contract/verdicts/verdict.js";
import { limits } from "../limits.js";
import type { Store } from "../store/store.js";
import { type ChangedRow, type JudgedPart, JudgedRecorder, type WriterNames } from "./judged-writer.js";
import { encodeTrafficRow, type Stratum, trafficRowOf } from "./traffic-row.js";
import { ValueSketch } from "./value-sketch.js";

/** A stratum while it is counted; in `sketches` and `without` in the order of `trafficDimensions`. */
interface CountedStratum extends Stratum {
  total: number;
  spread: number;
  readonly without: number[];
  /** Of `detection`; of every other dimension it is the total less `without`. */
  detections: number;
  readonly sketches: readonly ValueSketch[];
}

const detectionAt = trafficDimensions.indexOf("detection");

/** The counts of one project and hour. */
class HourOfValues implements JudgedPart {
  readonly #strata = new Map<string, CountedStratum>();
  /** Verdicts counted, and how many of them each dimension's stored row has. */
  #total = 0;
  readonly #stored = new Map<TrafficDimension, number>();
  #slots: number = limits.trafficSlots;
  #last: CountedStratum | null = null;

  add({ subject, band, action, values, detectionIds, weight }: JudgedFacts): void {
    this.#total += weight;
    const stratum = this.#stratumOf(subject, band, action);
    stratum.total += weight;
    stratum.spread += weight * (weight - 1);
    const { sketches, without } = stratum;
    const inOrder = valuesInOrder(values);
    for (let index = 0; index < inOrder.length; index++) {
      const value = inOrder[index]!;
      if (value === "") without[index]! += weight;
      else sketches[index]!.add(value, weight);
    }
    if (detectionIds.length === 0) without[detectionAt]! += weight;
    for (const id of detectionIds) sketches[detectionAt]!.add(textOf(id), weight);
    stratum.detections += weight * detectionIds.length;
  }

  #stratumOf(subject: VerdictSubject, band: Band, action: Action): CountedStratum {
    const last = this.#last;
    // Most verdicts are like the one before.
    if (last?.band === band && last.action === action && last.subject === subject) return last;
    const name = `${subject} ${band} ${action}`;
    let stratum = this.#strata.get(name);
    if (stratum === undefined) {
      const without = new Array<number>(trafficDimensions.length).fill(0);
      const sketches = trafficDimensions.map(() => new ValueSketch(this.#slots));
      stratum = { subject, band, action, total: 0, spread: 0, without, detections: 0, sketches };
      this.#strata.set(name, stratum);
    }
    this.#last = stratum;
    return stratum;
  }

  get size(): number {
    let size = 0;
    for (const { sketches } of this.#strata.values()) for (const sketch of sketches) size += sketch.size;
    return size;
  }

  shrink(slots: number): void {
    this.#slots = Math.min(this.#slots, slots);
    for (const { sketches } of this.#strata.values()) for (const sketch of sketches) sketch.shrink(slots);
  }

  changed(): ChangedRow[] {
    const kinds = trafficDimensions.filter((kind) => (this.#stored.get(kind) ?? 0) !== this.#total);
    return kinds.map((kind) => ({
      kind,
      number: 0,
      encode: () => {
        const total = this.#total;
        return { bytes: this.#encode(kind), onStored: () => this.#stored.set(kind, total) };
      },
    }));
  }

  #encode(dimension: TrafficDimension): Buffer {
    const at = trafficDimensions.indexOf(dimension);
    const strata = [...this.#strata.values()].map((stratum) => {
      const { subject, band, action, total, spread, detections } = stratum;
      const without = stratum.without[at]!;
      const counted = at === detectionAt ? detections : total - without;
      return { subject, band, action, total, spread, without, counted, sketch: stratum.sketches[at]! };
    });
    return encodeTrafficRow(trafficRowOf(strata));
  }
}

const texts = new Map<number, string>();

/** The same text each time: there are a few hundred detections. */
function textOf(id: number): string {
  let text = texts.get(id);
  if (text === undefined) {
    text = String(id);
    texts.set(id, text);
  }
  return text;
}

/** One per HTTP thread. Memory is bounded in values over all projects. */
export class TrafficValues extends JudgedRecorder<HourOfValues> implements TrafficObserver {
  #sinceLook = 0;

  constructor(store: Pick<Store, "recorded">, names: WriterNames, now: () => number) {
    super(store, names, now, () => new HourOfValues());
  }

  onJudged(facts: JudgedFacts): void {
    this.hours.of(facts.projectId, facts.atMs).add(facts);
    // A verdict adds at most 11 values and its detections.
    if (++this.#sinceLook >= limits.trafficLookEvery) this.#makeRoom();
  }

  /**
   * Above the bound all hours are ended, so that the next flush stores and forgets them; what can't be stored is first held to fewer values, then
   * forgotten, the oldest first.
   */
  #makeRoom(): void {
    this.#sinceLook = 0;
    if (this.#size() < limits.trafficValuesHeldMax) return;
    this.hours.endAll();
    for (const part of this.hours.parts) part.shrink(limits.trafficSlotsLeast);
    for (let parts = this.hours.parts.length; this.#size() >= limits.trafficValuesHeldMax && parts > 0; ) {
      parts = Math.floor(parts / 2);
      this.hours.forgetEnded(parts);
    }
  }

  #size(): number {
    return this.hours.parts.reduce((sum, part) => sum + part.size, 0);
  }
}
