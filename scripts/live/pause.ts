/** Waiting, as visitors do. */
import { setTimeout as timeout } from "node:timers/promises";

/** Waits for `ms`. */
export async function pause(ms: number): Promise<void> {
  if (ms > 0) await timeout(ms);
}
