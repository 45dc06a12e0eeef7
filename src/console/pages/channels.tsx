/** Channels: where alerts are sent to, what became of the deliveries, and a test of each. */
import { useState } from "preact/hooks";
import type {
  ChannelAnswer,
  ChannelKind,
  DeliveryAnswer,
  DeliveryState,
  NewChannelAnswer,
} from "../../contract/incidents/alerts.js";
import { useAccess } from "../access.js";
import { ChoiceField, choicesOf } from "../fields.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Card, Confirmation, CopyField, Dialog, Fault, Loaded, RowButton, Table, Time } from "../parts.js";
import { type Resource, useResource, useTask } from "../resource.js";

/** All channels of a project. */
export type ShownChannels = readonly ChannelAnswer[];

const kindWords: Readonly<Record<ChannelKind, string>> = { webhook: "Webhook", slack: "Slack" };

/** "Webhook 3, https://hooks.example.com". */
export const channelName = ({ kind, id, url }: ChannelAnswer): string => `${kindWords[kind]} ${id}, ${url}`;

/** The list with the form for a new one, whose secrets are shown once. */
export function ChannelsCard({
  api,
  project,
  channels,
}: ProjectPageProperties & { readonly channels: Resource<ShownChannels> }) {
  const [made, setMade] = useState<NewChannelAnswer | null>(null);
  const [removing, setRemoving] = useState<ChannelAnswer | null>(null);
  const [opened, setOpened] = useState<ChannelAnswer | null>(null);
  const [said, setSaid] = useState("");
  const task = useTask();
  const { mayWrite } = useAccess();
  const remove = async (channel: ChannelAnswer) => {
    await api.removeChannel(project, channel.id);
    await channels.reload();
  };
  const test = (channel: ChannelAnswer) =>
    task.run(async () => {
      setSaid("");
      const delivery = await api.testChannel(project, channel.id);
      const outcome = `Test of ${channelName(channel)}: ${outcomeOf(delivery)}`;
      if (delivery.state === "failed") throw new Error(outcome);
      setSaid(outcome);
    });
  const columns = [
    { name: "Channel", cell: ({ kind, id }: ChannelAnswer) => `${kindWords[kind]} ${id}` },
    { name: "Sent to", cell: ({ url }: ChannelAnswer) => <code>{url}</code> },
    { name: "Since", cell: ({ created_at }: ChannelAnswer) => <Time at={created_at} /> },
    {
      name: "Deliveries",
      isAction: true,
      cell: (row: ChannelAnswer) => (
        <span class="more">
          <RowButton label={`Deliveries of ${channelName(row)}`} onPress={() => setOpened(row)}>
            Deliveries
          </RowButton>
          {mayWrite && (
            <RowButton label={`Test ${channelName(row)}`} isBusy={task.isRunning} onPress={() => void test(row)}>
              Test
            </RowButton>
          )}
          {mayWrite && (
            <RowButton label={`Remove ${channelName(row)}`} onPress={() => setRemoving(row)}>
              Remove
            </RowButton>
          )}
        </span>
      ),
    },
  ];
  return (
    <Card title="Channels">
      <p class="said" role="status">
        {said}
      </p>
      <Fault of={task.fault} />
      <Loaded from={channels}>
        {(list) => (
          <Table
            caption="Channels"
            columns={columns}
            rows={list}
            rowKey={({ id }) => id}
            empty="No channels yet: alerts have nowhere to go."
          />
        )}
      </Loaded>
      {mayWrite && (
        <NewChannel
          api={api}
          project={project}
          onMade={async (channel) => {
            setMade(channel);
            await channels.reload();
          }}
        />
      )}
      {made !== null && <Made channel={made} onClose={() => setMade(null)} />}
      {opened !== null && (
        <Dialog title={`Deliveries of ${channelName(opened)}`} onClose={() => setOpened(null)}>
          <Deliveries api={api} project={project} channel={opened.id} />
          <p class="buttons">
            <button type="button" onClick={() => setOpened(null)}>
              Close
            </button>
          </p>
        </Dialog>
      )}
      {removing !== null && (
        <Confirmation
          title="Remove this channel?"
          yes="Remove"
          act={() => task.confirmed(remove(removing))}
          onClose={() => setRemoving(null)}
        >
          <p>
            Nothing more is sent to <b class="wrap">{channelName(removing)}</b>, including deliveries that are still
            waiting.
          </p>
        </Confirmation>
      )}
    </Card>
  );
}

function NewChannel(
  properties: ProjectPageProperties & { readonly onMade: (channel: NewChannelAnswer) => Promise<void> },
) {
  const { api, project, onMade } = properties;
  const [kind, setKind] = useState<ChannelKind>("webhook");
  const [url, setUrl] = useState("");
  const task = useTask();
  const submit = (event: Event) => {
    event.preventDefault();
    void task.run(async () => {
      await onMade(await api.createChannel(project, { kind, url: url.trim() }));
      setUrl("");
    });
  };
  return (
    <form onSubmit={submit}>
      <div class="tools">
        <ChoiceField label="Kind" value={kind} options={choicesOf(kindWords)} onChange={setKind} />
        <label class="wide">
          <span>{kind === "slack" ? "URL of the incoming webhook" : "URL to send to"}</span>
          <input
            type="url"
            required
            maxLength={2000}
            autocomplete="off"
            spellcheck={false}
            placeholder="https://"
            value={url}
            onInput={(event) => setUrl(event.currentTarget.value)}
          />
        </label>
        <button type="submit" aria-disabled={task.isRunning}>
          Add the channel
        </button>
      </div>
      <Fault of={task.fault} />
    </form>
  );
}

function Made({ channel, onClose }: { readonly channel: NewChannelAnswer; readonly onClose: () => void }) {
  return (
    <Dialog title="The new channel" keeps onClose={onClose}>
      <p>
        The full URL {channel.secret === null ? "is" : "and the secret are"} shown only now. Test the channel once its
        receiver is running.
      </p>
      <CopyField label="URL" value={channel.url} />
      {channel.secret !== null && <CopyField label="Secret that deliveries are signed with" value={channel.secret} />}
      <p class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          I have stored it
        </button>
      </p>
    </Dialog>
  );
}

const stateWords: Readonly<Record<DeliveryState, string>> = {
  pending: "waiting",
  delivered: "delivered",
  failed: "failed",
};

function outcomeOf({ state, status, error }: DeliveryAnswer): string {
  const answered = status === null ? "" : `, answered ${status}`;
  return `${stateWords[state]}${answered}${error === null ? "" : `: ${error}`}`;
}

function Deliveries({ api, project, channel }: ProjectPageProperties & { readonly channel: number }) {
  const log = useResource(async () => (await api.deliveries(project, channel)).data, [api, project, channel], 5000);
  return (
    <Loaded from={log}>
      {(rows) => (
        <Table
          caption="Deliveries, the latest first"
          columns={[
            { name: "When", cell: ({ at }: DeliveryAnswer) => <Time at={at} /> },
            {
              name: "Alert",
              cell: ({ alert_id }: DeliveryAnswer) => (alert_id === null ? "test" : String(alert_id)),
            },
            { name: "Outcome", cell: (row: DeliveryAnswer) => outcomeOf(row) },
            { name: "Tries", cell: ({ attempts }: DeliveryAnswer) => attempts, isNumber: true },
            {
              name: "Next try",
              cell: ({ next_at }: DeliveryAnswer) => (next_at === null ? "none" : <Time at={next_at} />),
            },
          ]}
          rows={rows}
          rowKey={({ id }) => id}
          empty="Nothing has been sent yet."
        />
      )}
    </Loaded>
  );
}
