/** What the page Explore shows, as its address has it: an expression and a time, so that a link shows the same. */
import { hashOf } from "./location.js";

/** The presets of the time choice, each as its button says it and in seconds back from now. */
export const spans = {
  hour: { name: "1 hour", seconds: 3600 },
  day: { name: "24 hours", seconds: 24 * 3600 },
  week: { name: "7 days", seconds: 7 * 24 * 3600 },
  month: { name: "30 days", seconds: 30 * 24 * 3600 },
} as const;
/** A preset, as `last` of the address names it. */
export type SpanName = keyof typeof spans;

/** What an address of Explore asks for; an empty expression is every session. */
export interface ExploreView {
  readonly expression: string;
  /** The last so long; or from a time until another, in ISO-8601. */
  readonly time: SpanName | { readonly from: string; readonly to: string };
  /** Stored sessions, or judged requests without one; default: sessions. */
  readonly subject?: "session" | "request";
  /** With the range before, as long. */
  readonly isCompared?: boolean;
}

/** The view that the query of an address describes. Anything unreadable in it stands for the last 24 hours, or for every session. */
export function viewOf(query: URLSearchParams): ExploreView {
  const [from, to, last] = [timeOf(query.get("from")), timeOf(query.get("to")), query.get("last") ?? "day"];
  const time = from !== null && to !== null && from < to ? { from, to } : isSpan(last) ? last : "day";
  const subject = query.get("of") === "requests" ? "request" : "session";
  return { expression: query.get("q") ?? "", time, subject, isCompared: query.get("compare") === "before" };
}

/** The address of a view, from `#` on: `viewOf` reads the same view from it. `project`: for a link that leaves this page. */
export function exploreHash(view: ExploreView, project?: number): string {
  const { expression, time, subject, isCompared } = view;
  const part = typeof time === "string" ? { last: time } : { from: time.from, to: time.to };
  const query = {
    ...(expression !== "" && { q: expression }),
    ...(subject === "request" && { of: "requests" }),
    ...(isCompared === true && { compare: "before" }),
    ...part,
  };
  return project === undefined ? hashOf("explore", undefined, query) : hashOf("explore", undefined, query, project);
}

/** When the sessions began that a view asks for now. */
export function rangeOf({ time }: ExploreView): { from: string; to?: string } {
  if (typeof time !== "string") return time;
  return { from: new Date(Date.now() - spans[time].seconds * 1000).toISOString() };
}

/** The shortest preset that reaches back to a time; of an older one the day before and after. */
export function timeAround(iso: string): ExploreView["time"] {
  const atMs = Date.parse(iso);
  const names = Object.keys(spans) as SpanName[];
  const name = names.find((each) => each !== "hour" && Date.now() - atMs < spans[each].seconds * 1000 - marginMs);
  const text = (ms: number) => new Date(ms).toISOString();
  return name ?? { from: text(atMs - spans.day.seconds * 1000), to: text(atMs + spans.day.seconds * 1000) };
}

/** A preset ends now: what began so shortly after its start would be gone in a moment. */
const marginMs = 600_000;

function isSpan(text: string): text is SpanName {
  return Object.hasOwn(spans, text);
}

/** As the API takes it; null for what is no time. */
function timeOf(text: string | null): string | null {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
