/** The rows of the table `alerting` by their types. Writes belong into a transaction of the control plane. */
import type { Alert, Channel, Delivery } from "../contract/incidents/alerts.js";
import type { Incident } from "../contract/incidents/incidents.js";
import { type AlertingKey, alertingKinds } from "../store/keys.js";
import type { Store } from "../store/store.js";

interface Rows {
  readonly alert: Alert;
  readonly channel: Channel;
  readonly incident: Incident;
}
/** A kind of rows that belong to a project alone. */
type AlertingRowKind = keyof Rows;

/** Returns the row of a project by its id; null for none. */
export function findRow<K extends AlertingRowKind>(
  store: Store,
  kind: K,
  projectId: number,
  id: number,
): Rows[K] | null {
  return (store.alerting.get([projectId, alertingKinds[kind], 0, id]) as Rows[K] | undefined) ?? null;
}

/** All rows of a project by id, or the latest first. */
export function alertingRowsOf<K extends AlertingRowKind>(
  store: Store,
  kind: K,
  projectId: number,
  isLatestFirst = false,
): Rows[K][] {
  return valuesOf<Rows[K]>(store, projectId, alertingKinds[kind], 0, isLatestFirst);
}

/** Puts a row. */
export function putRow<K extends AlertingRowKind>(store: Store, kind: K, row: Rows[K]): void {
  store.alerting.putSync([row.projectId, alertingKinds[kind], 0, row.id], row);
}

/** Removes a row. */
export function removeRow(store: Store, kind: AlertingRowKind, projectId: number, id: number): void {
  store.alerting.removeSync([projectId, alertingKinds[kind], 0, id]);
}

/** The deliveries of a channel, the latest first. */
export function deliveriesOf(store: Store, projectId: number, channelId: number): Delivery[] {
  return valuesOf<Delivery>(store, projectId, alertingKinds.delivery, channelId, true);
}

/** Returns a delivery; null for none. */
export function findDelivery(store: Store, { projectId, channelId, id }: DeliveryRef): Delivery | null {
  const key: AlertingKey = [projectId, alertingKinds.delivery, channelId, id];
  return (store.alerting.get(key) as Delivery | undefined) ?? null;
}

/** What a delivery is found by. */
type DeliveryRef = Pick<Delivery, "projectId" | "channelId" | "id">;

/** Puts a delivery, and its mark while it is pending. */
export function putDelivery(store: Store, delivery: Delivery): void {
  const { projectId, channelId, id, state } = delivery;
  store.alerting.putSync([projectId, alertingKinds.delivery, channelId, id], delivery);
  const mark = pendingKey(delivery);
  if (state === "pending") store.alerting.putSync(mark, true);
  else store.alerting.removeSync(mark);
}

/** Removes a delivery with its mark. */
export function removeDelivery(store: Store, ref: DeliveryRef): void {
  store.alerting.removeSync([ref.projectId, alertingKinds.delivery, ref.channelId, ref.id]);
  store.alerting.removeSync(pendingKey(ref));
}

/** All pending deliveries of all projects. */
export function pendingDeliveries(store: Store): Delivery[] {
  const start: AlertingKey = [0, alertingKinds.pending, 0, 0];
  const found: Delivery[] = [];
  for (const key of store.alerting.getKeys({ start, end: [0, alertingKinds.pending + 1, 0, 0] })) {
    const [, , place, id] = key;
    const delivery = findDelivery(store, { ...placeOf(place), id });
    if (delivery !== null) found.push(delivery);
  }
  return found;
}

/** Projects and channels have 26 bits each: a number holds both. */
const channelsMax = 2 ** 26;

function pendingKey({ projectId, channelId, id }: DeliveryRef): AlertingKey {
  return [0, alertingKinds.pending, projectId * channelsMax + channelId, id];
}

function placeOf(place: number): { projectId: number; channelId: number } {
  return { projectId: Math.floor(place / channelsMax), channelId: place % channelsMax };
}

function valuesOf<T>(store: Store, projectId: number, kind: number, channel: number, isLatestFirst: boolean): T[] {
  const first: AlertingKey = [projectId, kind, channel, 0];
  const end: AlertingKey = [projectId, kind, channel, Number.POSITIVE_INFINITY];
  const range = isLatestFirst ? { start: end, end: first, reverse: true } : { start: first, end };
  return [...store.alerting.getRange(range)].map(({ value }) => value as T);
}
