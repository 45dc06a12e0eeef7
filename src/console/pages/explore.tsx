/**
 * Explore: for which sessions, or requests without one, an expression holds, since when, what they have in common, and what a rule of it would do.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { type SessionQueryAnswer, sessionDimensions } from "../../contract/sessions/session-query.js";
import type { TrafficDimension } from "../../contract/traffic/traffic.js";
import { type ExpressionFault, useAsked } from "../draft-backtest.js";
import { type ExploreView, exploreHash, rangeOf, viewOf } from "../explore-view.js";
import { conditionsOf, nameOfCondition, withToggled } from "../expression.js";
import { replaceHash } from "../location.js";
import type { AddressedPageProperties } from "../page-properties.js";
import { CopyButton, PageTitle } from "../parts.js";
import { readablePath } from "../shown-text.js";
import { ExploreActions } from "./explore-actions.js";
import { ExploreGroups } from "./explore-groups.js";
import { askRequests, type FoundRequests, groupOfCounters, rangeBefore, systemNames } from "./explore-requests.js";
import { FoundSamples } from "./explore-samples.js";
import { FoundSessions } from "./explore-sessions.js";
import { type Shown, type ShownGroup, shownSessions } from "./explore-shown.js";
import { Chart, Headline } from "./explore-summary.js";
import { TimeChoice } from "./explore-time.js";
import { ExpressionField, type ExpressionState } from "./expression-field.js";

type Answer = { readonly sessions: SessionQueryAnswer; readonly shown: Shown } | FoundRequests;

/** Values of a panel that was opened, as many as the server gives. */
const allValues = { sessions: 100, counters: 200 };

/** Asks as one types and puts what was asked into the address; shows the count, a chart over time, the panels and the rows. */
export function ExplorePage({ api, project, query }: AddressedPageProperties) {
  const view = viewOf(query);
  const { subject = "session", isCompared = false } = view;
  const [expression, setExpression] = useState(view.expression);
  const [found, setFound] = useState<Found | null>(null);
  const [state, setState] = useState<ExpressionState>({ state: "waiting" });
  const [round, setRound] = useState(0);
  /** What this page itself has put into the address: typing must not be undone by it. */
  const written = useRef(view.expression);
  /** Whether the present step of the history is one of typing: what is typed on changes it, and Back leads to what was before. */
  const isTyped = useRef(false);
  useEffect(() => {
    if (written.current !== view.expression) {
      isTyped.current = false;
      setExpression(view.expression);
    }
    written.current = view.expression;
  }, [view.expression]);
  const go = (change: Partial<ExploreView>) => {
    isTyped.current = false;
    location.hash = exploreHash({ ...view, expression, ...change });
  };
  const dependencies = [api, project, expression, JSON.stringify([view.time, subject, isCompared]), round];
  useEffect(() => setState({ state: "waiting" }), dependencies);
  useAsked<Answer>(
    async (signal) => {
      const range = rangeOf(view);
      if (subject === "request") return askRequests(api, project, expression, { ...range, isCompared }, signal);
      const whole = { from: range.from, to: range.to ?? new Date().toISOString() };
      const { from: compare_from, to: compare_to } = rangeBefore(whole);
      const compared = isCompared ? { ...whole, compare_from, compare_to } : range;
      const body = { expression, ...compared, group_by: [...sessionDimensions], limit: 50 };
      const sessions = await api.query(project, body, signal);
      return { sessions, shown: shownSessions(sessions) };
    },
    (answer: Answer | ExpressionFault) => {
      if ("state" in answer) return setState(answer);
      setFound({ expression, answer });
      setState({ state: expression.trim() === "" ? "empty" : "good" });
      if (expression === view.expression) return;
      written.current = expression;
      const hash = exploreHash({ ...view, expression });
      if (isTyped.current) replaceHash(hash);
      else location.hash = hash;
      isTyped.current = true;
    },
    dependencies,
  );
  // Beside a fault nothing can be added: a click on what is shown adds to what it was found by.
  const base = conditionsOf(expression) === null ? (found?.expression ?? "") : expression;
  const toggle = (condition: string) => go({ expression: withToggled(base, condition) });
  const again = () => setRound(round + 1);
  const shown = found?.answer.shown;
  const range = shown === undefined ? null : { from: shown.from, to: shown.to };
  const noun = found !== null && "rows" in found.answer ? "request" : "session";
  return (
    <>
      <PageTitle title="Explore">
        <p class="freshness">
          <span role="status">{state.state === "waiting" ? "Searching…" : ""}</span>
          {range !== null && (
            <CopyButton
              text={() =>
                location.href.replace(/#.*/s, "") + exploreHash({ ...view, expression, time: range }, project)
              }
              name="Copy link"
            />
          )}
          <button type="button" class="quiet" onClick={again}>
            Search again
          </button>
        </p>
      </PageTitle>
      <fieldset class="choice">
        <legend class="unseen">What is searched</legend>
        {(["session", "request"] as const).map((each) => (
          <label key={each}>
            <input type="radio" name="subject" checked={subject === each} onChange={() => go({ subject: each })} />
            {each === "session" ? "Sessions" : "Requests without a session"}
          </label>
        ))}
      </fieldset>
      <TimeChoice
        time={view.time}
        shown={range}
        isCompared={isCompared}
        onChange={(time) => go({ time })}
        onCompare={(wanted) => go({ isCompared: wanted })}
      />
      <div class="card">
        <ExpressionField
          value={expression}
          checked={state}
          rows={2}
          isRequired={false}
          use="search"
          onChange={setExpression}
          onEnter={again}
        />
        <Conditions expression={expression} onToggle={toggle} />
        <ExploreActions
          api={api}
          project={project}
          subject={subject}
          expression={expression}
          isGood={state.state === "good"}
          matched={state.state === "good" ? (shown?.matched ?? 0) : 0}
          range={range}
          onDeleted={again}
        />
      </div>
      {found !== null && (
        <div class="found" aria-busy={state.state === "waiting"}>
          {state.state === "fault" && <Stale expression={found.expression} />}
          <Headline shown={found.answer.shown} noun={noun} note={noun === "request" ? aboutRequests : aboutSessions} />
          <Chart
            api={api}
            project={project}
            shown={found.answer.shown}
            title={noun === "request" ? "Matched requests over time" : "Matched sessions by the time they began"}
            empty={`No ${noun} in this time range matches.`}
            onRange={(from, to) => go({ time: { from, to } })}
          />
          <ExploreGroups
            api={api}
            project={project}
            shown={found.answer.shown}
            systems={"rows" in found.answer ? systemNames(found.answer.rows) : noSystems}
            noun={noun}
            onToggle={toggle}
            readAll={(by) => allOf(by, found)}
          />
          {"rows" in found.answer ? (
            <FoundSamples found={found.answer} expression={found.expression} onToggle={toggle} />
          ) : (
            <FoundSessions
              key={`${found.answer.shown.from} ${found.answer.shown.to} ${round}`}
              api={api}
              project={project}
              expression={found.expression}
              first={found.answer.sessions}
              onToggle={toggle}
            />
          )}
        </div>
      )}
    </>
  );

  /** All values of a panel. */
  async function allOf(by: string, { expression, answer }: Found): Promise<ShownGroup | undefined> {
    const { from, to } = answer.shown;
    const { signal } = new AbortController();
    if ("rows" in answer) {
      const asked = { group_by: by, from, to, subject: "request", limit: String(allValues.counters) };
      return groupOfCounters(by as TrafficDimension, await api.traffic(project, asked, signal));
    }
    const group_by = sessionDimensions.filter((each) => each === by);
    const sessions = await api.query(
      project,
      { expression, from, to, group_by, top: allValues.sessions, limit: 1 },
      signal,
    );
    return shownSessions(sessions).groups[0];
  }
}

const aboutSessions = "A session counts once, when it began.";
const noSystems: ReadonlyMap<string, string> = new Map();
const aboutRequests =
  "Requests without a session are counted while request scoring is on. Without an expression, counts are exact and of whole hours; the chart, and whatever an expression selects, is estimated from samples.";

/** What was found, and by what. */
interface Found {
  readonly expression: string;
  readonly answer: Answer;
}

/** Says that what follows is of an earlier expression. */
function Stale({ expression }: { readonly expression: string }) {
  return (
    <p class="notice" role="status">
      The expression above was not searched for. What follows is still the result{" "}
      {expression.trim() === "" ? "for everything." : "for the last one that was: "}
      {expression.trim() !== "" && <code>{expression}</code>}
    </p>
  );
}

/** What all has to hold, each with a button that takes it away. */
function Conditions(properties: { readonly expression: string; readonly onToggle: (condition: string) => void }) {
  const { expression, onToggle } = properties;
  const conditions = conditionsOf(expression);
  if (conditions === null || conditions.length === 0) {
    return conditions === null ? null : <p class="dim">Everything. Click a value below to narrow it down.</p>;
  }
  return (
    <ul class="chips" aria-label="Conditions">
      {conditions.map((condition) => (
        <li key={condition} title={condition}>
          {nameOfCondition(condition) ?? <code>{readablePath(condition)}</code>}
          <button
            type="button"
            aria-label={`Remove ${nameOfCondition(condition) ?? condition}`}
            onClick={() => onToggle(condition)}
          >
            <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
