/** Counts hits of rules by minute, for whoever watches a rule: in memory and off the hot path; a row a minute is stored, for two hours. */
import { hourMs, minuteMs } from "../contract/values/durations.js";
import type { VerdictSubject } from "../contract/verdicts/verdict.js";
import { limits } from "../limits.js";
import type { StoredJudgedRow } from "../store/judged-rows.js";
import type { Store } from "../store/store.js";
import { type ChangedRow, type JudgedPart, JudgedRecorder, type WriterNames } from "./judged-writer.js";
import { packed, unpacked } from "./traffic-row.js";

/** Verdicts that a rule decided or logged in a minute. */
interface MinuteHits {
  sessions: number;
  requests: number;
}

/** By the rule's id. */
export type HitsOfMinute = Map<number, MinuteHits>;

const minutesOfHour = hourMs / minuteMs;

interface Minute {
  readonly hits: HitsOfMinute;
  changes: number;
  stored: number;
}

class HourOfRules implements JudgedPart {
  /** By minute of the hour. */
  readonly #minutes = new Map<number, Minute>();

  add(rules: readonly { readonly id: number }[], subject: VerdictSubject, atMs: number): void {
    const number = Math.floor(atMs / minuteMs) % minutesOfHour;
    let minute = this.#minutes.get(number);
    if (minute === undefined) {
      minute = { hits: new Map(), changes: 0, stored: 0 };
      this.#minutes.set(number, minute);
    }
    minute.changes++;
    for (const { id } of rules) addHits(minute.hits, id, subject === "session" ? 1 : 0, subject === "request" ? 1 : 0);
  }

  changed(): ChangedRow[] {
    return [...this.#minutes]
      .filter(([, { changes, stored }]) => changes !== stored)
      .map(([number, minute]) => ({
        kind: "rule_minutes",
        number,
        encode: () => {
          const { changes } = minute;
          const onStored = (): void => {
            minute.stored = changes;
          };
          return { bytes: encodeMinute(number, minute.hits), onStored };
        },
      }));
  }
}

function addHits(to: HitsOfMinute, rule: number, sessions: number, requests: number): void {
  let hits = to.get(rule);
  if (hits === undefined) {
    hits = { sessions: 0, requests: 0 };
    to.set(rule, hits);
  }
  hits.sessions += sessions;
  hits.requests += requests;
}

function encodeMinute(number: number, hits: HitsOfMinute): Buffer {
  return packed([number, [...hits].map(([rule, { sessions, requests }]) => [rule, sessions, requests])]);
}

/** One per HTTP thread. */
export class RuleMinutes extends JudgedRecorder<HourOfRules> {
  constructor(store: Pick<Store, "recorded">, names: WriterNames, now: () => number) {
    super(store, names, now, () => new HourOfRules());
  }

  /** The rules that matched in one computed verdict. Never throws. */
  count(projectId: number, rules: readonly { readonly id: number }[], subject: VerdictSubject, atMs: number): void {
    this.hours.of(projectId, atMs).add(rules, subject, atMs);
    if (this.hours.count > limits.judgedHoursHeldMax) this.hours.forgetEnded(limits.judgedHoursHeldMax / 2);
  }
}

/** Adds the rows of all threads and nodes, by minute since the epoch; a damaged row counts nothing. */
export function hitsByMinute(rows: readonly StoredJudgedRow[]): Map<number, HitsOfMinute> {
  const minutes = new Map<number, HitsOfMinute>();
  for (const { hour, bytes } of rows) {
    const row = unpacked(bytes);
    if (!Array.isArray(row)) continue;
    const [number, hits] = row as [number, [rule: number, sessions: number, requests: number][]];
    const minute = hour * minutesOfHour + number;
    let of = minutes.get(minute);
    if (of === undefined) {
      of = new Map();
      minutes.set(minute, of);
    }
    for (const [rule, sessions, requests] of hits) addHits(of, rule, sessions, requests);
  }
  return minutes;
}
