/** What became of a rule: its hits over time, the last one, and beside it the pass rate of its challenges. */

import { useMemo } from "preact/hooks";
import type { RuleHits, RuleMinutesAnswer, StatsRow } from "../../contract/traffic/stats-answers.js";
import type { Api } from "../api.js";
import { StackedBars } from "../chart.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Card, FreshnessLine, Loaded, Time, Trend } from "../parts.js";
import { useResource } from "../resource.js";
import { count, plural } from "../words.js";
import { challengesByRule, PassRate } from "./pass-rate.js";

const daySeconds = 24 * 3600;
const days = 7;

/** By the rule's id; a rule that matched nothing is not in it. */
export type HitsByRule = Readonly<Record<string, RuleHits>>;

/** Hits of the last days by the rule's id. */
export async function hitsByRule(api: Api, project: number): Promise<HitsByRule> {
  const { data } = await api.statsByRule(project, new Date(Date.now() - (days - 1) * daySeconds * 1000), "day");
  const sums: Record<string, RuleHits> = {};
  for (const [rule, hits] of data.flatMap(({ hits_by_rule = {} }) => Object.entries(hits_by_rule))) {
    const before = sums[rule] ?? { sessions: 0, requests: 0 };
    sums[rule] = {
      sessions: before.sessions + hits.sessions,
      requests: before.requests + hits.requests,
      last_at: hits.last_at,
    };
  }
  return sums;
}

/** How often the list of rules and a rule's page ask again, ms. */
export const hitsRefreshMs = 15_000;

/** In one line: how often, and when last; then the last hour by minute, where there was anything. */
export function HitsLine(properties: {
  readonly hits: RuleHits | undefined;
  readonly rule: number;
  readonly minutes: RuleMinutesAnswer["data"] | undefined;
}) {
  const { hits, rule, minutes = [] } = properties;
  const byMinute = minutes.map(({ hits_by_rule }) => allOf(hits_by_rule[rule]));
  const ofHour = byMinute.reduce((sum, each) => sum + each, 0);
  return (
    <p class="pass-rate dim">
      {hits === undefined ? (
        `No verdict matched in the last ${days} days.`
      ) : (
        <>
          Matched {countsOf(hits)} in the last {days} days, last <Time at={hits.last_at} />
        </>
      )}
      {ofHour > 0 && (
        <span class="line">
          {count(ofHour)} in the last hour{" "}
          <Trend of={byMinute} label={`${count(ofHour)} in the last hour, by minute`} />
        </span>
      )}
    </p>
  );
}

const allOf = (hits: { readonly sessions: number; readonly requests: number } | undefined): number =>
  (hits?.sessions ?? 0) + (hits?.requests ?? 0);

/** Sessions' verdicts and requests' are told apart; of which there was none is not named. */
function countsOf({ sessions, requests }: RuleHits): string {
  const onSessions = sessions === 1 ? "on a session" : "on sessions";
  const onRequests = requests === 1 ? "on a request without a session" : "on requests without a session";
  if (requests === 0) return `${plural(sessions, "verdict")} ${onSessions}`;
  if (sessions === 0) return `${plural(requests, "verdict")} ${onRequests}`;
  return `${plural(sessions, "verdict")} ${onSessions} and ${count(requests)} ${onRequests}`;
}

/** The card of the rule's own page. */
export function RuleHitsCard(
  properties: ProjectPageProperties & { readonly rule: number; readonly isChallenge: boolean },
) {
  const { api, project, rule, isChallenge } = properties;
  const stats = useResource(
    () => api.statsByRule(project, new Date(Date.now() - days * daySeconds * 1000), "hour"),
    [api, project, rule],
  );
  const minutes = useResource(() => api.ruleHits(project), [api, project, rule], hitsRefreshMs);
  const challenges = useResource(() => challengesByRule(api, project), [api, project, rule]);
  return (
    <Card title="Hits" aside={<FreshnessLine of={stats} />}>
      {minutes.value !== undefined && <LastHour rows={minutes.value.data} rule={rule} />}
      <Loaded from={stats}>{({ data }) => <Hits rows={data} rule={rule} />}</Loaded>
      {challenges.value !== undefined && <PassRate of={challenges.value} rule={rule} isChallenge={isChallenge} />}
    </Card>
  );
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** The last 60 minutes: for whoever has just switched the rule on. */
function LastHour({ rows, rule }: { readonly rows: RuleMinutesAnswer["data"]; readonly rule: number }) {
  const starts = useMemo(() => rows.map(({ at }) => Date.parse(at) / 1000), [rows]);
  const series = useMemo(
    () =>
      (["sessions", "requests"] as const).map((name) => ({
        name: name === "sessions" ? "On sessions" : "On requests without a session",
        color: name === "sessions" ? "--accent" : "--band-likely_automated",
        values: rows.map(({ hits_by_rule }) => hits_by_rule[rule]?.[name] ?? 0),
      })),
    [rows, rule],
  );
  const total = series.flatMap(({ values }) => values).reduce((sum, each) => sum + each, 0);
  return (
    <section aria-label="Hits by minute">
      <h3>Last hour, by minute</h3>
      {total === 0 ? (
        <p class="dim">It matched no verdict in the last hour.</p>
      ) : (
        <StackedBars
          label="Verdicts that the rule matched in the last hour, by minute"
          starts={starts}
          width={60}
          isTime
          startName="From"
          startText={(start) => clock.format(new Date(start * 1000))}
          series={series}
          empty=""
        />
      )}
      <h3>Last {days} days, by hour</h3>
    </section>
  );
}

const hours = new Intl.DateTimeFormat("en-GB", { weekday: "short", hour: "2-digit", minute: "2-digit" });

function Hits({ rows, rule }: { readonly rows: readonly StatsRow[]; readonly rule: number }) {
  const starts = useMemo(() => rows.map(({ at }) => Date.parse(at) / 1000), [rows]);
  const hits = useMemo(() => rows.map(({ hits_by_rule }) => hits_by_rule?.[rule]), [rows, rule]);
  const onSessions = useMemo(
    () => [{ name: "On sessions", color: "--accent", values: hits.map((each) => each?.sessions ?? 0) }],
    [hits],
  );
  const onRequests = useMemo(
    () => [
      { name: "On requests without a session", color: "--accent", values: hits.map((each) => each?.requests ?? 0) },
    ],
    [hits],
  );
  const hasRequests = hits.some((each) => (each?.requests ?? 0) > 0);
  const hasSessions = hits.some((each) => (each?.sessions ?? 0) > 0);
  const axis = {
    starts,
    width: 3600,
    isTime: true,
    startName: "From",
    startText: (start: number) => hours.format(new Date(start * 1000)),
    empty: "Only active rules are evaluated.",
  };
  const last = hits.findLast((each) => each !== undefined)?.last_at;
  return (
    <>
      <p>
        {last === undefined ? (
          `It matched no verdict in the last ${days} days.`
        ) : (
          <>
            Last match: <Time at={last} />
          </>
        )}
      </p>
      {(hasSessions || !hasRequests) && (
        <StackedBars
          {...axis}
          label={`Verdicts on sessions that the rule matched in the last ${days} days`}
          series={onSessions}
        />
      )}
      {hasRequests && (
        <StackedBars
          {...axis}
          label={`Verdicts on requests without a session that the rule matched in the last ${days} days`}
          series={onRequests}
        />
      )}
      <p class="dim">
        Computed verdicts that it decided or logged; answers from the cache are not counted, and rules below one that
        decides are not evaluated.
      </p>
    </>
  );
}
