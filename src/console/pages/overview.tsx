/** Overview: verdicts over time by band and by action, and how the scores of the latest sessions lie. */
import { useMemo, useState } from "preact/hooks";
import type { SessionRow, StatsRow } from "../../contract/api-answers.js";
import type { Api } from "../api.js";
import type { ProjectPageProperties } from "../app.js";
import { StackedBars } from "../chart.js";
import { hashOf } from "../location.js";
import { Card, Freshness, Loaded, PageTitle } from "../parts.js";
import { useResource } from "../resource.js";
import { actionOrder, actionWords, bandOrder, bandWords, count, plural } from "../words.js";

const hour = 3600;
const spans = {
  day: { name: "24 hours", bucket: "hour", seconds: 24 * hour, width: hour },
  week: { name: "7 days", bucket: "hour", seconds: 7 * 24 * hour, width: hour },
  month: { name: "30 days", bucket: "day", seconds: 30 * 24 * hour, width: 24 * hour },
} as const;
type SpanName = keyof typeof spans;

const refreshMs = 15_000;
/** Pages of 100 sessions that the histogram is made of. */
const histogramPages = 5;

export function OverviewPage({ api, project, isEnabled }: ProjectPageProperties & { readonly isEnabled: boolean }) {
  const [spanName, setSpanName] = useState<SpanName>("day");
  const span = spans[spanName];
  const stats = useResource(
    () => api.stats(project, new Date(Date.now() - (span.seconds - span.width) * 1000), span.bucket),
    [api, project, spanName],
    refreshMs,
  );
  return (
    <>
      <PageTitle title="Overview">
        <Freshness of={stats} every="15 s" />
      </PageTitle>
      {!isEnabled && (
        <p class="notice">
          Scoring is not enabled on this project: no key can send events yet.{" "}
          <a href={hashOf("keys")}>Enable it under Keys</a>.
        </p>
      )}
      <fieldset class="choice">
        <legend class="unseen">Time shown</legend>
        {(Object.keys(spans) as SpanName[]).map((name) => (
          <label key={name}>
            <input type="radio" name="span" checked={name === spanName} onChange={() => setSpanName(name)} />
            {spans[name].name}
          </label>
        ))}
      </fieldset>
      <Loaded from={stats}>{({ data }) => <Traffic rows={data} span={span} />}</Loaded>
      <Histogram api={api} project={project} />
    </>
  );
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function Traffic({ rows, span }: { readonly rows: readonly StatsRow[]; readonly span: (typeof spans)[SpanName] }) {
  const starts = useMemo(() => rows.map(({ at }) => Date.parse(at) / 1000), [rows]);
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
    empty: "No verdict was asked for in this time.",
  };
  const verdicts = sum(byBand.flatMap(({ values }) => values));
  return (
    <>
      <dl class="tiles">
        <Tile name="Events" value={sum(rows.map(({ events }) => events))} />
        <Tile name="New sessions" value={sum(rows.map(({ sessions }) => sessions))} />
        <Tile name="Verdicts" value={verdicts} />
        <Tile name="Blocked" value={sum(rows.map(({ actions }) => actions.block))} />
        <Tile name="Challenges issued" value={sum(rows.map(({ challenges }) => challenges.issued))} />
        <Tile name="Challenges passed" value={sum(rows.map(({ challenges }) => challenges.passed))} />
        <Tile name="Challenges failed" value={sum(rows.map(({ challenges }) => challenges.failed))} />
      </dl>
      <div class="side-by-side">
        <Card title="Verdicts by band">
          <StackedBars {...chart} label={`Verdicts by band, ${span.name}`} series={byBand} />
        </Card>
        <Card title="Verdicts by action">
          <StackedBars {...chart} label={`Verdicts by action, ${span.name}`} series={byAction} />
        </Card>
      </div>
    </>
  );
}

function Tile({ name, value }: { readonly name: string; readonly value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{count(value)}</dd>
    </div>
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
    <Card title="Scores of the latest sessions" aside={<Freshness of={sessions} />}>
      <p class="dim">Lower is more bot-confident. Sessions without a score are left out.</p>
      <Loaded from={sessions}>{(rows) => <Scores rows={rows} />}</Loaded>
    </Card>
  );
}

function Scores({ rows }: { readonly rows: readonly SessionRow[] }) {
  const scored = useMemo(() => rows.filter(({ score }) => score > 0), [rows]);
  const series = useMemo(
    () =>
      bandOrder
        .filter((band) => band !== "not_computed")
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
      />
      <p class="dim">
        {plural(scored.length, "scored session")} of the latest {count(rows.length)}.
      </p>
    </>
  );
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
