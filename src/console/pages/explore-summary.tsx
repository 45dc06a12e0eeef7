/** Explore's headline and chart: how many, of how many, since when, and what the numbers can't say. */
import { useMemo } from "preact/hooks";
import { StackedBars } from "../chart.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Card, Fault } from "../parts.js";
import { useResource } from "../resource.js";
import { bandOrder, bandWords, count, plural, time, zone } from "../words.js";
import { MissingFields } from "./backtest.js";
import type { Shown } from "./explore-shown.js";
import { RuleMarks, ruleMarks } from "./rule-marks.js";

/** The whole, scaled up from a sample where it is one (`≈`); what it was in the range before; what is not in it. */
export function Headline({
  shown,
  noun,
  note,
}: {
  readonly shown: Shown;
  readonly noun: string;
  readonly note: string;
}) {
  const { from, to, matched, total, isEstimate, unavailableFields, before } = shown;
  const percent = (part: number, whole: number | null) =>
    whole === null || whole === 0 ? "" : ` (${Math.round((1000 * part) / whole) / 10}%)`;
  return (
    <>
      <p class="headline" role="status">
        {isEstimate && "≈ "}
        {plural(matched, noun)}
        {total !== null && ` of ${count(total)}`}
        {percent(matched, total)}
      </p>
      {before !== null && (
        <p>
          In the previous period of the same length: {count(before.matched)}
          {percent(before.matched, before.total)}, so {changeOf(matched, before.matched)}.
        </p>
      )}
      <p class="dim">
        From {time(from)} to {time(to)} ({zone()}). {note}
      </p>
      {unavailableFields.length > 0 && (
        <p class="notice">
          <MissingFields names={unavailableFields} />
        </p>
      )}
    </>
  );
}

/** In words, "as many" for no change. */
function changeOf(now: number, before: number): string {
  if (now === before) return "as many";
  if (before === 0) return `${count(now)} more`;
  const percent = Math.round((100 * Math.abs(now - before)) / before);
  return `${percent}% ${now > before ? "more" : "fewer"}`;
}

const barStart = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** Bars by band; a bar or several narrow the time. Dashed lines are changes of rules. */
export function Chart(
  properties: ProjectPageProperties & {
    readonly shown: Shown;
    readonly title: string;
    readonly empty: string;
    readonly onRange: (from: string, to: string) => void;
  },
) {
  const { api, project, shown, title, empty, onRange } = properties;
  const { from, to, bars, barSeconds } = shown;
  const changes = useResource(() => api.ruleChanges(project, from, to), [api, project, from, to]);
  const marks = useMemo(() => ruleMarks(changes.value?.data ?? []), [changes.value]);
  const starts = useMemo(() => bars.map(({ at }) => Date.parse(at) / 1000), [bars]);
  const series = useMemo(
    () =>
      bandOrder.map((band) => ({
        name: bandWords[band],
        color: `--band-${band}`,
        values: bars.map(({ verdicts }) => verdicts[band]),
      })),
    [bars],
  );
  const isoTime = (seconds: number) => new Date(seconds * 1000).toISOString();
  const pick = (start: number, until: number) => {
    onRange(isoTime(start), isoTime(Math.min(until, Math.ceil(Date.parse(to) / 1000))));
  };
  return (
    <Card title={title}>
      <StackedBars
        label={`${title}, by band`}
        starts={starts}
        width={barSeconds}
        isTime
        startName="From"
        startText={(start) => barStart.format(new Date(start * 1000))}
        series={series}
        empty={empty}
        marks={marks}
        onPick={pick}
      />
      <Fault of={changes.fault} />
      <RuleMarks marks={marks} hasMore={changes.value?.meta.next_cursor != null} />
      {shown.matched > 0 && <p class="dim">Click a bar, or drag over several, to narrow the time range.</p>}
    </Card>
  );
}
