/** Waits for what a server does in the background. */
import { setTimeout as delay } from "node:timers/promises";

/** So long that no machine is too busy for it. */
const msMax = 60_000;

/** Looks again until `isDone` of what is seen, for up to a minute; what was seen last. */
export async function waitUntil<T>(look: () => Promise<T>, isDone: (seen: T) => boolean): Promise<T> {
  const endMs = performance.now() + msMax;
  let seen = await look();
  while (!isDone(seen) && performance.now() < endMs) {
    await delay(10);
    seen = await look();
  }
  return seen;
}
