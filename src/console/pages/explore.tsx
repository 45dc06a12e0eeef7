/** Explore: which sessions an expression holds for, since when, what they have in common, and what a rule of it would do. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type SessionQueryAnswer, sessionDimensions } from "../../contract/session-query.js";
import { StackedBars } from "../chart.js";
import { type ExpressionFault, useAsked } from "../draft-backtest.js";
import { type ExploreView, exploreHash, rangeOf, type SpanName, spans, viewOf } from "../explore-view.js";
import { conditionsOf, nameOfCondition, withToggled } from "../expression.js";
import { hashOf, replaceHash } from "../location.js";
import type { AddressedPageProperties, ProjectPageProperties } from "../page-properties.js";
import { Card, Fault, PageTitle } from "../parts.js";
import { useResource } from "../resource.js";
import { bandOrder, bandWords, count, plural, time } from "../words.js";
import { MissingFields } from "./backtest.js";
import { ExploreActions } from "./explore-actions.js";
import { ExploreGroups } from "./explore-groups.js";
import { FoundSessions } from "./explore-sessions.js";
import { ExpressionField, type ExpressionState } from "./expression-field.js";
import { RuleMarks, ruleMarks } from "./rule-marks.js";

/** Asks as one types and puts what was asked into the address; shows the count, a chart over time, the panels and the sessions. */
export function ExplorePage({ api, project, query }: AddressedPageProperties) {
  const view = viewOf(query);
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
    location.hash = exploreHash({ expression, time: view.time, ...change });
  };
  const dependencies = [api, project, expression, JSON.stringify(view.time), round];
  useEffect(() => setState({ state: "waiting" }), dependencies);
  useAsked<SessionQueryAnswer>(
    (signal) =>
      api.query(project, { expression, ...rangeOf(view), group_by: [...sessionDimensions], limit: 50 }, signal),
    (answer: SessionQueryAnswer | ExpressionFault) => {
      if ("state" in answer) return setState(answer);
      setFound({ expression, answer });
      setState({ state: expression.trim() === "" ? "empty" : "good" });
      if (expression === view.expression) return;
      written.current = expression;
      const hash = exploreHash({ expression, time: view.time });
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
  const range = found === null ? null : { from: found.answer.from, to: found.answer.to };
  return (
    <>
      <PageTitle title="Explore">
        <p class="freshness">
          <span role="status">{state.state === "waiting" ? "Searching…" : ""}</span>
          <button type="button" class="quiet" onClick={again}>
            Search again
          </button>
        </p>
      </PageTitle>
      <TimeChoice time={view.time} shown={range} onChange={(time) => go({ time })} />
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
          expression={expression}
          isGood={state.state === "good"}
          matched={state.state === "good" ? (found?.answer.matched ?? 0) : 0}
          range={range}
          onDeleted={again}
        />
      </div>
      {found !== null && (
        <div class="found" aria-busy={state.state === "waiting"}>
          {state.state === "fault" && <Stale expression={found.expression} />}
          <Headline found={found.answer} />
          <Chart api={api} project={project} found={found.answer} onRange={(from, to) => go({ time: { from, to } })} />
          <ExploreGroups
            api={api}
            groups={found.answer.groups ?? []}
            matched={found.answer.matched}
            onToggle={toggle}
          />
          <FoundSessions
            key={`${found.answer.from} ${found.answer.to} ${round}`}
            api={api}
            project={project}
            expression={found.expression}
            first={found.answer}
            onToggle={toggle}
          />
        </div>
      )}
    </>
  );
}

/** What was found, and by what. */
interface Found {
  readonly expression: string;
  readonly answer: SessionQueryAnswer;
}

/** Says that what follows is of an earlier expression. */
function Stale({ expression }: { readonly expression: string }) {
  return (
    <p class="notice" role="status">
      The expression above was not searched for. What follows is still the result{" "}
      {expression.trim() === "" ? "for every session." : "for the last one that was: "}
      {expression.trim() !== "" && <code>{expression}</code>}
    </p>
  );
}

/** The presets, and two times of one's own. */
function TimeChoice(properties: {
  readonly time: ExploreView["time"];
  readonly shown: { readonly from: string; readonly to: string } | null;
  readonly onChange: (time: ExploreView["time"]) => void;
}) {
  const { time: chosen, shown, onChange } = properties;
  const [isFree, setFree] = useState(typeof chosen !== "string");
  const [isReversed, setReversed] = useState(false);
  useLayoutEffect(() => setFree(typeof chosen !== "string"), [typeof chosen]);
  const range = typeof chosen !== "string" ? chosen : shown;
  const form = useRef<HTMLFormElement>(null);
  const apply = (event: Event) => {
    event.preventDefault();
    const [from, to] = [...form.current!.querySelectorAll("input")].map(({ value }) => new Date(value));
    setReversed(from! >= to!);
    if (from! < to!) onChange({ from: from!.toISOString(), to: to!.toISOString() });
  };
  return (
    <div class="tools">
      <fieldset class="choice">
        <legend class="unseen">When sessions began</legend>
        {(Object.keys(spans) as SpanName[]).map((name) => (
          <label key={name}>
            <input type="radio" name="last" checked={!isFree && chosen === name} onChange={() => onChange(name)} />
            {spans[name].name}
          </label>
        ))}
        <label>
          <input type="radio" name="last" checked={isFree} onChange={() => setFree(true)} />
          From, to
        </label>
      </fieldset>
      {isFree && range !== null && (
        <form ref={form} onSubmit={apply} key={`${range.from} ${range.to}`}>
          <TimeField name="From" value={range.from} isInvalid={isReversed} />
          <TimeField name="To" value={range.to} isInvalid={isReversed} />
          <button type="submit">Show</button>
          {isReversed && <Fault of="“From” has to be before “To”." />}
        </form>
      )}
    </div>
  );
}

function TimeField(properties: {
  readonly name: string;
  readonly value: string | undefined;
  readonly isInvalid: boolean;
}) {
  const { name, value, isInvalid } = properties;
  return (
    <label>
      <span>{name}</span>
      <input type="datetime-local" step={1} required defaultValue={localTime(value)} aria-invalid={isInvalid} />
    </label>
  );
}

/** As a field for local times has it. */
function localTime(iso: string | undefined): string {
  const at = iso === undefined ? new Date() : new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** What all has to hold, each with a button that takes it away. */
function Conditions(properties: { readonly expression: string; readonly onToggle: (condition: string) => void }) {
  const { expression, onToggle } = properties;
  const conditions = conditionsOf(expression);
  if (conditions === null || conditions.length === 0) {
    return conditions === null ? null : <p class="dim">Every session. Click a value below to narrow it down.</p>;
  }
  return (
    <ul class="chips" aria-label="Conditions">
      {conditions.map((condition) => (
        <li key={condition} title={condition}>
          {nameOfCondition(condition) ?? <code>{condition}</code>}
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

/** How many, of how many, and what the numbers can't say. */
function Headline({ found }: { readonly found: SessionQueryAnswer }) {
  const { from, to, scanned, matched, is_sample, total, unavailable_fields } = found;
  const share = scanned === 0 ? 0 : Math.round((1000 * matched) / scanned) / 10;
  return (
    <>
      <p class="headline" role="status">
        {plural(matched, "session")} of {count(scanned)}
        {scanned === 0 ? "" : ` (${share}%)`}
      </p>
      <p class="dim">
        Sessions that began from {time(from)} to {time(to)}. Requests without a session are not stored: the{" "}
        <a href={hashOf("overview")}>overview</a> counts them.
      </p>
      {is_sample && (
        <p class="notice">
          A sample: {count(scanned)} of {total === null || total === undefined ? "more" : `about ${count(total)}`}{" "}
          sessions, spread evenly over the time range. Shares are representative; every number below counts the sample.
        </p>
      )}
      {unavailable_fields.length > 0 && (
        <p class="notice">
          <MissingFields names={unavailable_fields} />
        </p>
      )}
    </>
  );
}

const barStart = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

function Chart(
  properties: ProjectPageProperties & {
    readonly found: SessionQueryAnswer;
    readonly onRange: (from: string, to: string) => void;
  },
) {
  const { api, project, found, onRange } = properties;
  const changes = useResource(
    () => api.ruleChanges(project, found.from, found.to),
    [api, project, found.from, found.to],
  );
  const marks = useMemo(() => ruleMarks(changes.value?.data ?? []), [changes.value]);
  const { bars, bar_seconds } = found.chart!;
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
  const pick = (from: number, until: number) => {
    onRange(isoTime(from), isoTime(Math.min(until, Math.ceil(Date.parse(found.to) / 1000))));
  };
  return (
    <Card title="Matched sessions by the time they began">
      <StackedBars
        label="Matched sessions by the time they began, by band"
        starts={starts}
        width={bar_seconds}
        isTime
        startName="From"
        startText={(start) => barStart.format(new Date(start * 1000))}
        series={series}
        empty="No session in this time range matches."
        marks={marks}
        onPick={pick}
      />
      <Fault of={changes.fault} />
      <RuleMarks marks={marks} hasMore={changes.value?.meta.next_cursor != null} />
      {found.matched > 0 && <p class="dim">Click a bar, or drag over several, to narrow the time range.</p>}
    </Card>
  );
}
