/** Describes an incident by the narrowest values that its requests share. */
import type { IncidentWhat } from "../contract/incidents/incidents.js";
import type { TrafficDimension } from "../contract/traffic/traffic.js";
import { type CountedRequest, countedValue, isSuspicious } from "./counted-request.js";
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
export interface Described {
  readonly what: IncidentWhat;
  readonly baseline: number;
}

/** Share of an incident's automated requests that a value of its description has at least. */
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

/** What the samples with these indexes, of those that `counts` holds for, stand for. */
export function weightOf(
  indexes: Iterable<number>,
  samples: readonly Sample[],
  counts: (request: CountedRequest) => boolean = () => true,
): number {
  let weight = 0;
  for (const index of indexes) if (counts(samples[index]!.request)) weight += samples[index]!.weight;
  return weight;
}

/** Returns those of the `sharing` values that most requests of the group share; where none are, its heaviest. `members`: indexes of `samples` by value. */
export function* describeGroup(
  candidates: readonly Candidate[],
  sharing: readonly Candidate[],
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
  for (const candidate of sharing) {
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
