/** Starts the SDK: what the script tag and the module have in common. Does nothing until it is called. */
import { type Agent, startAgent } from "./agent.js";
import { type Settings, settingsOf, type Verdictd, type VerdictdOptions } from "./options.js";
import { attempt } from "./page-hooks.js";
import { openTokenStore, type TokenStore } from "./token.js";

/** A started SDK, as script tags and modules of one page share it: these names are the same in both, and are not shortened. */
interface Started {
  readonly handle: Verdictd;
  /** The cookie that it writes. */
  readonly cookie: string | false;
  /** For those who start the same site key once more. */
  again(consent: string | undefined): void;
}

/** By site key. */
type Page = { [key: symbol]: Map<string, Started> };

/**
 * Starts collecting, or waits for `start` where that is wanted. A site key that was started before is not started twice: the answer is the first
 * one's. Without a browser, without a site key or where anything essential is missing, the answer is inert: `ready` is null and nothing is sent.
 * Never throws.
 */
export function startSdk(options: VerdictdOptions): Verdictd {
  let settings: Settings | undefined;
  let tokens: TokenStore;
  let agent: Agent | undefined;
  let running = false;
  // Of now: this one may take its place.
  const send = globalThis.fetch;
  let settle: (token: Promise<string | null> | null) => void;
  const start = () => {
    if (running) return;
    attempt(() => {
      agent = startAgent(settings!, tokens);
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
    fetch: async (input: RequestInfo | URL, init?: RequestInit) => {
      const again = (input as Partial<Request>).clone?.() ?? (input as string);
      const answer = await send(input, init);
      return answer.status === 403 && agent ? agent.sendAgain(answer, init, verdictd, () => send(again, init)) : answer;
    },
    start,
    stop(choice?: { forget?: boolean }) {
      running = false;
      agent?.stop();
      if (choice?.forget) tokens?.forget();
      settle(null);
    },
  };
  const first = attempt(() => {
    const { siteKey, consent } = options;
    if (typeof document !== "object" || typeof fetch !== "function" || !siteKey) return;
    if (siteKey.startsWith("sk_")) {
      console.error("verdictd: sk_ keys are secret");
      return;
    }
    const page = window as unknown as Page;
    const shared = Symbol.for("verdictd");
    page[shared] ??= new Map();
    const started = page[shared];
    const before = started.get(siteKey);
    if (before) {
      before.again(consent);
      return before.handle;
    }
    settings = settingsOf(options);
    const cookie = settings.cookie && settings.cookieName;
    for (const each of started.values()) {
      if (!cookie || each.cookie !== cookie) continue;
      console.error(`verdictd: another site key uses the cookie ${cookie}`);
      settings = undefined;
      return;
    }
    let isTold = false;
    started.set(siteKey, {
      handle: verdictd,
      cookie,
      again(wanted: string | undefined) {
        if (!isTold) console.warn("verdictd: started twice; one serves both");
        isTold = true;
        // Who waits for consent goes on waiting.
        if (agent && wanted === undefined) start();
      },
    });
    tokens = openTokenStore(settings);
    // Whatever else it says, somebody wanted consent first.
    if (consent === undefined) start();
    return;
  });
  if (!settings) settle!(null);
  return first ?? verdictd;
}
