/** What the detector of incidents is told of a judged request, and the values by which it counts it. */
import type { TrafficDimension } from "../contract/traffic/traffic.js";
import type { Action, Band } from "../contract/verdicts/verdict.js";

/** One judged request or computed verdict, or `weight` of them like it. Can be posted to other threads. */
export interface CountedRequest {
  readonly projectId: number;
  readonly atMs: number;
  readonly weight: number;
  /** Values by dimension; absent: unknown. */
  readonly values: Readonly<Partial<Record<TrafficDimension, string>>>;
  /** Ids behind the score. */
  readonly detectionIds: readonly number[];
  readonly hasSession: boolean;
  readonly band: Band;
  readonly action: Action;
  /** Whether a rule decided the action. */
  readonly isByRule: boolean;
  readonly isLoggedIn: boolean;
}

/** What incidents are looked for by: one value, or two of which the first is a path. */
interface CountedValue {
  readonly dimensions: readonly TrafficDimension[];
  readonly values: readonly string[];
}

const pairedWithPath: readonly TrafficDimension[] = ["network", "asn", "user_agent_family"];
const separator = "\u0000";

/** The keys of all values and pairs of a request. A key is read with `countedValue`. */
export function keysOf({ values, detectionIds }: Pick<CountedRequest, "values" | "detectionIds">): string[] {
  const keys: string[] = [];
  for (const dimension in values)
    keys.push(keyOf(dimension as TrafficDimension, values[dimension as TrafficDimension]!));
  for (const id of detectionIds) keys.push(keyOf("detection", String(id)));
  const { path } = values;
  if (path === undefined) return keys;
  for (const dimension of pairedWithPath) {
    const value = values[dimension];
    if (value !== undefined) keys.push(`${keyOf("path", path)}${separator}${keyOf(dimension, value)}`);
  }
  return keys;
}

function keyOf(dimension: TrafficDimension, value: string): string {
  return `${dimension}=${value}`;
}

/** The dimensions and values of a key. */
export function countedValue(key: string): CountedValue {
  const parts = key.split(separator).map((part) => {
    const at = part.indexOf("=");
    return { dimension: part.slice(0, at) as TrafficDimension, value: part.slice(at + 1) };
  });
  return { dimensions: parts.map(({ dimension }) => dimension), values: parts.map(({ value }) => value) };
}

/** Whether programs are likely behind it: a bot band, no session, or a rule that answered. */
export function isSuspicious(request: CountedRequest): boolean {
  return !request.hasSession || isOfPrograms(request);
}

/** Whether it is known as a program's: a bot band, or a rule that answered. */
export function isOfPrograms({ band, isByRule }: CountedRequest): boolean {
  return isByRule || band === "definite" || band === "confident_automated" || band === "likely_automated";
}
