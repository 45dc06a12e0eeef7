/** Facts about the browser that take time to find out, or that the first report does without. */
import { attempt, nextTask } from "../page-hooks.js";
import type { ObservedFacts } from "../recorder.js";
import { clientHints } from "./client-hints.js";
import { differingFacts, withFrame } from "./contexts.js";
import { systemFonts } from "./fonts.js";
import { graphics, openGraphics } from "./graphics.js";
import { isDoubtful, tamperedNatives } from "./natives.js";
import { stackProbe } from "./stack-probe.js";
import { timezone } from "./worker.js";

/** What is not known by then is left out. */
const slowMs = 3000;

/** True when the two ways to ask for the notification permission contradict each other, as in old headless browsers. */
async function permissionsMismatch(): Promise<boolean | undefined> {
  // Elsewhere the two may differ by design.
  if (!isSecureContext || window !== top || !navigator.permissions || !window.Notification) return undefined;
  const { state } = await navigator.permissions.query({ name: "notifications" });
  return Notification.permission === "denied" && state === "prompt";
}

/** What pointers the browser says it has, and whether one of them can hover; empty: none at all. */
function pointerKinds(): string[] {
  const kinds = ["fine", "coarse", "hover"];
  return kinds.filter((kind) => matchMedia(`(any-${kind === "hover" ? kind : "pointer"}: ${kind})`).matches);
}

type Fact<K extends keyof ObservedFacts> = () => ObservedFacts[K] | Promise<ObservedFacts[K]>;

/**
 * The payload of a page's second `env` event, in 3 s at most: each fact is asked on its own, in a task of its own, and one that throws, or is
 * not known by then, is absent. `more` are facts that want what this file does not have: they are asked first, as others answer them.
 */
export async function collectLateEnvironment(more: { [K in keyof ObservedFacts]?: Fact<K> }): Promise<ObservedFacts> {
  const payload: Record<string, unknown> = {};
  const late = new Promise((resolve) => setTimeout(resolve, slowMs));
  const facts: { [K in keyof ObservedFacts]?: Fact<K> } = {
    ...more,
    // One frame answers two questions. To make it takes longer than all else, so it is made in doubt alone.
    iframe_mismatch() {
      if (isDoubtful()) {
        return withFrame((frame) => {
          payload["native_tampered"] = attempt(() => tamperedNatives(frame));
          return differingFacts(frame);
        });
      }
      payload["native_tampered"] = [];
      return [];
    },
    stack_probe: stackProbe,
    timezone,
    plugins: () => navigator.plugins?.length,
    mime_types: () => navigator.mimeTypes?.length,
    notification_permission: () => window.Notification?.permission,
    permissions_mismatch: permissionsMismatch,
    // A browser lays the page out before it answers, which it has done by now.
    inner_w: () => innerWidth,
    inner_h: () => innerHeight,
    any_pointer: pointerKinds,
    system_fonts: systemFonts,
  };
  const questions = [
    ...Object.entries(facts).map(([key, fact]) => async () => ({ [key]: await fact() })),
    clientHints,
    async () => openGraphics() && {},
    async () => graphics(),
  ];
  const ask = async () => {
    const answers = [];
    for (const question of questions) {
      await nextTask();
      const answer = question().then((found) => Object.assign(payload, found));
      answers.push(answer.catch(() => {}));
    }
    await Promise.all(answers);
  };
  await Promise.race([ask(), late]);
  // What is late would change a payload that is on its way.
  return { ...payload };
}
