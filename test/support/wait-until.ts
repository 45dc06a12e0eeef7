/** Waits for what a server does in the background. */
import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";

/** So long that no machine is too busy for it. */
const msMax = 60_000;

/** Looks again until `isDone` of what is seen; what was seen last. Rejects after a minute: what is waited for never comes then. */
export async function waitUntil<T>(look: () => Promise<T>, isDone: (seen: T) => boolean): Promise<T> {
  const endMs = performance.now() + msMax;
  let seen = await look();
  while (!isDone(seen)) {
    if (performance.now() >= endMs) throw new Error(`not within a minute: ${isDone}; last seen: ${inspect(seen)}`);
    await delay(10);
    seen = await look();
  }
  return seen;
}
