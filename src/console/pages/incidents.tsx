/** Incidents: what leads the overview while something happens, with the ways to look at it, to stop it and to be left alone. */
import { useState } from "preact/hooks";
import type { IncidentAnswer, IncidentWhat } from "../../contract/incidents/incidents.js";
import type { Action, Band } from "../../contract/verdicts/verdict.js";
import { useAccess } from "../access.js";
import { exploreHash } from "../explore-view.js";
import { ChoiceField } from "../fields.js";
import { hashOf } from "../location.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Card, Confirmation, FreshnessLine, Loaded, Table, Time } from "../parts.js";
import { useResource } from "../resource.js";
import { readablePath } from "../shown-text.js";
import { actionOrder, actionWords, bandOrder, bandWords, count, plural } from "../words.js";
import { isForVeryMany, subjectParts } from "./let-through.js";
import { newRuleHash } from "./rule-draft.js";

const refreshMs = 15_000;
/** Those that are read: open ones first need somebody, older ones are a log. */
const shownMax = 100;

const whatWords: Readonly<Record<keyof IncidentWhat, string>> = {
  path: "on",
  host: "at",
  ip: "from",
  network: "from",
  asn: "from AS",
  country: "from country",
  user_agent_family: "by",
  declared_bot: "by",
  verified_bot: "by",
  agent: "by",
  rule: "answered by rule",
  detection: "with detection",
};

/** What an incident's requests share, as one phrase: "on /login from 203.0.113.0/24". */
function phraseOf(what: IncidentWhat): string {
  const names = Object.keys(whatWords) as (keyof IncidentWhat)[];
  return names
    .flatMap((name) => {
      const value = what[name];
      return value === undefined ? [] : [`${whatWords[name]} ${name === "path" ? readablePath(value) : value}`];
    })
    .join(" ");
}

/** Open incidents that are not muted, each with its three buttons; below them those that ended or are muted, folded. */
export function IncidentsCard({ api, project }: ProjectPageProperties) {
  const incidents = useResource(() => api.incidents(project, "all", shownMax), [api, project], refreshMs);
  const exceptions = useResource(() => api.exceptions(project), [api, project]);
  const [muting, setMuting] = useState<IncidentAnswer | null>(null);
  return (
    <Card
      title="Needs attention"
      aside={
        <p class="more">
          <a href={hashOf("alerts")}>Alerts</a>
          <FreshnessLine of={incidents} />
        </p>
      }
    >
      <Loaded from={incidents}>
        {({ data }) => {
          const leading = data.filter(isLeading);
          return (
            <>
              {leading.length === 0 && <NoneLeads muted={data.filter(({ state }) => state === "open")} />}
              {leading.map((each) => (
                <Incident key={each.id} of={each} onMute={() => setMuting(each)} />
              ))}
              <Earlier of={data.filter((each) => !isLeading(each))} />
            </>
          );
        }}
      </Loaded>
      {exceptions.value
        ?.filter(({ subject }) => isForVeryMany(subject))
        .map(({ id, subject, expires_at }) => (
          <p key={id} class="notice">
            An exception lets very many visitors through, whatever the rules say: <b>{subjectParts(subject)[1]}</b>,
            until <Time at={expires_at} />. <a href={hashOf("exceptions")}>Exceptions</a>
          </p>
        ))}
      {muting !== null && (
        <MuteDialog
          api={api}
          project={project}
          incident={muting}
          onMuted={incidents.reload}
          onClose={() => setMuting(null)}
        />
      )}
    </Card>
  );
}

/** What is said where no incident leads. */
function NoneLeads({ muted }: { readonly muted: readonly IncidentAnswer[] }) {
  const [first] = muted;
  if (first === undefined) return <p class="dim">No open incidents: automated traffic has not suddenly grown.</p>;
  return (
    <p class="dim">
      {plural(muted.length, "open incident")} {muted.length === 1 ? "is" : "are"} muted
      {muted.length === 1 && first.muted_until !== null && (
        <>
          {" "}
          until <Time at={first.muted_until} />
        </>
      )}
      : see the list below. No other incident is open.
    </p>
  );
}

/** Whether it is open and nobody has muted it. */
function isLeading({ state, muted_until }: IncidentAnswer): boolean {
  return state === "open" && (muted_until === null || Date.parse(muted_until) <= Date.now());
}

/** From a while before it began until its end, or now. */
function rangeOf({ started_at, ended_at }: IncidentAnswer): { from: string; to: string } {
  const from = new Date(Date.parse(started_at) - 600_000).toISOString();
  return { from, to: ended_at ?? new Date().toISOString() };
}

function Incident({ of, onMute }: { readonly of: IncidentAnswer; readonly onMute: () => void }) {
  const { what, started_at, count: requests, baseline, peak_per_minute, expression, rule_would } = of;
  const { mayWrite } = useAccess();
  const phrase = phraseOf(what);
  return (
    <section class="incident" aria-label={`Incident ${phrase}`}>
      <h3>
        Sudden automated traffic <b class="wrap">{phrase}</b>
      </h3>
      <p>
        Since <Time at={started_at} />: {plural(requests, "request")}, with a peak of {count(peak_per_minute)} a minute.
        Usual in five minutes: {count(Math.round(baseline))}. {sharesOf(of)}.
      </p>
      <p>
        A rule that blocks <code class="wrap">{expression}</code> would have stopped{" "}
        <b>{count(rule_would.newly_blocked)}</b> {rule_would.newly_blocked === 1 ? "request" : "requests"} that got in:{" "}
        {count(rule_would.likely_human)} likely human, {count(rule_would.logged_in)} logged in.
      </p>
      <p class="buttons start">
        <a class="button" href={exploreHash({ expression, time: rangeOf(of), subject: "request" })}>
          Explore
        </a>
        {mayWrite && (
          <a
            class="button"
            href={newRuleHash({
              name: `Incident ${phrase}`.slice(0, 255),
              expression,
              action: "block",
              // Saving it asks first, and says whom it meets.
              isActive: true,
            })}
          >
            Draft rule
          </a>
        )}
        {mayWrite && (
          <button type="button" class="quiet" onClick={onMute}>
            Mute…
          </button>
        )}
      </p>
    </section>
  );
}

/** In which bands, and what became of them. */
function sharesOf({ bands, actions }: IncidentAnswer): string {
  const list = <Name extends string>(
    order: readonly Name[],
    words: Readonly<Record<Name, string>>,
    counts: Readonly<Record<string, number>>,
  ) =>
    order
      .filter((name) => (counts[name] ?? 0) > 0)
      .map((name) => `${words[name].toLowerCase()} ${count(counts[name]!)}`)
      .join(", ");
  const [band, action] = [list<Band>(bandOrder, bandWords, bands), list<Action>(actionOrder, actionWords, actions)];
  return `Bands: ${band || "none"}. Actions: ${action || "none"}`;
}

function Earlier({ of }: { readonly of: readonly IncidentAnswer[] }) {
  if (of.length === 0) return null;
  return (
    <details>
      <summary>{plural(of.length, "earlier or muted incident")}</summary>
      <Table
        caption="Incidents that ended or are muted, the latest first"
        columns={[
          { name: "Began", cell: (row: IncidentAnswer) => <Time at={row.started_at} /> },
          {
            name: "Ended",
            cell: ({ ended_at, muted_until }: IncidentAnswer) =>
              ended_at !== null ? (
                <Time at={ended_at} />
              ) : muted_until !== null ? (
                <>
                  open, muted until <Time at={muted_until} />
                </>
              ) : (
                "open"
              ),
          },
          {
            name: "What",
            cell: (row: IncidentAnswer) => (
              <a
                class="wrap"
                href={exploreHash({ expression: row.expression, time: rangeOf(row), subject: "request" })}
              >
                {phraseOf(row.what)}
              </a>
            ),
          },
          { name: "Requests", cell: (row: IncidentAnswer) => count(row.count), isNumber: true },
          { name: "Peak a minute", cell: (row: IncidentAnswer) => count(row.peak_per_minute), isNumber: true },
        ]}
        rows={of}
        rowKey={({ id }) => id}
        empty=""
      />
    </details>
  );
}

const muteHours: readonly (readonly [hours: number, name: string])[] = [
  [1, "An hour"],
  [8, "8 hours"],
  [24, "A day"],
  [168, "A week"],
  [720, "30 days"],
];

function MuteDialog(
  properties: ProjectPageProperties & {
    readonly incident: IncidentAnswer;
    readonly onMuted: () => Promise<void>;
    readonly onClose: () => void;
  },
) {
  const { api, project, incident, onMuted, onClose } = properties;
  const [hours, setHours] = useState(8);
  const mute = async () => {
    await api.muteIncident(project, incident.id, hours);
    await onMuted();
  };
  return (
    <Confirmation title="Mute this incident" yes="Mute" isHarmless act={mute} onClose={onClose}>
      <p>
        For this long, neither this incident nor a new one <b class="wrap">{phraseOf(incident.what)}</b> sends alerts or
        leads this page. Both are still recorded.
      </p>
      <ChoiceField label="For" value={hours} options={muteHours} onChange={setHours} />
    </Confirmation>
  );
}
