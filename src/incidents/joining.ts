/**
 * Joins values that are suddenly heavy to incidents. What names a target or a source (a path, an address, a network, an autonomous system) joins;
 * what only says how the traffic looks (a host, a country, a tool, a detection) describes, so that two attacks at once stay two incidents, and an open
 * incident of a whole host hides none of the attacks that begin in it.
 */
import type { IncidentWhat } from "../contract/incidents/incidents.js";
import { limits } from "../limits.js";
import { countedValue, isOfPrograms, keysOf } from "./counted-request.js";
import { type Candidate, type Described, describeGroup, matches, type Sample, weightOf } from "./description.js";
import type { Sliced } from "./sliced.js";

/** An incident that goes on. */
interface Open {
  readonly what: IncidentWhat;
  /** Shares of its requests that values had when it began. */
  readonly shares: SharesAtFirst;
}

/** Shares of an incident's first requests by key of the value. */
export interface SharesAtFirst {
  readonly of: ReadonlyMap<string, number>;
  /** What the share of a value that is not in `of` may be. */
  readonly unseen: number;
}

/** Candidates of one incident with indexes of their requests. */
interface Group {
  candidates: Candidate[];
  requests: Set<number>;
}

/** A candidate with indexes of its requests. */
interface Gathered {
  readonly candidate: Candidate;
  readonly own: ReadonlySet<number>;
  /** Names a target or a source. */
  readonly isLocated: boolean;
  /** Most of its requests are programs' by their band or a rule, not only without a session. */
  readonly isOfPrograms: boolean;
}

/** An incident that goes on, with indexes of its requests, and of those that are no program's and in no narrower incident. */
interface Known {
  readonly incident: Open;
  readonly requests: ReadonlySet<number>;
  rest: ReadonlySet<number>;
}

/** An incident to be; wide where it names no target and no source. */
interface Joined extends Described {
  readonly isWide: boolean;
}

/** How many times its share of an open incident a value has at least, to be an attack that began in it. */
const growthMin = 5;
/** Share of the smaller one's requests from which two values overlap. */
const overlapShare = 0.5;
/** Share of an open incident that the rest of it has at least, where programs stand out of it. */
const restShare = 0.2;
/** Attacks with one tool (or host, …) that are told apart; more of them are one. */
const apartMax = 3;
/** A value that fewer samples have may be missing among them by chance. */
const samplesSeen = 3;
/** Samples that are looked at in a slice. */
const samplesOfSlice = 50;

const locating: readonly string[] = ["path", "ip", "network", "asn"];
const tools: readonly string[] = ["user_agent_family", "declared_bot", "verified_bot", "agent"];

/** Returns the shares of values among an incident's first requests. */
export function* sharesAtFirst(what: IncidentWhat, samples: readonly Sample[]): Sliced<SharesAtFirst> {
  const weights = new Map<string, number>();
  let [all, count] = [0, 0];
  for (const [index, { request, weight }] of samples.entries()) {
    if (index % samplesOfSlice === 0) yield;
    if (!matches(request, what)) continue;
    all += weight;
    count++;
    for (const key of keysOf(request)) weights.set(key, (weights.get(key) ?? 0) + weight);
  }
  const unseen = samplesSeen / (count + 1);
  const of = new Map<string, number>();
  for (const [key, weight] of weights) if (weight > unseen * all) of.set(key, weight / all);
  return { of, unseen };
}

/**
 * Joins candidates whose requests overlap. Those that overlap with `open` are these incidents' own and left out, but for attacks that began in a wider one.
 * `companions` have risen as much, and are too few for an incident of their own: they only describe. `samples` are of the window; `least` is how many
 * requests a candidate has at least, `riseMin` how many times its baseline.
 */
export function* joinCandidates(
  given: readonly Candidate[],
  companions: readonly Candidate[],
  samples: readonly Sample[],
  open: readonly Open[],
  { least, riseMin }: { readonly least: number; readonly riseMin: number },
): Sliced<Joined[]> {
  const candidates = heaviestOf(given);
  const describing = heaviestOf(companions);
  const locatedOnes = new Set(candidates.filter(({ key }) => isLocated(key)));
  const members = yield* membersOf([...candidates, ...describing], samples);
  const known: Known[] = [];
  for (const incident of open) {
    known.push({ incident, requests: yield* membersOfIncident(incident.what, samples), rest: new Set() });
  }
  const all: Gathered[] = [];
  for (const candidate of candidates) {
    const own = members.get(candidate.key)!;
    if (own.size === 0) continue;
    all.push({ candidate, own, isLocated: locatedOnes.has(candidate), isOfPrograms: areOfPrograms(own, samples) });
    yield;
  }
  const located = all.filter((each) => each.isLocated);
  const programs = new Set(located.filter((each) => each.isOfPrograms).flatMap(({ own }) => [...own]));
  yield;

  for (const each of known) {
    const narrower = known.filter(({ requests }) => requests.size < each.requests.size);
    each.rest = without(each.requests, [programs, ...narrower.map(({ requests }) => requests)]);
    yield;
  }

  const left: Gathered[] = [];
  for (const each of located) {
    let isKnown = false;
    for (const incident of known) {
      isKnown ||= overlap(each.own, incident.requests, samples) && !isApart(each, incident, samples);
      yield;
    }
    if (!isKnown) left.push(each);
  }
  const groups = yield* joined(
    left.filter((each) => each.isOfPrograms),
    samples,
  );
  for (const { candidate, own, isLocated } of all) {
    if (isLocated) continue;
    yield* joinBy(candidate, own, groups, samples);
  }

  // What is left besides these attacks and the open incidents: of a wide value only what they do not explain.
  const explained = [...known.map(({ requests }) => requests), ...groups.map(({ requests }) => requests)];
  const others: Gathered[] = [];
  for (const each of left) {
    if (!each.isOfPrograms && !overlapsAny(each.own, groups, samples)) others.push(each);
    yield;
  }
  const bridges: Gathered[] = [];
  for (const each of all) {
    if (each.isLocated) continue;
    yield;
    if (!explained.some((requests) => overlap(each.own, requests, samples))) {
      others.push(each);
      continue;
    }
    const own = without(each.own, explained);
    const weight = weightOf(own, samples);
    const isHeavy = weight >= Math.max(least, riseMin * each.candidate.baseline) && areOfPrograms(own, samples);
    (isHeavy ? others : bridges).push({ ...each, own });
  }
  const single = new Set(bridges.map(({ candidate }) => candidate));
  const hasToJoin = others.length > 1 || others.some((each) => !each.isLocated);
  for (const group of yield* joined([...others, ...(hasToJoin ? bridges : [])], samples)) {
    if (!group.candidates.every((candidate) => single.has(candidate))) groups.push(group);
  }

  const described: Joined[] = [];
  const narrowestFirst = [...candidates].reverse();
  for (const { candidates: own, requests } of groups) {
    const sharing = narrowestFirst.filter((each) => own.includes(each) || !locatedOnes.has(each));
    const isWide = !own.some((each) => locatedOnes.has(each));
    described.push({ ...(yield* describeGroup(own, [...sharing, ...describing], requests, members, samples)), isWide });
  }
  return described;
}

function heaviestOf(candidates: readonly Candidate[]): Candidate[] {
  return [...candidates].sort((one, other) => other.count - one.count).slice(0, limits.incidentCandidatesMax);
}

function isLocated(key: string): boolean {
  return countedValue(key).dimensions.some((dimension) => locating.includes(dimension));
}

/** Whether the value is that of an attack of its own, which only began in the incident. */
function isApart(each: Gathered, { incident, requests, rest }: Known, samples: readonly Sample[]): boolean {
  const all = weightOf(requests, samples);
  // It has several times the share that it had at first.
  if (mayHoldMore(incident.what, each.candidate.key)) {
    const share = Math.max(incident.shares.of.get(each.candidate.key) ?? 0, incident.shares.unseen);
    if (weightOf(each.own, samples) >= growthMin * share * all) return true;
  }
  // Programs stand out of the rest, which are none: people without a session, for instance.
  return each.isOfPrograms && !areOfPrograms(rest, samples) && weightOf(rest, samples) >= restShare * all;
}

/** Whether an attack by this value may begin in an incident without being a part of it: what has a path, an address or a network is one attack. */
function mayHoldMore(what: IncidentWhat, key: string): boolean {
  if (what.path !== undefined || what.ip !== undefined || what.network !== undefined) return false;
  const isOfOneTool = what.asn !== undefined || tools.some((dimension) => dimension in what);
  return !isOfOneTool || key.startsWith("path=");
}

/** Joins groups that a wide value has in common, where they are too many to be told apart or the sources of one tool. */
function* joinBy(
  candidate: Candidate,
  own: ReadonlySet<number>,
  groups: Group[],
  samples: readonly Sample[],
): Sliced<void> {
  const touched = groups.filter(({ requests }) => overlap(own, requests, samples));
  yield;
  if (touched.length < 2) return;
  const isTool = countedValue(candidate.key).dimensions.some((dimension) => tools.includes(dimension));
  const haveNoPath = touched.every(({ candidates }) => !candidates.some(({ key }) => key.startsWith("path=")));
  if (touched.length <= apartMax && !(isTool && haveNoPath)) return;
  const [first, ...more] = touched as [Group, ...Group[]];
  for (const group of more) {
    first.candidates.push(...group.candidates);
    for (const index of group.requests) first.requests.add(index);
    groups.splice(groups.indexOf(group), 1);
  }
}

/** Groups of those that overlap. */
function* joined(gathered: readonly Gathered[], samples: readonly Sample[]): Sliced<Group[]> {
  const groups: Group[] = [];
  for (const { candidate, own } of gathered) {
    const touched: Group[] = [];
    for (const group of groups) {
      if (overlap(own, group.requests, samples)) touched.push(group);
      yield;
    }
    const joined: Group = { candidates: [candidate], requests: new Set(own) };
    for (const each of touched) {
      joined.candidates.push(...each.candidates);
      for (const index of each.requests) joined.requests.add(index);
      groups.splice(groups.indexOf(each), 1);
    }
    groups.push(joined);
  }
  return groups;
}

function* membersOf(candidates: readonly Candidate[], samples: readonly Sample[]): Sliced<Map<string, Set<number>>> {
  const members = new Map(candidates.map(({ key }) => [key, new Set<number>()]));
  for (const [index, { request }] of samples.entries()) {
    for (const key of keysOf(request)) members.get(key)?.add(index);
    if (index % samplesOfSlice === 0) yield;
  }
  return members;
}

function* membersOfIncident(what: IncidentWhat, samples: readonly Sample[]): Sliced<Set<number>> {
  const indexes = new Set<number>();
  for (const [index, { request }] of samples.entries()) {
    if (matches(request, what)) indexes.add(index);
    if (index % (10 * samplesOfSlice) === 0) yield;
  }
  return indexes;
}

function areOfPrograms(indexes: ReadonlySet<number>, samples: readonly Sample[]): boolean {
  return weightOf(indexes, samples, isOfPrograms) * 2 >= weightOf(indexes, samples);
}

function without(indexes: ReadonlySet<number>, taken: readonly ReadonlySet<number>[]): Set<number> {
  return new Set([...indexes].filter((index) => !taken.some((each) => each.has(index))));
}

function overlapsAny(own: ReadonlySet<number>, groups: readonly Group[], samples: readonly Sample[]): boolean {
  return groups.some(({ requests }) => overlap(own, requests, samples));
}

function overlap(one: ReadonlySet<number>, other: ReadonlySet<number>, samples: readonly Sample[]): boolean {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  let [isAny, weight] = [false, 0];
  for (const index of small) {
    if (!large.has(index)) continue;
    isAny = true;
    weight += samples[index]!.weight;
  }
  return isAny && weight >= overlapShare * Math.min(knownWeightOf(one, samples), knownWeightOf(other, samples));
}

/** Weights of sets that are compared with many others. Sets only grow: one of the same size is the same. */
const knownWeights = new WeakMap<ReadonlySet<number>, { readonly size: number; readonly weight: number }>();

function knownWeightOf(indexes: ReadonlySet<number>, samples: readonly Sample[]): number {
  const known = knownWeights.get(indexes);
  if (known?.size === indexes.size) return known.weight;
  const weight = weightOf(indexes, samples);
  knownWeights.set(indexes, { size: indexes.size, weight });
  return weight;
}
