/** What a draft rule would have done to the sessions of the last day, and what stored sessions can't tell of it. */
import type { ComponentChildren } from "preact";
import type { Action } from "../../contract/verdicts/verdict.js";
import type { DraftBacktest } from "../draft-backtest.js";
import { equalTo, judgedFieldsOf, withCondition } from "../expression.js";
import { hashOf } from "../location.js";
import { Table } from "../parts.js";
import { asksForSession } from "../rule-recipes.js";
import { actionOrder, actionWords, bandOrder, bandWords, count, plural } from "../words.js";
import { Effect } from "./effect.js";
import { Explored } from "./explored.js";
import { noNames } from "./rule-link.js";

/** The headline of matches, counts by outcome and by band, and a sample of the sessions; before there is a result, why there is none. */
export function Backtest(properties: {
  readonly backtest: DraftBacktest;
  readonly expression: string;
  readonly action: Action;
  /** Numbers alone, where one is asked something. */
  readonly isBrief?: boolean;
  /** Names of the rules that it may stand in the way of. */
  readonly names?: ReadonlyMap<number, string>;
}) {
  const { backtest, expression, action, isBrief = false, names = noNames } = properties;
  if (backtest.state === "empty")
    return <p class="dim">Write an expression: it is backtested on the sessions of the last 24 hours as you type.</p>;
  if (backtest.state === "waiting") return <p class="dim">Backtesting…</p>;
  if (backtest.state === "fault") return <p class="dim">The backtest starts when the expression is valid.</p>;
  const { evaluated, is_sample, matched, by_action, by_band, sample, unavailable_fields, effect, requests } =
    backtest.result;
  const outcomes = actionOrder.filter((each) => by_action[each] > 0);
  const asks = asksForSession(expression);
  const canTell = matched > 0 || (unavailable_fields.length === 0 && !asks);
  const isSoftened = outcomes.some((each) => each !== action);
  return (
    <>
      <p class="headline" role="status">
        {evaluated === 0
          ? "No session began in the last 24 hours."
          : !canTell
            ? "Stored sessions can’t show what it would match."
            : `Matches ${count(matched)} of the ${plural(evaluated, "session")} ${is_sample ? "sampled from" : "of"} the last 24 hours.`}
      </p>
      {requests.evaluated > 0 && (
        <p>
          And ≈ {count(Math.round(requests.weight))} requests without a session ({count(requests.matched)} of{" "}
          {count(requests.evaluated)} samples).
        </p>
      )}
      <Effect of={effect} requests={requests.effect} names={names} />
      <Gaps missing={unavailable_fields} asksForSession={asks} />
      {requests.evaluated === 0 && <JudgedFields names={judgedFieldsOf(expression)} />}
      {matched > 0 && (
        <>
          <div class="counts">
            <Counts caption="Outcome" rows={outcomes.map((each) => [each, actionWords[each], by_action[each]])} />
            <Counts
              caption="Band"
              rows={bandOrder
                .filter((each) => by_band[each] > 0)
                .map((each) => [
                  each,
                  <Explored key={each} condition={withCondition(expression, equalTo("band", each))}>
                    {bandWords[each]}
                  </Explored>,
                  by_band[each],
                ])}
            />
          </div>
          {isSoftened && (
            <p class="dim">
              Some outcomes differ from the action: guards come first (verified bots, static resources), the logged-in
              policy softens it, and a visitor who holds a valid challenge pass is let through.
            </p>
          )}
          {!isBrief && <h3>Some of them</h3>}
          {!isBrief && (
            <ul class="plain">
              {sample.map((token) => (
                <li key={token}>
                  <a class="code wrap" href={hashOf("sessions", token)}>
                    {token}
                  </a>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      <p class="dim">
        Counted as if this were the only rule. Changes are compared with today’s rules, with this one in its place.
        Nothing is stored.
      </p>
    </>
  );
}

/** Which parts of the expression the numbers say nothing about. */
function Gaps({ missing, asksForSession }: { readonly missing: readonly string[]; readonly asksForSession: boolean }) {
  if (missing.length === 0 && !asksForSession) return null;
  return (
    <p class="notice">
      <MissingFields names={missing} />
      {asksForSession && (
        <>
          Only samples of requests without a session are stored; for sessions, <code>has_session</code> is always true.{" "}
        </>
      )}
      To see what it matches, activate it with the action log while request scoring is on: its hits are on the rule’s
      own page.
    </p>
  );
}

/** Says where a rule gets what the backtest read from stored user agents. */
function JudgedFields({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <p class="notice">
      Here <FieldNames of={names} /> {names.length === 1 ? "is" : "are"} read from the stored user agent. A rule has{" "}
      {names.length === 1 ? "it" : "them"} only while <a href={hashOf("settings")}>request scoring</a> is on; without
      it, compare <code>user_agent</code> instead.
    </p>
  );
}

function FieldNames({ of }: { readonly of: readonly string[] }) {
  return (
    <>
      {of.map((name, index) => (
        <>
          {index > 0 && ", "}
          <code>{name}</code>
        </>
      ))}
    </>
  );
}

/** Says which fields of an expression stored sessions lack; nothing when there are none. */
export function MissingFields({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <>
      Stored sessions don’t have <FieldNames of={names} />: here a comparison with {names.length === 1 ? "it" : "them"}{" "}
      is false.{" "}
    </>
  );
}

function Counts({
  caption,
  rows,
}: {
  readonly caption: string;
  readonly rows: readonly (readonly [key: string, name: ComponentChildren, value: number])[];
}) {
  return (
    <Table
      caption={caption}
      columns={[
        { name: caption, cell: ([, name]) => name },
        { name: "Sessions", cell: ([, , value]) => count(value), isNumber: true },
      ]}
      rows={rows}
      rowKey={([key]) => key}
      empty="None."
    />
  );
}
