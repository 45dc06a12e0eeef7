/** Alerts: when somebody is told, and the channels by which. A new alert is tried on what is stored as it is written. */
import { useState } from "preact/hooks";
import type { AlertAnswer, AlertSubject, AlertTestAnswer, AlertWhen } from "../../contract/incidents/alerts.js";
import { useAccess } from "../access.js";
import { type ExpressionFault, useAsked } from "../draft-backtest.js";
import { Amount, ChoiceField, choicesOf, NameField } from "../fields.js";
import { hashOf } from "../location.js";
import type { AddressedPageProperties, ProjectPageProperties } from "../page-properties.js";
import { Card, Confirmation, Fault, FreshnessLine, Loaded, PageTitle, RowButton, Table, Time } from "../parts.js";
import { type Resource, useResource, useTask } from "../resource.js";
import { count, plural, times } from "../words.js";
import { ChannelsCard, channelName, type ShownChannels } from "./channels.js";
import { ExpressionField } from "./expression-field.js";

/** The list of alerts, the form for a new one (`q` of the address is its expression), and the channels. */
export function AlertsPage({ api, project, query }: AddressedPageProperties) {
  const alerts = useResource(async () => (await api.alerts(project)).data, [api, project]);
  const channels = useResource(async () => (await api.channels(project)).data, [api, project]);
  const { mayWrite } = useAccess();
  return (
    <>
      <PageTitle title="Alerts">
        <FreshnessLine of={alerts} />
      </PageTitle>
      <p class="dim">
        Get a message when an incident begins, or when many requests match an expression. Alerts are checked every
        minute. <a href="/docs/alerts">How to receive them</a>
      </p>
      <Loaded from={alerts}>
        {(list) => <AlertList api={api} project={project} list={list} channels={channels} reload={alerts.reload} />}
      </Loaded>
      {mayWrite && (
        <NewAlert
          key={query.get("q") ?? ""}
          api={api}
          project={project}
          expression={query.get("q")}
          channels={channels.value ?? []}
          onMade={alerts.reload}
        />
      )}
      <ChannelsCard api={api} project={project} channels={channels} />
    </>
  );
}

function AlertList(
  properties: ProjectPageProperties & {
    readonly list: readonly AlertAnswer[];
    readonly channels: Resource<ShownChannels>;
    readonly reload: () => Promise<void>;
  },
) {
  const { api, project, list, channels, reload } = properties;
  const [removing, setRemoving] = useState<AlertAnswer | null>(null);
  const task = useTask();
  const { mayWrite } = useAccess();
  const change = async (work: Promise<unknown>) => {
    await work;
    await reload();
  };
  const nameOf = (id: number) => {
    const channel = channels.value?.find((each) => each.id === id);
    return channel === undefined ? `channel ${id}` : channelName(channel);
  };
  const columns = [
    { name: "Alert", cell: ({ name }: AlertAnswer) => <span class="wrap">{name}</span> },
    { name: "When", cell: ({ when }: AlertAnswer) => <When of={when} /> },
    {
      name: "Tells",
      cell: ({ channel_ids }: AlertAnswer) =>
        channel_ids.length === 0 ? <span class="dim">nobody</span> : channel_ids.map(nameOf).join(", "),
    },
    {
      name: "Last fired",
      cell: ({ fired_at }: AlertAnswer) => (fired_at === null ? "never" : <Time at={fired_at} />),
    },
  ];
  const actions = {
    name: "Active",
    isAction: true,
    cell: (row: AlertAnswer) => (
      <span class="more">
        <label class="check">
          <input
            type="checkbox"
            role="switch"
            aria-label={`${row.name} is active`}
            aria-checked={row.is_active}
            checked={row.is_active}
            onChange={() =>
              void task.run(() => change(api.changeAlert(project, row.id, { is_active: !row.is_active })))
            }
          />
          Active
        </label>
        <RowButton label={`Delete ${row.name}`} onPress={() => setRemoving(row)}>
          Delete
        </RowButton>
      </span>
    ),
  };
  const state = { name: "Active", cell: ({ is_active }: AlertAnswer) => (is_active ? "yes" : "no") };
  return (
    <>
      <Table
        caption="Alerts"
        columns={[...columns, mayWrite ? actions : state]}
        rows={list}
        rowKey={({ id }) => id}
        empty="No alerts yet: nobody is told when something happens."
      />
      <Fault of={task.fault} />
      {removing !== null && (
        <Confirmation
          title="Delete this alert?"
          yes="Delete"
          act={() => task.confirmed(change(api.removeAlert(project, removing.id)))}
          onClose={() => setRemoving(null)}
        >
          <p>
            <b class="wrap">{removing.name}</b> will no longer tell anybody.
          </p>
        </Confirmation>
      )}
    </>
  );
}

const subjectWords: Readonly<Record<AlertSubject, string>> = {
  all: "requests",
  session: "requests with a session",
  request: "requests without a session",
};

function When({ of }: { readonly of: AlertWhen }) {
  if ("incident" in of) return <>An incident begins</>;
  return (
    <>
      {count(of.count)} {subjectWords[of.subject ?? "all"]} in {plural(of.minutes, "minute")} match{" "}
      <code class="wrap">{of.expression}</code>
    </>
  );
}

function NewAlert(
  properties: ProjectPageProperties & {
    /** Where one comes from Explore. */
    readonly expression: string | null;
    readonly channels: ShownChannels;
    readonly onMade: () => Promise<void>;
  },
) {
  const { api, project, channels, onMade } = properties;
  /** Null: as it is proposed. */
  const [typed, setTyped] = useState<string | null>(null);
  const [kind, setKind] = useState<"incident" | "count">(properties.expression === null ? "incident" : "count");
  const [expression, setExpression] = useState(properties.expression ?? "");
  const [atLeast, setAtLeast] = useState(100);
  const [minutes, setMinutes] = useState(5);
  const [subject, setSubject] = useState<AlertSubject>("all");
  /** Null: the only channel there is. */
  const [ticked, setTicked] = useState<ReadonlySet<number> | null>(null);
  const chosen = ticked ?? new Set(channels.length === 1 ? [channels[0]!.id] : []);
  const name = typed ?? (kind === "incident" ? "An incident begins" : expression.trim().slice(0, nameMax));
  const [said, setSaid] = useState("");
  const [tried, setTried] = useState<AlertTestAnswer | ExpressionFault | "waiting" | null>(null);
  const task = useTask();
  const isReady = kind === "incident" || (expression.trim() !== "" && atLeast > 0 && minutes > 0);
  const when: AlertWhen = kind === "incident" ? { incident: true } : { expression, count: atLeast, minutes, subject };
  useAsked<AlertTestAnswer | null>(
    async (signal) => {
      setTried(isReady ? "waiting" : null);
      return isReady ? api.testAlert(project, { when, from: weekAgo() }, signal) : null;
    },
    setTried,
    [api, project, JSON.stringify(when), isReady],
  );
  const fault = tried !== null && tried !== "waiting" && "state" in tried ? tried : null;
  const toggle = (id: number) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setTicked(next);
  };
  const submit = (event: Event) => {
    event.preventDefault();
    void task.run(async () => {
      await api.createAlert(project, { name: name.trim(), when, channel_ids: [...chosen] });
      await onMade();
      setSaid(`${name.trim()} is active.`);
      setTyped(null);
    });
  };
  return (
    <Card title="Create an alert">
      <form onSubmit={submit}>
        <NameField value={name} onChange={setTyped} />
        <fieldset>
          <legend>When</legend>
          <label class="check">
            <input type="radio" name="when" checked={kind === "incident"} onChange={() => setKind("incident")} />
            An incident begins: automated traffic suddenly grows
          </label>
          <label class="check">
            <input type="radio" name="when" checked={kind === "count"} onChange={() => setKind("count")} />
            The number of matching requests reaches a limit
          </label>
        </fieldset>
        {kind === "count" && (
          <>
            <ExpressionField
              value={expression}
              checked={
                fault ?? { state: expression.trim() === "" ? "empty" : tried === "waiting" ? "waiting" : "good" }
              }
              rows={2}
              isRequired
              use="rule"
              onChange={setExpression}
            />
            <div class="tools">
              <Amount label="At least" value={atLeast} max={1e9} onChange={setAtLeast} />
              <ChoiceField label="Of" value={subject} options={choicesOf(subjectWords)} onChange={setSubject} />
              <Amount label="Within (minutes)" value={minutes} max={1440} onChange={setMinutes} />
            </div>
          </>
        )}
        <fieldset>
          <legend>Tell</legend>
          {channels.length === 0 && <p class="dim">No channels yet: add one below.</p>}
          {channels.map((channel) => (
            <label key={channel.id} class="check">
              <input type="checkbox" checked={chosen.has(channel.id)} onChange={() => toggle(channel.id)} />
              {channelName(channel)}
            </label>
          ))}
        </fieldset>
        <Tried of={tried} />
        <Fault of={task.fault} />
        <p class="buttons">
          <span class="said" role="status">
            {said}
          </span>
          <button type="submit" class="primary" disabled={!isReady || fault !== null} aria-disabled={task.isRunning}>
            Create the alert
          </button>
        </p>
      </form>
    </Card>
  );
}

/** Characters of a proposed name at most. */
const nameMax = 80;

const weekAgo = (): string => new Date(Date.now() - 7 * 86_400_000).toISOString();

/** When it would have fired in the last week. */
function Tried({ of }: { readonly of: AlertTestAnswer | ExpressionFault | "waiting" | null }) {
  if (of === null) return null;
  if (of === "waiting") return <p class="dim">Trying it on the last 7 days…</p>;
  if ("state" in of) return of.line === null ? <Fault of={of.message} /> : null;
  const { fired_at, is_cut } = of;
  return (
    <div>
      <p class="dim" role="status">
        {fired_at.length === 0
          ? "It would not have fired in the last 7 days."
          : `In the last 7 days it would have fired ${is_cut ? "more than " : ""}${times(fired_at.length)}.`}{" "}
        <a href={hashOf("overview")}>Incidents</a> are on the overview.
      </p>
      {fired_at.length > 0 && (
        <details>
          <summary>When</summary>
          <ul class="plain">
            {fired_at.map((at) => (
              <li key={at}>
                <Time at={at} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
