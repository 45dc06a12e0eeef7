/**
 * Makes a browser's pages as slow as a phone: their processes run a part of the time and are stopped for the rest. DevTools' own throttling does
 * the same to a page's main thread alone, and leaves workers and Web Crypto, where a challenge is solved, at full speed.
 */
import type { Browser } from "playwright-core";

/** Long enough for timers to keep the parts apart, short beside a visit. */
const periodMs = 40;

interface SlowRenderers {
  /** The part of the time that they really ran. */
  readonly share: () => number;
  stop(): void;
}

/** The processes of the browser's pages that are open now. */
export async function rendererPids(browser: Browser): Promise<number[]> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id);
}

/** `factor` 4: they run for a quarter of the time. */
export function slowRenderers(pids: readonly number[], factor: number): SlowRenderers {
  const signal = (name: "SIGSTOP" | "SIGCONT"): void => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch {
        // A page that was closed meanwhile.
      }
    }
  };
  let ranMs = 0;
  let stoppedMs = 0;
  let isRunning = true;
  let since = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const turn = (): void => {
    const now = performance.now();
    if (isRunning) ranMs += now - since;
    else stoppedMs += now - since;
    since = now;
    isRunning = !isRunning;
    signal(isRunning ? "SIGCONT" : "SIGSTOP");
    timer = setTimeout(turn, Math.max(1, dueMs()));
  };
  /** How long this part takes so that the share comes out right: a timer that was late is made up for by the next part. */
  const dueMs = (): number =>
    isRunning ? (stoppedMs + periodMs * (1 - 1 / factor)) / (factor - 1) - ranMs : ranMs * (factor - 1) - stoppedMs;
  timer = setTimeout(turn, periodMs / factor);
  return {
    share: () => ranMs / (ranMs + stoppedMs),
    stop() {
      clearTimeout(timer);
      signal("SIGCONT");
    },
  };
}
