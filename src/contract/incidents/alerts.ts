/** Alerts: when somebody is told, by which channels, and what became of each delivery. */
import type { tags } from "typia";

type Id = number & tags.Type<"uint32"> & tags.Minimum<1>;
type Time = string & tags.Format<"date-time">;

/** Which judged requests an alert counts: those with a scored session, those without, or both. */
export type AlertSubject = "session" | "request" | "all";

/** Whenever an incident begins that is not muted. */
interface WhenIncident {
  incident: true;
}

/** Whenever so many judged requests of the last minutes match an expression; asked every minute. */
export interface WhenCount {
  /** In the language of rules. */
  expression: string;
  count: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<1000000000>;
  minutes: number & tags.Type<"uint32"> & tags.Minimum<1> & tags.Maximum<1440>;
  /** Default `all`. */
  subject?: AlertSubject;
}

/** When an alert fires. */
export type AlertWhen = WhenIncident | WhenCount;

/** An alert as it is stored. */
export interface Alert {
  id: Id;
  projectId: Id;
  name: string;
  when: AlertWhen;
  channelIds: Id[];
  isActive: boolean;
  createdAt: Time;
  updatedAt: Time;
  /** Absent: never yet. */
  firedAt?: Time;
}

/** How a channel is written to. */
export type ChannelKind = "webhook" | "slack";

/** A channel as it is stored; URL and secret are secrets. */
export interface Channel {
  id: Id;
  projectId: Id;
  kind: ChannelKind;
  url: string;
  /** "" for a channel that is not signed. */
  secret: string;
  createdAt: Time;
}

/** What became of a delivery. */
export type DeliveryState = "pending" | "delivered" | "failed";

/** One alert to one channel, as it is stored. */
export interface Delivery {
  id: Id;
  projectId: Id;
  channelId: Id;
  /** null: a test of the channel. */
  alertId: Id | null;
  /** What is sent. */
  body: string;
  state: DeliveryState;
  attempts: number & tags.Type<"uint32">;
  createdAt: Time;
  /** When it is tried next, ms; meaningless unless pending. */
  dueMs: number;
  /** Until then one sender has it, ms. */
  claimedMs: number;
  /** Of the last try: the status that was answered, and what went wrong; null for none. */
  status: number | null;
  error: string | null;
}

/** A new alert. */
export interface AlertBody {
  name: string & tags.MinLength<1> & tags.MaxLength<255>;
  when: AlertWhen;
  channel_ids: Id[] & tags.MaxItems<20> & tags.UniqueItems;
  /** Default true. */
  is_active?: boolean;
}

/** Send only what changes; an absent key keeps its value. */
export interface AlertChangeBody extends Partial<AlertBody> {}

/** A draft of an alert's `when`, and the range in which it is tried, in ISO-8601; a date is its first moment; default: the last 24 hours. */
export interface AlertTestBody {
  when: AlertWhen;
  from?: string;
  to?: string;
}

/** A new channel. */
export interface ChannelBody {
  kind: ChannelKind;
  /** https; http only to private addresses, where `--alert-private-addresses` allows these. */
  url: string & tags.MinLength<1> & tags.MaxLength<2000>;
  /** What deliveries to a webhook are signed with; default: a random one. */
  secret?: string & tags.MinLength<16> & tags.MaxLength<255>;
}

/** An alert as the API shows it. */
export interface AlertAnswer {
  id: Id;
  name: string;
  when: AlertWhen;
  channel_ids: Id[];
  is_active: boolean;
  created_at: Time;
  updated_at: Time;
  /** When it last fired; null: never yet. */
  fired_at: Time | null;
}

/** All alerts of a project, by id. */
export interface AlertsAnswer {
  data: AlertAnswer[];
}

/** When an alert would have fired, the earliest first. */
export interface AlertTestAnswer {
  /** At most 100. */
  fired_at: Time[];
  /** Whether there would have been more. */
  is_cut: boolean;
  /** Judged requests and sessions that the answer was made of. */
  evaluated: number & tags.Type<"uint64">;
}

/** A channel as lists show it. */
export interface ChannelAnswer {
  id: Id;
  kind: ChannelKind;
  /** Scheme, host and port; the rest is shown once, when the channel is created. */
  url: string;
  created_at: Time;
}

/** A channel as it is shown once. */
export interface NewChannelAnswer extends ChannelAnswer {
  /** What deliveries are signed with; null for a channel that is not signed. */
  secret: string | null;
}

/** All channels of a project, by id. */
export interface ChannelsAnswer {
  data: ChannelAnswer[];
}

/** One delivery. */
export interface DeliveryAnswer {
  id: Id;
  /** Null: a test of the channel. */
  alert_id: Id | null;
  state: DeliveryState;
  at: Time;
  attempts: number & tags.Type<"uint32">;
  /** What the receiver answered to the last try; null: it did not. */
  status: (number & tags.Type<"uint32">) | null;
  /** What went wrong with the last try; null: nothing. */
  error: string | null;
  /** When it is tried again; null: it is not. */
  next_at: Time | null;
}

/** The last deliveries of a channel, the latest first. */
export interface DeliveriesAnswer {
  data: DeliveryAnswer[];
}
