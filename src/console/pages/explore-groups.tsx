/** The most frequent values of what was found, one panel a dimension, split by band; a click on a value is a condition. */
import { useState } from "preact/hooks";
import type { SessionDimension } from "../../contract/sessions/session-query.js";
import type { TrafficDimension } from "../../contract/traffic/traffic.js";
import type { Action, Band } from "../../contract/verdicts/verdict.js";
import type { Api } from "../api.js";
import { negated } from "../expression.js";
import { Card, Fault } from "../parts.js";
import { useResource, useTask } from "../resource.js";
import { readablePath } from "../shown-text.js";
import { actionWords, bandOrder, bandWords, count, plural } from "../words.js";
import type { Shown, ShownGroup, ShownValue } from "./explore-shown.js";
import { useRuleNames } from "./rule-link.js";

/** Dimensions as headings. */
export const groupTitles: Readonly<Record<SessionDimension | TrafficDimension, string>> = {
  band: "Band",
  action: "Action",
  rule: "Deciding rule",
  path: "Path",
  host: "Host",
  user_agent: "User agent",
  user_agent_family: "User agent",
  agent: "Agent",
  declared_bot: "Declared bot",
  verified_bot: "Verified bot",
  country: "Country",
  as: "Autonomous system",
  asn: "Autonomous system",
  network: "Network",
  address: "Address",
  ip: "Address",
  detection: "Detection",
};

const titleOf = (by: string): string => groupTitles[by as SessionDimension] ?? by;

/** Values of a panel before it is opened. */
const closedMax = 10;

/**
 * A panel for each dimension with values: counts, shares of what matched, bands, and two buttons a value, for these and for all but these.
 * `onToggle` gets the condition; `readAll` reads all values of a panel, as far as the server keeps them.
 */
export function ExploreGroups(properties: {
  readonly api: Api;
  readonly project: number;
  readonly shown: Shown;
  /** Names of autonomous systems by their numbers, as far as they are known. */
  readonly systems: ReadonlyMap<string, string>;
  /** What is counted: "session" or "request". */
  readonly noun: string;
  readonly onToggle: (condition: string) => void;
  readonly readAll: (by: string) => Promise<ShownGroup | undefined>;
}) {
  const { api, project, shown, systems, noun, onToggle, readAll } = properties;
  const catalogue = useResource(() => api.detections(), [api]);
  const ruleNames = useRuleNames({ api, project });
  if (shown.matched === 0) return null;
  const slugs = new Map(catalogue.value?.data.map(({ id, slug }) => [String(id), slug]));
  const nameOf = (by: string, value: string): string => {
    if (by === "band") return bandWords[value as Band];
    if (by === "action") return actionWords[value as Action];
    if (by === "asn") return systems.has(value) ? `AS${value} ${systems.get(value)}` : `AS${value}`;
    // Of sessions the server says number and name.
    if (by === "rule" && ruleNames.has(Number(value))) return `${value} ${ruleNames.get(Number(value))}`;
    return by === "path" ? readablePath(value) : by === "detection" ? `${value} ${slugs.get(value) ?? ""}` : value;
  };
  return (
    <div class="panels">
      {shown.groups
        .filter(({ values }) => values.length > 0)
        .map((group) => (
          <Panel
            key={group.by}
            group={group}
            shown={shown}
            noun={noun}
            nameOf={(value) => nameOf(group.by, value)}
            onToggle={onToggle}
            readAll={() => readAll(group.by)}
          />
        ))}
      <p class="dim note">
        Each panel counts {noun}s{shown.isEstimate ? ", scaled up from a sample" : ""}; the line below a value has the
        colours of its bands.
        {emptyOnes(shown.groups) !== "" && ` No ${noun} has a value for: ${emptyOnes(shown.groups)}.`}
      </p>
    </div>
  );
}

function emptyOnes(groups: readonly ShownGroup[]): string {
  return groups
    .filter(({ values }) => values.length === 0)
    .map(({ by }) => titleOf(by).toLowerCase())
    .join(", ");
}

function Panel(properties: {
  readonly group: ShownGroup;
  readonly shown: Shown;
  readonly noun: string;
  readonly nameOf: (value: string) => string;
  readonly onToggle: (condition: string) => void;
  readonly readAll: () => Promise<ShownGroup | undefined>;
}) {
  const { group, shown, noun, nameOf, onToggle, readAll } = properties;
  const [all, setAll] = useState<{ readonly of: ShownGroup; readonly group: ShownGroup } | null>(null);
  const task = useTask();
  // Only while what it was opened for is shown.
  const opened = all?.of === group ? all.group : null;
  const { values, further, without, error } = opened ?? group;
  const first = opened === null ? values.slice(0, closedMax) : values;
  const hidden = values.length - first.length;
  const hasMore = opened === null && (hidden > 0 || further !== 0);
  const open = () =>
    task.run(async () => {
      const read = hidden > 0 && further === 0 ? group : await readAll();
      if (read !== undefined) setAll({ of: group, group: read });
    });
  return (
    <Card title={titleOf(group.by)}>
      <ol class={opened === null ? "values" : "values opened"}>
        {first.map((each) => (
          <Value
            key={each.value}
            of={each}
            name={nameOf(each.value)}
            share={each.count / shown.matched}
            isEstimate={shown.isEstimate || error !== undefined}
            onToggle={onToggle}
          />
        ))}
      </ol>
      {hasMore && (
        <button type="button" class="quiet" aria-disabled={task.isRunning} onClick={() => void open()}>
          {further === null ? "All values" : `All ${count(values.length + further)} values`}
          <span class="unseen"> of {titleOf(group.by)}</span>
        </button>
      )}
      <Fault of={task.fault} />
      {error !== undefined && (
        <p class="dim">
          ≈: at most {shareText(error)} of all {noun}s off.
        </p>
      )}
      {((opened !== null && further !== 0) || without > 0) && (
        <p class="dim">
          {opened !== null &&
            further !== 0 &&
            `${further === null ? "Rarer values" : plural(further, "further value")} not shown. `}
          {without > 0 && `${plural(without, noun)} without one.`}
        </p>
      )}
    </Card>
  );
}

/** Rounded up, as a bound has to be, but not what binary fractions add: 0.007 * 1000 is above 7. */
function shareText(share: number): string {
  return `${(Math.ceil(Number((share * 1000).toPrecision(12))) / 10).toFixed(1)} %`;
}

function Value(properties: {
  readonly of: ShownValue;
  readonly name: string;
  /** 0 to 1. */
  readonly share: number;
  readonly isEstimate: boolean;
  readonly onToggle: (condition: string) => void;
}) {
  const { of, name, share, isEstimate, onToggle } = properties;
  const { condition, before, verdicts } = of;
  const split = bandOrder
    .filter((band) => verdicts[band] > 0)
    .map((band) => `${bandWords[band]} ${count(verdicts[band])}`)
    .join(", ");
  return (
    <li title={split}>
      <span class="share" style={{ width: `${100 * Math.min(1, share)}%` }} />
      <span class="split" style={{ width: `${100 * Math.min(1, share)}%` }} aria-hidden="true">
        {bandOrder.map((band) =>
          verdicts[band] > 0 ? (
            <span key={band} class={`swatch band-${band}`} style={{ flexGrow: verdicts[band] }} />
          ) : null,
        )}
      </span>
      {condition === null ? (
        <bdi class="name">{name}</bdi>
      ) : (
        <button type="button" class="name" title={condition} onClick={() => onToggle(condition)}>
          <bdi>{name}</bdi>
        </button>
      )}
      <span class="number">
        {isEstimate && "≈ "}
        {count(of.count)}
        {before !== undefined && <span class="dim before">was {count(before)}</span>}
      </span>
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
