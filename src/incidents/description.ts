/** Joins values that are suddenly heavy to incidents, each described by the narrowest values that its requests share. */
import type { IncidentWhat } from "../contract/incidents.js";
import type { TrafficDimension } from "../contract/traffic.js";
import { limits } from "../limits.js";
import { type CountedRequest, countedValue, isSuspicious, keysOf } from "./counted-request.js";
import type { Sliced } from "./sliced.js";
import type { WindowCount } from "./value-counts.js";

/** A kept request, and how many of its minute it stands for. */
export interface Sample {
  readonly request: CountedRequest;
  readonly weight: number;
}

/** A value that is suddenly heavy, with its baseline. */
export interface Candidate extends WindowCount {
  readonly baseline: number;
}

/** Candidates that are one incident. */
interface Described {
  readonly what: IncidentWhat;
  readonly baseline: number;
}

/** Share of the smaller one's requests from which two values overlap. */
const overlapShare = 0.5;
/** Share of an incident's requests of programs that a value of its description has at least. */
const describingShare = 0.8;

/** Dimensions that say less than another one that describes the incident too. */
const impliedBy: readonly (readonly [implied: TrafficDimension, by: readonly TrafficDimension[]])[] = [
  ["network", ["ip"]],
  ["asn", ["ip", "network"]],
  ["country", ["ip", "network", "asn"]],
  ["detection", ["path", "ip", "network", "asn", "country", "user_agent_family", "declared_bot", "agent", "host"]],
  [
    "rule",
    ["path", "ip", "network", "asn", "country", "user_agent_family", "declared_bot", "agent", "host", "detection"],
  ],
  ["user_agent_family", ["declared_bot", "verified_bot"]],
  ["agent", ["declared_bot", "verified_bot"]],
];

/** Whether a request has all values of an incident. */
export function matches({ values, detectionIds }: CountedRequest, what: IncidentWhat): boolean {
  for (const dimension in what) {
    const wanted = what[dimension as TrafficDimension]!;
    if (
      dimension === "detection"
        ? !detectionIds.includes(Number(wanted))
        : values[dimension as TrafficDimension] !== wanted
    ) {
      return false;
    }
  }
  return true;
}

/** One text for equal descriptions. */
export function nameOf(what: IncidentWhat): string {
  return Object.entries(what)
    .map(([dimension, value]) => `${dimension}=${value}`)
    .sort()
    .join("\u0000");
}

/** Samples that are looked at in a slice. */
const samplesOfSlice = 50;

/**
 * Joins candidates whose requests overlap. Those that overlap with `open` are these incidents' own and left out. `companions` have risen as much, and are
 * too few for an incident of their own: they only describe. `samples` are of the window.
 */
export function* joinCandidates(
  given: readonly Candidate[],
  companions: readonly Candidate[],
  samples: readonly Sample[],
  open: readonly IncidentWhat[],
): Sliced<Described[]> {
  const candidates = [...given].sort((one, other) => other.count - one.count).slice(0, limits.incidentCandidatesMax);
  const describing = [...companions]
    .sort((one, other) => other.count - one.count)
    .slice(0, limits.incidentCandidatesMax);
  const members = yield* membersOf([...candidates, ...describing], samples);
  const known: Set<number>[] = [];
  for (const what of open) {
    known.push(yield* membersOfIncident(what, samples));
  }
  const left: Candidate[] = [];
  for (const candidate of candidates) {
    const own = members.get(candidate.key)!;
    if (own.size > 0 && !(yield* overlapsAny(own, known, samples))) left.push(candidate);
  }
  const groups: { readonly candidates: Candidate[]; requests: Set<number> }[] = [];
  for (const candidate of left) {
    const own = members.get(candidate.key)!;
    const touched: (typeof groups)[number][] = [];
    for (const group of groups) {
      if (overlap(own, group.requests, samples)) touched.push(group);
      yield;
    }
    const joined = { candidates: [candidate], requests: new Set(own) };
    for (const each of touched) {
      joined.candidates.push(...each.candidates);
      for (const index of each.requests) joined.requests.add(index);
      groups.splice(groups.indexOf(each), 1);
    }
    groups.push(joined);
  }
  const described: Described[] = [];
  for (const group of groups) {
    described.push(yield* describeGroup(group.candidates, describing, group.requests, members, samples));
  }
  return described;
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

function weightOf(indexes: Iterable<number>, samples: readonly Sample[]): number {
  let weight = 0;
  for (const index of indexes) weight += samples[index]!.weight;
  return weight;
}

function* overlapsAny(
  own: ReadonlySet<number>,
  others: readonly ReadonlySet<number>[],
  samples: readonly Sample[],
): Sliced<boolean> {
  for (const other of others) {
    if (overlap(own, other, samples)) return true;
    yield;
  }
  return false;
}

function overlap(one: ReadonlySet<number>, other: ReadonlySet<number>, samples: readonly Sample[]): boolean {
  const [small, large] = one.size < other.size ? [one, other] : [other, one];
  let [isAny, weight] = [false, 0];
  for (const index of small) {
    if (!large.has(index)) continue;
    isAny = true;
    weight += samples[index]!.weight;
  }
  return isAny && weight >= overlapShare * Math.min(weightOf(one, samples), weightOf(other, samples));
}

/** The values that most requests of the group share; where none are, its heaviest value. */
function* describeGroup(
  candidates: readonly Candidate[],
  companions: readonly Candidate[],
  requests: ReadonlySet<number>,
  members: ReadonlyMap<string, ReadonlySet<number>>,
  samples: readonly Sample[],
): Sliced<Described> {
  // People may share a value with programs: these say what describes them.
  const programs = new Set([...requests].filter((index) => isSuspicious(samples[index]!.request)));
  const all = weightOf(programs, samples);
  const heaviest = candidates.reduce((found, each) => (each.count > found.count ? each : found));
  const shared = new Map<TrafficDimension, { value: string; weight: number }>();
  let described: Candidate | undefined;
  for (const candidate of [...candidates, ...companions]) {
    let weight = 0;
    for (const index of members.get(candidate.key)!) if (programs.has(index)) weight += samples[index]!.weight;
    yield;
    if (weight < describingShare * all) continue;
    if (described === undefined || candidate.count < described.count) described = candidate;
    const { dimensions, values } = countedValue(candidate.key);
    for (const [at, dimension] of dimensions.entries()) {
      const found = shared.get(dimension);
      if (found === undefined || found.weight < weight) shared.set(dimension, { value: values[at]!, weight });
    }
  }
  if (described === undefined) return { what: whatOf(heaviest), baseline: heaviest.baseline };
  const what: IncidentWhat = {};
  for (const [dimension, { value }] of shared) {
    const implied = impliedBy.find(([name]) => name === dimension)?.[1] ?? [];
    if (!implied.some((by) => shared.has(by))) what[dimension] = value;
  }
  return { what, baseline: described.baseline };
}

function whatOf({ key }: Candidate): IncidentWhat {
  const { dimensions, values } = countedValue(key);
  return Object.fromEntries(dimensions.map((dimension, at) => [dimension, values[at]!]));
}
