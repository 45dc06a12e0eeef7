/** Starts the SDK: what the script tag and the module have in common. Does nothing until it is called. */
import { type Agent, startAgent } from "./agent.js";
import { type Settings, settingsOf, type Verdictd, type VerdictdOptions } from "./options.js";
import { attempt } from "./page-hooks.js";
import { openTokenStore, type TokenStore } from "./token.js";

/**
 * Starts collecting, or waits for `start` where that is wanted. Without a browser, without a site key or where anything essential is
 * missing, the answer is inert: `ready` is null and nothing is sent. Never throws.
 */
export function startSdk(options: VerdictdOptions): Verdictd {
  let settings: Settings;
  let tokens: TokenStore;
  let agent: Agent | undefined;
  let running = false;
  let settle: (token: Promise<string | null> | null) => void;
  const start = () => {
    if (running) return;
    attempt(() => {
      agent = startAgent(settings, tokens);
      running = true;
      verdictd.ready = agent.ready;
    });
    // What waits for `ready` since before hears of the first start.
    settle(running ? verdictd.ready : null);
  };
  const verdictd = {
    ready: new Promise<string | null>((resolve) => {
      settle = resolve;
    }),
    token: () => agent?.token() ?? null,
    challenge: async () => (agent ? agent.challenge() : false),
    start,
    stop(choice?: { forget?: boolean }) {
      running = false;
      if (choice?.forget) tokens?.forget();
      agent?.stop();
      settle(null);
    },
  };
  attempt(() => {
    if (typeof document !== "object" || typeof fetch !== "function" || !options.siteKey) return;
    settings = settingsOf(options);
    tokens = openTokenStore(settings);
    // Whatever else it says, somebody wanted consent first.
    if (options.consent === undefined) start();
  });
  if (!tokens!) settle!(null);
  return verdictd;
}
