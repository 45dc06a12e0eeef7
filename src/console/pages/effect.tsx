/** What a change would do against things as they are: who would be treated otherwise, and which rules stand in each other's way. */
import type { ChangeEffectAnswer, RuleEffectAnswer } from "../../contract/configuration/backtest-answers.js";
import { count, plural } from "../words.js";
import { RuleLink } from "./rule-link.js";

const changeWords: readonly (readonly [name: keyof ChangeEffectAnswer, text: string])[] = [
  ["newly_blocked", "newly blocked"],
  ["newly_challenged", "newly challenged"],
  ["newly_delayed", "newly delayed"],
  ["newly_allowed", "newly let in"],
];
const whomWords: readonly (readonly [name: keyof ChangeEffectAnswer, text: string])[] = [
  ["likely_human", "likely human"],
  ["logged_in", "logged in"],
  ["marked_human", "marked as a person"],
];

/** One sentence about each subject; a warning where it meets people; the rules before and behind a draft. */
export function Effect(properties: {
  readonly of: RuleEffectAnswer;
  /** Of samples of requests without a session, scaled up. */
  readonly requests: ChangeEffectAnswer;
  readonly names: ReadonlyMap<number, string>;
}) {
  const { of, requests, names } = properties;
  return (
    <section class="effect" aria-label="What changes">
      <p>
        <b>Sessions:</b> {changesOf(of)}
      </p>
      <p>
        <b>Requests without a session:</b> {changesOf(requests, "≈ ")}
      </p>
      {meetsPeople(of) && (
        <p class="notice">
          Of the sessions that would be treated differently, {whomOf(of, "session")}: look at some of them before you go
          on.
        </p>
      )}
      {meetsPeople(requests) && (
        <p class="notice">
          Of the requests without a session that would be treated differently, {whomOf(requests, "request", "≈ ")}:
          perhaps people whose browser has not run the script yet.
        </p>
      )}
      {of.shadowed_by.length > 0 && (
        <p class="notice">
          Earlier rules already decide some of what it matches: <Rules ids={of.shadowed_by} names={names} />. To change
          that, place it before them.
        </p>
      )}
      {of.shadows.length > 0 && (
        <p class="notice">
          It would decide some of what later rules decide now: <Rules ids={of.shadows} names={names} />.
        </p>
      )}
    </section>
  );
}

function changesOf(effect: ChangeEffectAnswer, mark = ""): string {
  const changes = changeWords
    .filter(([name]) => effect[name] > 0)
    .map(([name, text]) => `${mark}${count(effect[name])} ${text}`);
  const same = `${mark}${count(effect.unchanged)} unchanged`;
  return changes.length === 0
    ? `nothing changes (all ${mark}${count(effect.unchanged)}).`
    : `${changes.join(", ")}; ${same}.`;
}

function meetsPeople({ likely_human, logged_in, marked_human }: ChangeEffectAnswer): boolean {
  return likely_human + logged_in + marked_human > 0;
}

function whomOf(effect: ChangeEffectAnswer, noun: string, mark = ""): string {
  return whomWords
    .filter(([name]) => effect[name] > 0)
    .map(([name, text]) => `${mark}${plural(effect[name], noun)} ${effect[name] === 1 ? "is" : "are"} ${text}`)
    .join(", ");
}

function Rules({ ids, names }: { readonly ids: readonly number[]; readonly names: ReadonlyMap<number, string> }) {
  return (
    <>
      {ids.map((id, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <RuleLink id={id} names={names} />
        </span>
      ))}
    </>
  );
}
