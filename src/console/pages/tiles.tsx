/** The overview's figures: how much of what was judged were bots and what became of it, sessions and requests apart, each with its change. */
import type { ComponentChildren } from "preact";
import type { StatsRow } from "../../contract/traffic/stats-answers.js";
import type { TrafficAnswer } from "../../contract/traffic/traffic-answers.js";
import type { Band, VerdictSubject } from "../../contract/verdicts/verdict.js";
import type { Api } from "../api.js";
import { type ExploreView, exploreHash } from "../explore-view.js";
import { hashOf } from "../location.js";
import { Card } from "../parts.js";
import { count } from "../words.js";

/** Counts of verdicts by band and by action. */
export type ShownVerdicts = StatsRow["requests"];

/** The totals count both: what is left without the requests. */
export function ofSessions({ verdicts, actions, requests }: StatsRow): ShownVerdicts {
  return { verdicts: difference(verdicts, requests.verdicts), actions: difference(actions, requests.actions) };
}

function difference<Counts extends object>(total: Counts, part: Counts): Counts {
  const names = Object.keys(total) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, Number(total[name]) - Number(part[name])])) as Counts;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** How many verdicts there were. */
export const answers = (rows: readonly ShownVerdicts[]): number =>
  sum(rows.flatMap(({ actions }) => Object.values(actions)));

const botBands: readonly Band[] = ["definite", "confident_automated", "likely_automated"];
const judgedBands: readonly Band[] = [...botBands, "likely_human", "verified"];
const stoppedCondition = 'band == "likely_human" AND action in {"block", "challenge"}';
const botCondition = 'band in {"definite", "confident_automated", "likely_automated"}';

/** 0 to 1: of what had a score, or is a verified bot; null where there was nothing. */
function botShare(rows: readonly ShownVerdicts[]): number | null {
  const of = (bands: readonly Band[]) => sum(rows.flatMap(({ verdicts }) => bands.map((band) => verdicts[band])));
  const all = of(judgedBands);
  return all === 0 ? null : of(botBands) / all;
}

/** Verdicts on likely people that blocked or challenged, in a range and in the one before, as long. */
interface Stopped {
  readonly now: number;
  readonly before: number;
}

/** By subject, from the counters of traffic: the counts of stats have no bands of an action. */
export async function stoppedPeople(
  api: Api,
  project: number,
  range: { readonly from: string; readonly seconds: number },
): Promise<Readonly<Record<VerdictSubject, Stopped>>> {
  const to = new Date(Date.parse(range.from) + range.seconds * 1000).toISOString();
  const compare_from = new Date(Date.parse(range.from) - range.seconds * 1000).toISOString();
  const of = async (subject: VerdictSubject): Promise<Stopped> => {
    const asked = { group_by: "rule", band: "likely_human", subject, limit: "200", from: range.from, to };
    const { data, compare } = await api.traffic(project, { ...asked, compare_from, compare_to: range.from });
    const stops = (list: TrafficAnswer["data"]) => sum(list.map(({ actions }) => actions.block + actions.challenge));
    return { now: stops(data), before: stops(compare?.data ?? []) };
  };
  return { session: await of("session"), request: await of("request") };
}

/** Two groups of tiles, one for each subject, and what sites send; each tile says what it was in the range before. */
export function Tiles(properties: {
  readonly rows: readonly StatsRow[];
  /** The range before, as long; empty where nothing is known of it. */
  readonly before: readonly StatsRow[];
  /** Such as "24 hours". */
  readonly span: string;
  readonly time: ExploreView["time"];
  /** Undefined until it is read. */
  readonly stopped: Readonly<Record<VerdictSubject, Stopped>> | undefined;
}) {
  const { rows, before, span, time, stopped } = properties;
  const [sessions, sessionsBefore] = [rows.map(ofSessions), before.map(ofSessions)];
  const [requests, requestsBefore] = [rows.map(({ requests }) => requests), before.map(({ requests }) => requests)];
  const challenges = (name: "issued" | "passed" | "failed", of = rows) => sum(of.map((row) => row.challenges[name]));
  return (
    <>
      <div class="side-by-side">
        <Card title="Sessions">
          <dl class="tiles">
            <Share
              rows={sessions}
              before={sessionsBefore}
              span={span}
              href={exploreHash({ expression: botCondition, time })}
            />
            <Tile
              name="Verdicts"
              value={answers(sessions)}
              before={answers(sessionsBefore)}
              span={span}
              href={exploreHash({ expression: "", time })}
            />
            <Tile
              name="Blocks"
              value={blocksOf(sessions)}
              before={blocksOf(sessionsBefore)}
              span={span}
              href={hashOf("blocks")}
            />
            <StoppedTile of={stopped?.session} span={span} href={hashOf("blocks", undefined, { q: "likely human" })} />
          </dl>
        </Card>
        <Card title="Requests without a session">
          <dl class="tiles">
            <Share
              rows={requests}
              before={requestsBefore}
              span={span}
              href={exploreHash({ expression: botCondition, time, subject: "request" })}
            />
            <Tile
              name="Verdicts"
              value={answers(requests)}
              before={answers(requestsBefore)}
              span={span}
              href={exploreHash({ expression: "", time, subject: "request" })}
            />
            <Tile
              name="Blocks"
              value={blocksOf(requests)}
              before={blocksOf(requestsBefore)}
              span={span}
              href={exploreHash({ expression: 'action == "block"', time, subject: "request" })}
            />
            <StoppedTile
              of={stopped?.request}
              span={span}
              href={exploreHash({ expression: stoppedCondition, time, subject: "request" })}
            />
          </dl>
        </Card>
      </div>
      <dl class="tiles">
        <Tile
          name="New sessions"
          value={sum(rows.map((row) => row.sessions))}
          before={sum(before.map((row) => row.sessions))}
          span={span}
        />
        <Tile
          name="Events"
          value={sum(rows.map(({ events }) => events))}
          before={sum(before.map(({ events }) => events))}
          span={span}
        />
        <Tile name="Challenges issued" value={challenges("issued")} before={challenges("issued", before)} span={span} />
        <Tile name="Challenges passed" value={challenges("passed")} before={challenges("passed", before)} span={span} />
        <Tile name="Challenges failed" value={challenges("failed")} before={challenges("failed", before)} span={span} />
      </dl>
    </>
  );
}

const blocksOf = (rows: readonly ShownVerdicts[]): number => sum(rows.map(({ actions }) => actions.block));

function Share(properties: {
  readonly rows: readonly ShownVerdicts[];
  readonly before: readonly ShownVerdicts[];
  readonly span: string;
  readonly href: string;
}) {
  const { rows, before, span, href } = properties;
  const [now, then] = [botShare(rows), botShare(before)];
  const percent = (share: number) => `${(100 * share).toFixed(1)}%`;
  const change =
    now === null || then === null
      ? `no data for the ${span} before`
      : `${signed(Math.round(1000 * (now - then)) / 10)} points against the ${span} before`;
  return (
    <Figure name="Bot share" href={href} change={change}>
      {now === null ? "none" : percent(now)}
    </Figure>
  );
}

/** Whether people are hurt: likely ones that were blocked or challenged. */
function StoppedTile(properties: { readonly of: Stopped | undefined; readonly span: string; readonly href: string }) {
  const { of, span, href } = properties;
  if (of === undefined) return null;
  return <Tile name="Likely people stopped" value={of.now} before={of.before} span={span} href={href} />;
}

const signed = (value: number): string => (value > 0 ? `+${value}` : value < 0 ? `−${-value}` : "±0");

function Tile(properties: {
  readonly name: string;
  readonly value: number;
  readonly before: number;
  readonly span: string;
  readonly href?: string;
}) {
  const { name, value, before, span, href } = properties;
  return (
    <Figure name={name} {...(href !== undefined && { href })} change={`${count(before)} in the ${span} before`}>
      {count(value)}
    </Figure>
  );
}

function Figure(properties: {
  readonly name: string;
  readonly href?: string;
  readonly change: string;
  readonly children: ComponentChildren;
}) {
  const { name, href, change, children } = properties;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {href === undefined ? <span>{children}</span> : <a href={href}>{children}</a>}{" "}
        <span class="change">{change}</span>
      </dd>
    </div>
  );
}
