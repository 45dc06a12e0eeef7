/** A session's timeline as it is shown: its pointer path drawn, its events as lines of the timeline, and how much of it there is. */

import type { EventType } from "../../contract/events/events.js";
import type { TimelineAnswer } from "../../contract/sessions/session-answers.js";
import type { ExploreView } from "../explore-view.js";
import { count } from "../words.js";
import { ExploredText } from "./explored.js";

/** One line of the timeline: so many events of a type at a time, on a path (null: none). */
export type TimelineLine = TimelineAnswer["moments"][number];
type TimelinePoint = TimelineAnswer["points"][number];

const words: Readonly<Record<EventType, string>> = {
  page: "Page",
  visibility: "Page shown or hidden",
  focus: "Focus gained or lost",
  heartbeat: "Still on the page",
  mouse: "Pointer moved",
  click: "Click",
  touch: "Touch",
  scroll: "Scrolled",
  key: "Typed",
  form: "Form",
  env: "Browser checked",
  timing: "Page load timing",
};

/** An entry in words: its type, its path, which leads to sessions that ended there (`time`), and how many events if more than one. */
export function Entry({ of, time }: { readonly of: TimelineLine; readonly time: ExploreView["time"] }) {
  const { type, count: times, path } = of;
  return (
    <>
      {words[type]} {path !== null && <ExploredText field="path" value={path} time={time} />}{" "}
      {times > 1 && <span class="dim">{count(times)} times</span>}
    </>
  );
}

/** Says what the timeline lacks. */
export function RecordedShare({
  timeline: { noted },
  eventCount,
}: {
  readonly timeline: TimelineAnswer;
  readonly eventCount: number;
}) {
  if (noted >= eventCount) return <p class="dim">It covers all events of the session; the oldest lines may be gone.</p>;
  return (
    <p class="dim">
      {noted === 0 ? "No events are listed" : `${count(noted)} of ${count(eventCount)} events are covered`}: kinds and
      times are kept only for a project’s latest sessions, and under load only for some of these.
    </p>
  );
}

const margin = 12;

/** To scale, cut to where the pointer was. */
export function PointerPath({ points }: { readonly points: readonly TimelinePoint[] }) {
  if (points.length === 0) return <p class="dim">No pointer path is kept for this session.</p>;
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  const [width, height] = [Math.max(...xs) - left + margin, Math.max(...ys) - top + margin];
  const marks = points.filter(({ kind }) => kind !== "move");
  const [first, last] = [points[0]!, points.at(-1)!];
  const clicks = marks.filter(({ kind }) => kind === "click").length;
  const label = `Pointer path of ${points.length} points within ${width - 2 * margin} by ${height - 2 * margin} pixels, clicks: ${clicks}`;
  return (
    <>
      <svg class="path" viewBox={`${left} ${top} ${width} ${height}`} role="img" aria-label={label}>
        <polyline points={points.map(({ x, y }) => `${x},${y}`).join(" ")} />
        {points.map(({ x, y }, index) => (
          <circle key={index} class="step" cx={x} cy={y} r="2" />
        ))}
        {marks.map(({ x, y, kind }, index) => (
          <circle key={index} class={kind} cx={x} cy={y} r="7" />
        ))}
        <circle class="first" cx={first.x} cy={first.y} r="5" />
        <rect class="last" x={last.x - 5} y={last.y - 5} width="10" height="10" />
      </svg>
      <p class="dim">
        The latest {count(points.length)} points on a grid of 4 pixels: filled circle first, square last, rings for
        clicks and touches.
      </p>
    </>
  );
}
