/** Checks compiled by typia from the contract's types. The only file that calls typia. */
import typia from "typia";
import type { IngestEvents } from "./events.js";

/** Where and why a value does not fit its type: `path` as in `events[3].payload.x`, `expected` as a TypeScript type. */
export interface Mismatch {
  readonly path: string;
  readonly expected: string;
}

/** True when the value is a list of events with no key beyond the whitelist. The fast path: it builds no report. */
export const areIngestEvents = typia.createEquals<IngestEvents>();

const reportIngestEvents = typia.createValidateEquals<IngestEvents>();

/** The first reason why `areIngestEvents` said no. */
export function ingestEventsMismatch(value: unknown): Mismatch | null {
  const report = reportIngestEvents(value);
  if (report.success) return null;
  const first = report.errors[0]!;
  return { path: first.path.replace("$input", "events"), expected: first.expected };
}
