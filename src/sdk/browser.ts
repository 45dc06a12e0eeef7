/** The npm entry `verdictd/browser`. Importing it does nothing, on a server either; `init` starts the SDK in a browser. */
import { startAgent } from "./agent.js";
import { settingsOf, type Verdictd, type VerdictdOptions } from "./options.js";

export type { Verdictd, VerdictdOptions } from "./options.js";

/**
 * Starts collecting. Without a browser, without a site key or where anything essential is missing, the answer is inert:
 * `ready` is null and nothing is sent. Never throws.
 */
export function init(options: VerdictdOptions): Verdictd {
  try {
    if (typeof document === "object" && typeof fetch === "function" && options.siteKey) {
      return startAgent(settingsOf(options));
    }
  } catch {
    // The page goes on without us.
  }
  return { ready: Promise.resolve(null), token: () => null, challenge: async () => false, stop() {} };
}
