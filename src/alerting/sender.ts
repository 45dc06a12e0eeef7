/**
 * Sends stored deliveries. Each is claimed in the store before it is sent, so that of several nodes or processes one sends it; a sender that dies leaves
 * it to the next, so it is sent at least once. Answers are not kept.
 */
import type { Channel, Delivery } from "../contract/incidents/alerts.js";
import { limits } from "../limits.js";
import { recordControlPlane } from "../store/control-plane-changes.js";
import type { Store } from "../store/store.js";
import { findDelivery, findRow, pendingDeliveries, putDelivery } from "./alerting-rows.js";
import { type Sent, sendWebhook } from "./send-webhook.js";

/** What the sender needs of its node. */
interface SenderParts {
  readonly store: Store;
  readonly now: () => number;
  readonly arePrivateAllowed: boolean;
  readonly onFailure: (error: unknown) => void;
  /** Told of every delivery that was delivered or has failed for good. */
  readonly onSettled: (delivery: Delivery) => void;
}

/** One per node; `look` regularly. */
export class AlertSender {
  readonly #parts: SenderParts;
  readonly #underWay = new Set<number>();
  readonly #tries = new Set<Promise<void>>();
  #isLooking = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** Resolves when nothing is being sent any more: within the time that a receiver has. */
  async drain(): Promise<void> {
    await Promise.all(this.#tries);
  }

  /** Whether nothing is being sent. */
  get isIdle(): boolean {
    return this.#underWay.size === 0;
  }

  /** Sends what is due, without waiting for it. On a cluster, only where this node has the lease. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { store, now, onFailure } = this.#parts;
    try {
      // Reads share a snapshot for a moment: a delivery may just have been stored.
      store.root.resetReadTxn();
      const due = pendingDeliveries(store).filter(
        (delivery) => isFree(delivery, now()) && !this.#underWay.has(delivery.id),
      );
      if (due.length > 0 && ((await store.leases?.take("alerts", limits.alertClaimMs)) ?? true)) {
        for (const delivery of due.slice(0, Math.max(0, limits.alertsAtOnce - this.#underWay.size))) {
          this.#underWay.add(delivery.id);
          const trying = this.#deliver(delivery)
            .catch(onFailure)
            .finally(() => {
              this.#underWay.delete(delivery.id);
              this.#tries.delete(trying);
            });
          this.#tries.add(trying);
        }
      }
    } catch (error) {
      onFailure(error);
    } finally {
      this.#isLooking = false;
    }
  }

  /** Sends the delivery of a test at once; it is not repeated. */
  async test(delivery: Delivery, channel: Channel): Promise<Delivery> {
    const sent = await this.#send(delivery, channel);
    const settled: Delivery = {
      ...delivery,
      attempts: 1,
      state: sent.isDelivered ? "delivered" : "failed",
      status: sent.status,
      error: sent.error,
    };
    await recordControlPlane(this.#parts.store, () => {
      // Its channel may have been removed meanwhile.
      if (findDelivery(this.#parts.store, delivery) !== null) putDelivery(this.#parts.store, settled);
    });
    return settled;
  }

  async #deliver(found: Delivery): Promise<void> {
    const { store, now, onSettled } = this.#parts;
    const claimed = await recordControlPlane(store, () => {
      const delivery = findDelivery(store, found);
      if (delivery === null || delivery.state !== "pending" || !isFree(delivery, now())) return null;
      const taken: Delivery = { ...delivery, claimedMs: now() + limits.alertClaimMs };
      putDelivery(store, taken);
      return taken;
    });
    const channel = claimed === null ? null : findRow(store, "channel", claimed.projectId, claimed.channelId);
    if (claimed === null || channel === null) return;
    const sent = await this.#send(claimed, channel);
    const settled = outcomeOf(claimed, sent, now());
    await recordControlPlane(store, () => {
      if (findDelivery(store, claimed) !== null) putDelivery(store, settled);
    });
    if (settled.state !== "pending") onSettled(settled);
  }

  #send({ body }: Delivery, { url, secret }: Channel): Promise<Sent> {
    const { arePrivateAllowed, now } = this.#parts;
    return sendWebhook({ url, body, secret, arePrivateAllowed, nowMs: now() });
  }
}

/** Whether a delivery is due, and no sender has it. A claim that ends later than any is made for comes from a clock that was set back. */
function isFree({ dueMs, claimedMs }: Delivery, nowMs: number): boolean {
  return dueMs <= nowMs && (claimedMs <= nowMs || claimedMs > nowMs + limits.alertClaimMs);
}

function outcomeOf(delivery: Delivery, { isDelivered, status, error }: Sent, nowMs: number): Delivery {
  const retryMs = limits.alertRetriesMs[delivery.attempts];
  const tried = { ...delivery, attempts: delivery.attempts + 1, claimedMs: 0, status, error };
  if (isDelivered) return { ...tried, state: "delivered" };
  return retryMs === undefined ? { ...tried, state: "failed" } : { ...tried, dueMs: nowMs + retryMs };
}
