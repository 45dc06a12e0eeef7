/** The most frequent values of the sessions that were found, one panel a dimension; a click on a value is a condition. */
import type { SessionDimension, SessionGroup } from "../../contract/session-query.js";
import type { Action, Band } from "../../contract/verdict.js";
import type { Api } from "../api.js";
import { negated } from "../expression.js";
import { Card } from "../parts.js";
import { useResource } from "../resource.js";
import { actionWords, bandWords, count, plural } from "../words.js";

/** Dimensions as headings. */
export const groupTitles: Readonly<Record<SessionDimension, string>> = {
  band: "Band",
  action: "What the rules would do now",
  rule: "Deciding rule",
  path: "Path",
  host: "Host",
  user_agent: "User agent",
  agent: "Agent",
  declared_bot: "Declared bot",
  country: "Country",
  as: "Autonomous system",
  network: "Network",
  address: "Address",
  detection: "Detection",
};

/**
 * A panel for each dimension with values: counts, shares of `matched`, and two buttons a value, for these and for all but these.
 * `onToggle` gets the condition.
 */
export function ExploreGroups(properties: {
  readonly api: Api;
  readonly groups: readonly SessionGroup[];
  readonly matched: number;
  readonly onToggle: (condition: string) => void;
}) {
  const { api, groups, matched, onToggle } = properties;
  const catalogue = useResource(() => api.detections(), [api]);
  if (matched === 0) return null;
  const slugs = new Map(catalogue.value?.data.map(({ id, slug }) => [String(id), slug]));
  const nameOf = (by: SessionDimension, value: string): string => {
    if (by === "band") return bandWords[value as Band];
    if (by === "action") return actionWords[value as Action];
    return by === "detection" ? `${value} ${slugs.get(value) ?? ""}` : value;
  };
  return (
    <div class="panels">
      {groups
        .filter(({ values }) => values.length > 0)
        .map(({ by, values, further_values, without }) => (
          <Card key={by} title={groupTitles[by]}>
            <ol class="values">
              {values.map(({ value, sessions, condition }) => (
                <Value
                  key={value}
                  name={nameOf(by, value)}
                  sessions={sessions}
                  share={sessions / matched}
                  condition={condition}
                  onToggle={onToggle}
                />
              ))}
            </ol>
            {(further_values > 0 || without > 0) && (
              <p class="dim">
                {further_values > 0 && `${plural(further_values, "further value")}. `}
                {without > 0 && `${plural(without, "session")} without one.`}
              </p>
            )}
          </Card>
        ))}
      <p class="dim note">
        Each panel counts sessions.
        {emptyOnes(groups) !== "" && ` No session has a value for: ${emptyOnes(groups)}.`}
      </p>
    </div>
  );
}

function emptyOnes(groups: readonly SessionGroup[]): string {
  return groups
    .filter(({ values }) => values.length === 0)
    .map(({ by }) => groupTitles[by].toLowerCase())
    .join(", ");
}

function Value(properties: {
  readonly name: string;
  readonly sessions: number;
  /** 0 to 1. */
  readonly share: number;
  readonly condition: string | null;
  readonly onToggle: (condition: string) => void;
}) {
  const { name, sessions, share, condition, onToggle } = properties;
  return (
    <li>
      <span class="share" style={{ width: `${100 * share}%` }} />
      {condition === null ? (
        <span class="name">{name}</span>
      ) : (
        <button type="button" class="name" title={condition} onClick={() => onToggle(condition)}>
          {name}
        </button>
      )}
      <span class="number">{count(sessions)}</span>
      {condition !== null && (
        <button
          type="button"
          class="not"
          aria-label={`All but ${name}`}
          title="All but these"
          onClick={() => onToggle(negated(condition))}
        >
          <span aria-hidden="true">≠</span>
        </button>
      )}
    </li>
  );
}
