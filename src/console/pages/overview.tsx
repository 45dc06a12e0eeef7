/** Overview: what needs somebody, the share of bots and its change, verdicts over time, and how the scores of the latest sessions lie. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { SessionRow } from "../../contract/sessions/session-answers.js";
import type { StatsRow } from "../../contract/traffic/stats-answers.js";
import type { Api } from "../api.js";
import { StackedBars } from "../chart.js";
import { exploreHash } from "../explore-view.js";
import { hashOf, useAddressed } from "../location.js";
import type { AddressedPageProperties, ProjectPageProperties } from "../page-properties.js";
import { Card, FreshnessLine, Loaded, PageTitle } from "../parts.js";
import { useResource } from "../resource.js";
import { actionOrder, actionWords, bandOrder, bandWords, count, plural } from "../words.js";
import { FirstSteps } from "./first-steps.js";
import { IncidentsCard } from "./incidents.js";
import { MarksCard } from "./marks.js";
import { type RuleMark, RuleMarks, ruleMarks } from "./rule-marks.js";
import { answers, ofSessions, type ShownVerdicts, stoppedPeople, Tiles } from "./tiles.js";

const hour = 3600;
const spans = {
  day: { name: "24 hours", bucket: "hour", seconds: 24 * hour, width: hour },
  week: { name: "7 days", bucket: "hour", seconds: 7 * 24 * hour, width: hour },
  month: { name: "30 days", bucket: "day", seconds: 30 * 24 * hour, width: 24 * hour },
} as const;
type SpanName = keyof typeof spans;

const refreshMs = 15_000;
/** Of what is made of many rows of counters. */
const stoppedRefreshMs = 60_000;
/** Pages of 100 sessions that the histogram is made of. */
const histogramPages = 5;

/**
 * Incidents first; then tiles and charts of the last 24 hours, 7 or 30 days, the histogram of scores, and the marks; the first steps
 * while there is no verdict yet.
 */
export function OverviewPage(
  properties: AddressedPageProperties & { readonly projectName: string; readonly onEnabled: () => void },
) {
  const { api, project, projectName, query, onEnabled } = properties;
  const [last, setSpanName] = useAddressed(query.get("last") ?? "", (name) =>
    hashOf("overview", undefined, { last: name }),
  );
  const spanName = Object.hasOwn(spans, last) ? (last as SpanName) : "day";
  const span = spans[spanName];
  const stats = useResource(
    () => {
      const from = new Date(Date.now() - (span.seconds - span.width) * 1000);
      return api.stats(project, from, span.bucket, new Date(from.getTime() - span.seconds * 1000));
    },
    [api, project, spanName],
    refreshMs,
  );
  return (
    <>
      <PageTitle title="Overview">
        <FreshnessLine of={stats} every="15 s" />
      </PageTitle>
      <FirstSteps api={api} project={project} name={projectName} onEnabled={onEnabled} />
      <IncidentsCard api={api} project={project} />
      <fieldset class="choice">
        <legend class="unseen">Time range</legend>
        {(Object.keys(spans) as SpanName[]).map((name) => (
          <label key={name}>
            <input type="radio" name="span" checked={name === spanName} onChange={() => setSpanName(name)} />
            {spans[name].name}
          </label>
        ))}
      </fieldset>
      <Loaded from={stats}>
        {({ data, compare }) => (
          <Traffic api={api} project={project} rows={data} before={compare?.data ?? []} spanName={spanName} />
        )}
      </Loaded>
      <Histogram api={api} project={project} />
      <MarksCard api={api} project={project} />
    </>
  );
}

function Traffic(
  properties: ProjectPageProperties & {
    readonly rows: readonly StatsRow[];
    /** The range before, as long. */
    readonly before: readonly StatsRow[];
    readonly spanName: SpanName;
  },
) {
  const { api, project, rows, before, spanName } = properties;
  const span = spans[spanName];
  const from = rows[0]?.at ?? "";
  const changes = useResource(() => api.ruleChanges(project, from, new Date().toISOString()), [api, project, from]);
  const stopped = useResource(
    async () => (from === "" ? undefined : await stoppedPeople(api, project, { from, seconds: span.seconds })),
    [api, project, from, span],
    stoppedRefreshMs,
  );
  const marks = useMemo(() => ruleMarks(changes.value?.data ?? []), [changes.value]);
  const hasMoreMarks = changes.value?.meta.next_cursor != null;
  // Zeros say nothing of a project where nothing has happened yet.
  const hasTraffic = [...rows, ...before].some(
    ({ events, sessions, actions }) =>
      events + sessions + Object.values(actions).reduce((one, other) => one + other) > 0,
  );
  const starts = useMemo(() => rows.map(({ at }) => Date.parse(at) / 1000), [rows]);
  const sessions = useMemo(() => rows.map(ofSessions), [rows]);
  const requests = useMemo(() => rows.map(({ requests }) => requests), [rows]);
  return (
    <>
      {hasTraffic && <Tiles rows={rows} before={before} span={span.name} time={spanName} stopped={stopped.value} />}
      <VerdictCharts
        title="Verdicts on sessions"
        subject="session"
        about="Every answer about a session counts, so a session counts as often as your site asks about it. Not computed: the session had no score or was not known."
        rows={sessions}
        starts={starts}
        span={span}
        marks={marks}
        hasMoreMarks={hasMoreMarks}
        empty="No verdict was asked for in this time."
      />
      <VerdictCharts
        title="Verdicts on requests without a session"
        subject="request"
        about={
          <>
            Each answer about a visitor without a scored session counts, while{" "}
            <a href={hashOf("settings")}>request scoring</a> is on. The figures of sessions do not include them.
          </>
        }
        rows={requests}
        starts={starts}
        span={span}
        marks={marks}
        hasMoreMarks={hasMoreMarks}
        empty="No request without a session was judged in this time."
      />
    </>
  );
}

function VerdictCharts(properties: {
  readonly title: string;
  /** What a bar leads to. */
  readonly subject: "session" | "request";
  /** What is counted. */
  readonly about: ComponentChildren;
  readonly rows: readonly ShownVerdicts[];
  readonly starts: readonly number[];
  readonly span: (typeof spans)[SpanName];
  /** When rules changed. */
  readonly marks: readonly RuleMark[];
  /** Earlier changes were not read. */
  readonly hasMoreMarks: boolean;
  readonly empty: string;
}) {
  const { title, subject, about, rows, starts, span, marks, hasMoreMarks, empty } = properties;
  const byBand = useMemo(
    () =>
      bandOrder.map((band) => ({
        name: bandWords[band],
        color: `--band-${band}`,
        values: rows.map(({ verdicts }) => verdicts[band]),
      })),
    [rows],
  );
  const byAction = useMemo(
    () =>
      actionOrder.map((action) => ({
        name: actionWords[action],
        color: `--action-${action}`,
        values: rows.map(({ actions }) => actions[action]),
      })),
    [rows],
  );
  const chart = {
    starts,
    width: span.width,
    isTime: true,
    startName: "From",
    startText: (start: number) => startText(start, span.bucket),
    marks,
    empty,
    onPick: (from: number, until: number) => {
      const iso = (seconds: number) => new Date(seconds * 1000).toISOString();
      location.hash = exploreHash({ expression: "", time: { from: iso(from), to: iso(until) }, subject });
    },
  };
  return (
    <Card title={title}>
      <p class="dim">{about}</p>
      {answers(rows) === 0 ? (
        <p class="dim empty">{empty}</p>
      ) : (
        <div class="side-by-side">
          <section aria-label={`${title}, by band`}>
            <h3>By band</h3>
            <StackedBars {...chart} label={`${title} by band, ${span.name}`} series={byBand} />
          </section>
          <section aria-label={`${title}, by action`}>
            <h3>By action</h3>
            <StackedBars {...chart} label={`${title} by action, ${span.name}`} series={byAction} />
          </section>
        </div>
      )}
      {answers(rows) > 0 && <RuleMarks marks={marks} hasMore={hasMoreMarks} />}
    </Card>
  );
}

const hours = new Intl.DateTimeFormat("en-GB", {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const days = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });

/** Hours in the operator's zone; days are days of UTC. */
function startText(start: number, bucket: "hour" | "day"): string {
  return (bucket === "hour" ? hours : days).format(new Date(start * 1000));
}

const binWidth = 5;
const bins = Array.from({ length: 20 }, (_, index) => index * binWidth);

function Histogram({ api, project }: { readonly api: Api; readonly project: number }) {
  const sessions = useResource(() => latestSessions(api, project), [api, project]);
  return (
    <Card title="Scores of the latest sessions" aside={<FreshnessLine of={sessions} />}>
      <p class="dim">Lower means more certainly a bot. Sessions without a score and verified bots are not included.</p>
      <Loaded from={sessions}>{(rows) => <Scores rows={rows} />}</Loaded>
    </Card>
  );
}

function Scores({ rows }: { readonly rows: readonly SessionRow[] }) {
  const scored = useMemo(() => rows.filter(({ score, verdict }) => score > 0 && verdict !== "verified"), [rows]);
  const verified = rows.filter(({ verdict }) => verdict === "verified").length;
  const series = useMemo(
    () =>
      bandOrder
        .filter((band) => band !== "not_computed" && band !== "verified")
        .map((band) => {
          const values = bins.map(() => 0);
          for (const { score, verdict } of scored) if (verdict === band) values[Math.floor(score / binWidth)]!++;
          return { name: bandWords[band], color: `--band-${band}`, values };
        }),
    [scored],
  );
  return (
    <>
      <StackedBars
        label={`Scores of the latest ${plural(scored.length, "session")}`}
        starts={bins}
        width={binWidth}
        isTime={false}
        startName="Score"
        startText={(start) => `${Math.max(1, start)} to ${start + binWidth - 1}`}
        series={series}
        empty="No session has a score yet."
        onPick={(from, until) => {
          location.hash = exploreHash({ expression: scoresIn(from, until - 1), time: "week" });
        }}
      />
      {rows.length > 0 && (
        <p class="dim">
          {plural(scored.length, "scored session")} of the latest {count(rows.length)}. Click a bar to explore such
          sessions of the last 7 days.
          {verified > 0 && ` Not included: ${plural(verified, "session")} of verified bots, whatever their score.`}
        </p>
      )}
    </>
  );
}

function scoresIn(from: number, to: number): string {
  return `score >= ${Math.max(1, from)} AND score <= ${to}`;
}

async function latestSessions(api: Api, project: number): Promise<SessionRow[]> {
  const rows: SessionRow[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < histogramPages; page++) {
    const { data, meta } = await api.sessions(project, cursor);
    rows.push(...data);
    cursor = meta.next_cursor;
    if (cursor === null) break;
  }
  return rows;
}
