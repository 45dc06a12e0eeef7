/** Facts about the browser that take time to find out, or that the first report does without. */
import { attempt } from "../page-hooks.js";
import type { Observed } from "../recorder.js";
import { graphicsOf } from "./graphics.js";
import { compareWorker } from "./worker.js";

/** What is not known by then is left out. */
const slowMs = 3000;

/** True when the two ways to ask for the notification permission contradict each other, as in old headless browsers. */
async function permissionsMismatch(): Promise<boolean | undefined> {
  // Elsewhere the two may differ by design.
  if (!isSecureContext || window !== top || !navigator.permissions || !("Notification" in window)) return undefined;
  const { state } = await navigator.permissions.query({ name: "notifications" });
  return Notification.permission === "denied" && state === "prompt";
}

/** The payload of a page's second `env` event. Each fact is read on its own: one that throws is absent, the others stay. */
export async function collectLateEnvironment(startWorker: (() => Worker) | null): Promise<Observed> {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, slowMs));
  const within = <T>(task: () => Promise<T> | undefined) =>
    Promise.race([Promise.resolve(attempt(task)).catch(() => undefined), late]);
  const graphics = attempt(() => graphicsOf(document.createElement("canvas"))) ?? {};
  const { webgl_renderer } = graphics;
  const [permissions, worker] = await Promise.all([
    within(permissionsMismatch),
    within(() => (startWorker ? compareWorker(startWorker, webgl_renderer ? { webgl_renderer } : {}) : undefined)),
  ]);
  return { ...graphics, permissions_mismatch: permissions, worker_mismatch: worker };
}
