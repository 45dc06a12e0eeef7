/** The channels of a project, by which its alerts are told. URL and secret are told once, when a channel is created. */
import { randomBytes } from "node:crypto";
import type { Channel, ChannelBody, Delivery } from "../contract/incidents/alerts.js";
import { audited, changeAudited } from "../control-plane/logs/audit.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { nextId, type Store } from "../store/store.js";
import { alertingRowsOf, deliveriesOf, findRow, putRow, removeDelivery, removeRow } from "./alerting-rows.js";
import { receiverUrl, resolveReceiver } from "./receiver-address.js";

/** The project that is changed. */
export interface OwnedProject {
  readonly id: number;
  readonly accountId: number;
}

/** One per HTTP thread. */
export class Channels {
  readonly #store: Store;
  readonly #now: () => number;
  /** `--alert-private-addresses`. */
  readonly #arePrivateAllowed: boolean;

  constructor(store: Store, now: () => number, arePrivateAllowed: boolean) {
    this.#store = store;
    this.#now = now;
    this.#arePrivateAllowed = arePrivateAllowed;
  }

  list(projectId: number): Channel[] {
    return alertingRowsOf(this.#store, "channel", projectId);
  }

  find(projectId: number, id: number): Channel | null {
    return findRow(this.#store, "channel", projectId, id);
  }

  /** The last deliveries of a channel, the latest first. */
  deliveries(projectId: number, id: number): Delivery[] {
    return deliveriesOf(this.#store, projectId, id);
  }

  /** Refuses `invalidPayload` for a URL that alerts are not sent to, and for one channel too many. A host without an address is tried when it is used, by https. */
  async create(project: OwnedProject, { kind, url: text, secret }: ChannelBody): Promise<Channel | Refusal> {
    const url = receiverUrl(text, this.#arePrivateAllowed);
    if ("fault" in url) return refuse("invalidPayload", url.fault);
    if (kind === "slack" && secret !== undefined)
      return refuse("invalidPayload", "secret is for channels of kind webhook");
    const receiver = await resolveReceiver(url, this.#arePrivateAllowed);
    if ("fault" in receiver) {
      if (receiver.isUnknown !== true) return refuse("invalidPayload", receiver.fault);
      // Whether it is one that http may lead to is not known.
      if (url.protocol !== "https:") return refuse("invalidPayload", `${receiver.fault}: ${onlyHttps}`);
    }
    return changeAudited(this.#store, this.#now, () => {
      if (this.list(project.id).length >= limits.channelsPerProjectMax) {
        return refuse("invalidPayload", `a project has at most ${limits.channelsPerProjectMax} channels`);
      }
      const channel: Channel = {
        id: nextId(this.#store, "channel"),
        projectId: project.id,
        kind,
        url: url.href,
        secret: kind === "slack" ? "" : (secret ?? `whsec_${randomBytes(24).toString("base64url")}`),
        createdAt: new Date(this.#now()).toISOString(),
      };
      putRow(this.#store, "channel", channel);
      return audited(channel, {
        ...loggedAs(project, channel),
        action: "channel.created",
        before: null,
        after: valuesOf(channel),
      });
    });
  }

  /** Removes a channel, what waits for it, and its place in alerts. `notFound` for none of the project. */
  remove(project: OwnedProject, id: number): Promise<Channel | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const channel = this.find(project.id, id);
      if (channel === null) return missingChannel;
      removeRow(this.#store, "channel", project.id, id);
      for (const delivery of deliveriesOf(this.#store, project.id, id)) removeDelivery(this.#store, delivery);
      for (const alert of alertingRowsOf(this.#store, "alert", project.id)) {
        if (!alert.channelIds.includes(id)) continue;
        putRow(this.#store, "alert", { ...alert, channelIds: alert.channelIds.filter((each) => each !== id) });
      }
      return audited(channel, {
        ...loggedAs(project, channel),
        action: "channel.removed",
        before: valuesOf(channel),
        after: null,
      });
    });
  }
}

const onlyHttps = "the URL must begin with https://, since http is only for private and loopback addresses";

/** The refusal for a channel that the project does not have. */
export const missingChannel = refuse("notFound", "the project has no such channel");

/** Scheme, host and port of a channel's URL: the path of a webhook is as good as a password. */
export function shownUrl({ url }: Pick<Channel, "url">): string {
  return `${new URL(url).origin}/…`;
}

function loggedAs(project: OwnedProject, { id, kind }: Channel) {
  return { accountId: project.accountId, projectId: project.id, subject: `channel ${id} "${kind}"` };
}

function valuesOf(channel: Channel) {
  return { kind: channel.kind, url: shownUrl(channel) };
}
