/**
 * Finds and follows the incidents of one project, minute by minute. Pure: time, counts and the history of hours are arguments. An incident begins where
 * a value has many requests of the last five minutes, several times more than usual, at least half of them likely automated.
 */
import type { IncidentCounts, IncidentRuleWould, IncidentWhat } from "../contract/incidents/incidents.js";
import { limits } from "../limits.js";
import { type CountedRequest, isSuspicious, keysOf } from "./counted-request.js";
import { type Candidate, matches, type Sample } from "./description.js";
import { joinCandidates, type SharesAtFirst, sharesAtFirst } from "./joining.js";
import type { Sliced } from "./sliced.js";
import { ValueCounts, windowMinutes } from "./value-counts.js";

/** Requests of five minutes from which a value may be an incident; of a project that had few in the hour before. */
const countMin = 50;
const countMinQuiet = 200;
/** Requests of the hour before, below which a project is quiet. */
const quietBelow = 20;
/** Share of that from which a value may describe an incident of others: the address of an attack on a path that people use too. */
const companionShare = 0.5;
/** How many times the usual a count is at least. */
const riseMin = 5;
/** An incident ends when its count was below the larger of this and `endRise` times the usual, for `endMinutes`. */
const endCount = 10;
const endRise = 2;
const endMinutes = 10;
/** Minutes for which a wide incident was there when it begins: the attacks that make it up may take two more to be heavy enough on their own. */
const wideMinutesMin = 3;
/** Hourly counts below this matter to no baseline: twice a twelfth of it is `endCount`. */
export const hourlyCountMin = (endCount / endRise) * 12;

/** What five minutes of a value usually have, by the hours of earlier days and weeks. */
type UsualOf = (key: string) => number;

/** An incident while it goes on. `at` times are minutes since the epoch. */
export interface OpenIncident {
  readonly what: IncidentWhat;
  readonly startedAt: number;
  readonly baseline: number;
  count: number;
  peakPerMinute: number;
  readonly bands: IncidentCounts;
  readonly actions: IncidentCounts;
  readonly ruleWould: IncidentRuleWould;
  /** Requests of its last minutes, the latest last. */
  readonly lastMinutes: number[];
  calmMinutes: number;
  readonly shares: SharesAtFirst;
}

/** What a minute changed. */
interface MinuteOutcome {
  readonly opened: readonly OpenIncident[];
  readonly ended: readonly OpenIncident[];
}

/** One project's. `random`: from 0 to 1. */
export class ProjectWatch {
  readonly counts: ValueCounts;
  /** Those that go on. */
  readonly open: OpenIncident[] = [];
  readonly #random: () => number;
  /** Minutes in a row that had a wide incident which did not begin yet. */
  #wideMinutes = 0;
  /** Samples of the last minutes, the latest last; the last one is still being filled. */
  readonly #samples: { minute: number; kept: CountedRequest[]; seen: number; total: number }[] = [];

  constructor(minute: number, random: () => number = Math.random) {
    this.counts = new ValueCounts(minute);
    this.#random = random;
    this.#beginMinute(minute);
  }

  add(request: CountedRequest): void {
    this.counts.add(keysOf(request), isSuspicious(request), request.weight);
    const samples = this.#samples.at(-1)!;
    samples.seen++;
    samples.total += request.weight;
    if (samples.kept.length < limits.incidentSamplesOfMinute) samples.kept.push(request);
    else {
      const at = Math.floor(this.#random() * samples.seen);
      if (at < limits.incidentSamplesOfMinute) samples.kept[at] = request;
    }
  }

  /** Ends a minute: what began and ended in it. Then counts go to `next`. No request may be added meanwhile. */
  *endMinute(usualOf: UsualOf, next: number): Sliced<MinuteOutcome> {
    const opened = yield* this.#find(usualOf);
    const ended = yield* this.#follow();
    this.open.push(...opened);
    yield* this.counts.advance(next);
    this.#beginMinute(next);
    return { opened, ended };
  }

  #beginMinute(minute: number): void {
    this.#samples.push({ minute, kept: [], seen: 0, total: 0 });
    while (this.#samples.length > windowMinutes || this.#samples[0]!.minute <= minute - windowMinutes)
      this.#samples.shift();
    if (this.#samples.some((each) => each.minute > minute)) this.#samples.splice(0, this.#samples.length - 1);
  }

  *#find(usualOf: UsualOf): Sliced<OpenIncident[]> {
    const least = this.counts.beforeWindow < quietBelow ? countMinQuiet : countMin;
    const candidates: Candidate[] = [];
    const companions: Candidate[] = [];
    const heavy = yield* this.counts.heavy(least * companionShare);
    for (const found of heavy) {
      if (found.suspicious * 2 < found.count) continue;
      const baseline = Math.max(found.hourMedian, usualOf(found.key));
      if (found.count < riseMin * baseline) continue;
      (found.count < least ? companions : candidates).push({ ...found, baseline });
    }
    if (candidates.length === 0) {
      this.#wideMinutes = 0;
      return [];
    }
    const samples: Sample[] = [];
    for (const each of this.#samples) {
      samples.push(...samplesOf(each));
      yield;
    }
    const room = Math.max(0, limits.incidentsOpenMax - this.open.length);
    const described = yield* joinCandidates(candidates, companions, samples, this.open, { least, riseMin });
    this.#wideMinutes = described.some(({ isWide }) => isWide) ? this.#wideMinutes + 1 : 0;
    const begun = described.filter(({ isWide }) => !isWide || this.#wideMinutes >= wideMinutesMin);
    const opened: OpenIncident[] = [];
    for (const { what, baseline } of begun.slice(0, room)) {
      opened.push(yield* this.#opened(what, baseline, yield* sharesAtFirst(what, samples)));
    }
    return opened;
  }

  *#opened(what: IncidentWhat, baseline: number, shares: SharesAtFirst): Sliced<OpenIncident> {
    const first = this.#samples.find(({ kept }) => kept.some((request) => matches(request, what)));
    const incident: OpenIncident = {
      what,
      startedAt: (first ?? this.#samples.at(-1)!).minute,
      baseline,
      count: 0,
      peakPerMinute: 0,
      bands: {},
      actions: {},
      ruleWould: { newly_blocked: 0, likely_human: 0, logged_in: 0 },
      lastMinutes: [],
      calmMinutes: 0,
      shares,
    };
    for (const samples of this.#samples) {
      countIn(incident, samplesOf(samples));
      yield;
    }
    return incident;
  }

  /** Adds the ended minute to open incidents, and takes out those that ended. */
  *#follow(): Sliced<OpenIncident[]> {
    const samples = samplesOf(this.#samples.at(-1)!);
    const ended: OpenIncident[] = [];
    for (const incident of [...this.open]) {
      countIn(incident, samples);
      yield;
      const count = incident.lastMinutes.reduce((sum, each) => sum + each, 0);
      incident.calmMinutes = count < Math.max(endCount, endRise * incident.baseline) ? incident.calmMinutes + 1 : 0;
      if (incident.calmMinutes < endMinutes) continue;
      this.open.splice(this.open.indexOf(incident), 1);
      ended.push(incident);
    }
    return ended;
  }
}

function samplesOf({ kept, total }: { readonly kept: readonly CountedRequest[]; readonly total: number }): Sample[] {
  const weights = kept.reduce((sum, { weight }) => sum + weight, 0);
  return kept.map((request) => ({ request, weight: (request.weight * total) / weights }));
}

function countIn(incident: OpenIncident, samples: readonly Sample[]): void {
  const { what, bands, actions, ruleWould } = incident;
  let inMinute = 0;
  for (const { request, weight } of samples) {
    if (!matches(request, what)) continue;
    inMinute += weight;
    bands[request.band] = (bands[request.band] ?? 0) + weight;
    actions[request.action] = (actions[request.action] ?? 0) + weight;
    if (request.action === "block") continue;
    ruleWould.newly_blocked += weight;
    if (request.band === "likely_human") ruleWould.likely_human += weight;
    if (request.isLoggedIn) ruleWould.logged_in += weight;
  }
  incident.count += inMinute;
  incident.peakPerMinute = Math.max(incident.peakPerMinute, inMinute);
  incident.lastMinutes.push(inMinute);
  if (incident.lastMinutes.length > windowMinutes) incident.lastMinutes.shift();
}
