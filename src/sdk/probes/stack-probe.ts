/** An attached debugger client, as drivers and developer tools are. Idea: rebrowser. */
import { looksNative } from "./natives.js";

/**
 * True when something looks into the console's arguments as they are passed: a client of the debugger protocol, such as
 * Playwright, Puppeteer and chromedriver, or a person's open developer tools. One weak fact, then.
 * Chromium up to about 136 read an error's `stack` for the client; later ones read its `name` once more than its `message`.
 * `groupEnd` prints nothing, and monitoring scripts that wrap the console leave it alone. Other browsers are not asked.
 */
export function stackProbe(): boolean | undefined {
  const groupEnd: (...args: unknown[]) => void = console.groupEnd;
  if (!("memory" in console) || !looksNative(groupEnd)) return undefined;
  const reads = { stack: 0, name: 0, message: 0 };
  const pass = (...keys: (keyof typeof reads)[]) => {
    const trap = new Error();
    for (const key of keys) Object.defineProperty(trap, key, { get: () => String(reads[key]++) });
    groupEnd.call(console, trap);
  };
  pass("stack");
  pass("name", "message");
  return reads.stack > 0 || reads.name > Math.max(1, reads.message);
}
