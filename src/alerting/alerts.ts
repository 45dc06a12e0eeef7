/** The alerts of a project, and what happens when one fires: a delivery to each of its channels is stored, once in ten minutes at most. */

import type { AuditValues } from "../contract/configuration/audit.js";
import type { Alert, AlertBody, AlertChangeBody, AlertWhen, Channel, Delivery } from "../contract/incidents/alerts.js";
import { type Audited, audited, changeAudited } from "../control-plane/logs/audit.js";
import { type Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { compileRule } from "../rules/compile-rule.js";
import { isRuleFault } from "../rules/fault.js";
import { recordControlPlane } from "../store/control-plane-changes.js";
import { nextId, type Store } from "../store/store.js";
import {
  alertingRowsOf,
  deliveriesOf,
  findRow,
  putDelivery,
  putRow,
  removeDelivery,
  removeRow,
} from "./alerting-rows.js";
import { missingChannel, type OwnedProject } from "./channels.js";

/** Why a `when` is none, or null. */
export function whenFault(when: AlertWhen): Refusal | null {
  if ("incident" in when)
    return "expression" in when ? refuse("invalidPayload", "when has either incident or expression") : null;
  const compiled = compileRule(when.expression);
  return isRuleFault(compiled) ? refuse("invalidPayload", `when.expression: ${compiled.message}`) : null;
}

/** One per HTTP thread. */
export class Alerts {
  readonly #store: Store;
  readonly #now: () => number;

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  list(projectId: number): Alert[] {
    return alertingRowsOf(this.#store, "alert", projectId);
  }

  /** Refuses `invalidPayload` for an expression that does not compile, an unknown channel and one alert too many. */
  async create(project: OwnedProject, body: AlertBody): Promise<Alert | Refusal> {
    const fault = whenFault(body.when);
    if (fault !== null) return fault;
    return changeAudited(this.#store, this.#now, () => {
      if (this.list(project.id).length >= limits.alertsPerProjectMax) {
        return refuse("invalidPayload", `a project has at most ${limits.alertsPerProjectMax} alerts`);
      }
      const at = new Date(this.#now()).toISOString();
      return this.#put(project, null, {
        id: nextId(this.#store, "alert"),
        projectId: project.id,
        name: body.name,
        when: wellFormed(body.when),
        channelIds: body.channel_ids,
        isActive: body.is_active ?? true,
        createdAt: at,
        updatedAt: at,
      });
    });
  }

  /** As `create`; `notFound` for an alert of another project. */
  async change(project: OwnedProject, id: number, change: AlertChangeBody): Promise<Alert | Refusal> {
    const fault = change.when === undefined ? null : whenFault(change.when);
    if (fault !== null) return fault;
    return changeAudited(this.#store, this.#now, () => {
      const alert = findRow(this.#store, "alert", project.id, id);
      if (alert === null) return missingAlert;
      return this.#put(project, alert, {
        ...alert,
        name: change.name ?? alert.name,
        when: change.when === undefined ? alert.when : wellFormed(change.when),
        channelIds: change.channel_ids ?? alert.channelIds,
        isActive: change.is_active ?? alert.isActive,
        updatedAt: new Date(this.#now()).toISOString(),
      });
    });
  }

  /** `notFound` for an alert of another project. */
  remove(project: OwnedProject, id: number): Promise<Alert | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const alert = findRow(this.#store, "alert", project.id, id);
      if (alert === null) return missingAlert;
      removeRow(this.#store, "alert", project.id, id);
      return audited(alert, {
        ...loggedAs(project, alert),
        action: "alert.removed",
        before: valuesOf(alert),
        after: null,
      });
    });
  }

  #put(project: OwnedProject, before: Alert | null, alert: Alert): Audited<Alert> | Refusal {
    const unknown = alert.channelIds.find((id) => findRow(this.#store, "channel", project.id, id) === null);
    if (unknown !== undefined) return refuse("invalidPayload", `channel_ids: ${missingChannel.message}: ${unknown}`);
    putRow(this.#store, "alert", alert);
    const action = before === null ? "alert.created" : "alert.changed";
    return audited(alert, {
      ...loggedAs(project, alert),
      action,
      before: before === null ? null : valuesOf(before),
      after: valuesOf(alert),
    });
  }

  /**
   * Stores a delivery for each channel of an alert. Returns false where it fired within the last ten minutes, here or on another node, was turned off or
   * is gone. `bodyFor` makes what a channel is sent.
   */
  fire(
    { id, projectId }: Pick<Alert, "id" | "projectId">,
    bodyFor: (alert: Alert, channel: Channel) => string,
  ): Promise<boolean> {
    return recordControlPlane(this.#store, () => {
      const nowMs = this.#now();
      const alert = findRow(this.#store, "alert", projectId, id);
      if (alert === null || !alert.isActive || !isDue(alert, nowMs)) return false;
      putRow(this.#store, "alert", { ...alert, firedAt: new Date(nowMs).toISOString() });
      for (const channelId of alert.channelIds) {
        const channel = findRow(this.#store, "channel", projectId, channelId);
        if (channel !== null) this.#putNew(channel, id, bodyFor(alert, channel), nowMs);
      }
      return true;
    });
  }

  /** Stores the delivery of a test, which the caller sends itself. */
  newTest(channel: Channel, body: string): Promise<Delivery> {
    return recordControlPlane(this.#store, () => this.#putNew(channel, null, body, this.#now()));
  }

  #putNew({ id: channelId, projectId }: Channel, alertId: number | null, body: string, nowMs: number): Delivery {
    const isTest = alertId === null;
    const delivery: Delivery = {
      id: nextId(this.#store, "delivery"),
      projectId,
      channelId,
      alertId,
      body,
      state: isTest ? "failed" : "pending",
      attempts: 0,
      createdAt: new Date(nowMs).toISOString(),
      dueMs: nowMs,
      claimedMs: 0,
      status: null,
      error: isTest ? "was not sent" : null,
    };
    putDelivery(this.#store, delivery);
    for (const old of deliveriesOf(this.#store, projectId, channelId).slice(limits.deliveriesKept))
      removeDelivery(this.#store, old);
    return delivery;
  }
}

/** Whether an alert may fire again. A time after now comes from a clock that was set back. */
function isDue({ firedAt }: Alert, nowMs: number): boolean {
  if (firedAt === undefined) return true;
  const agoMs = nowMs - Date.parse(firedAt);
  return agoMs < 0 || agoMs >= limits.alertEveryMs;
}

/** Without keys that the API does not know. */
function wellFormed(when: AlertWhen): AlertWhen {
  if ("incident" in when) return { incident: true };
  const { expression, count, minutes, subject = "all" } = when;
  return { expression, count, minutes, subject };
}

const missingAlert = refuse("notFound", "the project has no such alert");

function loggedAs(project: OwnedProject, { id, name }: Alert) {
  return { accountId: project.accountId, projectId: project.id, subject: `alert ${id} "${name}"` };
}

function valuesOf({ name, when, channelIds, isActive }: Alert): AuditValues {
  const condition =
    "incident" in when ? "an incident" : `${when.count} in ${when.minutes} min of ${when.subject}: ${when.expression}`;
  return { name, when: condition, channel_ids: channelIds.map(String), is_active: isActive };
}
