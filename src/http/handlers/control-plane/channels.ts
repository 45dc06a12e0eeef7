/** The channels of a project, by which alerts are told: listed, created, removed, tested, and what became of their deliveries. */

import type { Alerts } from "../../../alerting/alerts.js";
import { type Channels, missingChannel, shownUrl } from "../../../alerting/channels.js";
import { messageBody } from "../../../alerting/messages.js";
import type { AlertSender } from "../../../alerting/sender.js";
import type {
  Channel,
  ChannelAnswer,
  ChannelsAnswer,
  DeliveriesAnswer,
  Delivery,
  DeliveryAnswer,
  NewChannelAnswer,
} from "../../../contract/incidents/alerts.js";
import { Refusal } from "../../../errors.js";
import { type Answered, type Asked, projectRoute } from "../../operation-route.js";
import { json, refusal } from "../../reply.js";
import type { ProjectRoute } from "../../route.js";
import { positiveInteger } from "../../server.js";

/** The channels, and what sends to them. */
interface ChannelServices {
  readonly channels: Channels;
  readonly alerts: Alerts;
  readonly sender: AlertSender;
  readonly linkOf: (projectId: number) => string;
  readonly now: () => number;
}

/** Reads by `projects:read`, changes and tests by `projects:write`. */
export function channelRoutes(services: ChannelServices): ProjectRoute[] {
  const { channels } = services;
  return [
    projectRoute("listChannels", {
      needs: "projects:read",
      doc: { tag: "control plane", summary: "The channels of a project" },
      handle: ({ project }) => json(200, { data: channels.list(project.id).map(channelView) } satisfies ChannelsAnswer),
    }),
    projectRoute("createChannel", {
      needs: "projects:write",
      doc: {
        tag: "control plane",
        summary: "Create a channel",
        description:
          "The URL begins with https and leads to the internet; `--alert-private-addresses` also allows loopback and private addresses, and http there. " +
          "Secret and path of the URL are shown here only.",
      },
      handle: async ({ project, readBody }) => {
        const read = readBody();
        if (read instanceof Refusal) return refusal(read);
        const created = await channels.create(project, read.value);
        if (created instanceof Refusal) return refusal(created);
        const { url, secret } = created;
        return json(201, { ...channelView(created), url, secret: secret || null } satisfies NewChannelAnswer);
      },
    }),
    projectRoute("deleteChannel", {
      needs: "projects:write",
      doc: { tag: "control plane", summary: "Delete a channel, with what waits for it" },
      handle: async ({ project, params }) => {
        const id = positiveInteger(params[1]);
        if (id === null) return missing;
        const removed = await channels.remove(project, id);
        return removed instanceof Refusal ? refusal(removed) : { status: 204 };
      },
    }),
    projectRoute("testChannel", {
      needs: "projects:write",
      doc: {
        tag: "control plane",
        summary: "Send a test to a channel now",
        description: "It is not repeated. The answer says what became of it, within 5 seconds.",
      },
      handle: (call) => testChannel(services, call),
    }),
    projectRoute("listDeliveries", {
      needs: "projects:read",
      doc: { tag: "logs", summary: "The last 200 deliveries of a channel, the latest first" },
      handle: ({ project, params }) => {
        const id = positiveInteger(params[1]);
        if (id === null || channels.find(project.id, id) === null) return missing;
        return json(200, { data: channels.deliveries(project.id, id).map(deliveryView) } satisfies DeliveriesAnswer);
      },
    }),
  ];
}

async function testChannel(
  services: ChannelServices,
  { project, params }: Asked<"testChannel">,
): Promise<Answered<"testChannel">> {
  const { channels, alerts, sender, linkOf, now } = services;
  const id = positiveInteger(params[1]);
  const channel = id === null ? null : channels.find(project.id, id);
  if (channel === null) return missing;
  const body = messageBody(channel, {
    alert: null,
    project: { id: project.id, name: project.name },
    at: new Date(now()).toISOString(),
    expression: "",
    link: linkOf(project.id),
  });
  const delivery = await alerts.newTest(channel, body);
  return json(200, deliveryView(await sender.test(delivery, channel)));
}

function channelView(channel: Channel): ChannelAnswer {
  const { id, kind, createdAt } = channel;
  return { id, kind, url: shownUrl(channel), created_at: createdAt };
}

function deliveryView({ id, alertId, state, createdAt, attempts, status, error, dueMs }: Delivery): DeliveryAnswer {
  return {
    id,
    alert_id: alertId,
    state,
    at: createdAt,
    attempts,
    status,
    error,
    next_at: state === "pending" ? new Date(dueMs).toISOString() : null,
  };
}

const missing = refusal(missingChannel);
