/**
 * Keeps the keys of the listed agents fresh, in the background and by the clock: nothing that a visitor sends makes it fetch. What was had
 * is kept when a fetch fails, since a directory that is down says nothing of its keys.
 */

import type { AgentKeys, FetchedAgent, SignedAgent } from "../../contract/bots/signed-agents.js";
import { limits } from "../../limits.js";
import type { FetchDirectory } from "./directory-fetch.js";

/** Where agents and keys are kept. */
interface AgentKeeper {
  listed(): readonly (SignedAgent & { readonly keys: AgentKeys | null })[];
  setFetched(fetched: readonly FetchedAgent[]): Promise<void>;
}

/** What refreshing works with. `mayFetch` is asked before each round, so that one process of a cluster fetches for all. */
export interface AgentRefreshParts {
  readonly keeper: AgentKeeper;
  readonly fetch: FetchDirectory;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Whether this process is the one that fetches what is due; default: it is. */
  readonly mayFetch?: () => Promise<boolean>;
  /** Told of each fetch; `failure` null when it brought keys. */
  readonly onFetched?: (url: string, failure: string | null) => void;
  /** Told when agents can't be read or keys can't be stored. */
  readonly onFailure?: (error: unknown) => void;
}

/** How one agent's fetch ended. */
export interface FetchOutcome {
  readonly url: string;
  /** Null when it failed. */
  readonly keys: number | null;
  readonly failure: string | null;
}

async function fetchAgent({ fetch, now }: AgentRefreshParts, url: string): Promise<FetchedAgent> {
  const fetched = await fetch(url);
  const at = new Date(now()).toISOString();
  if ("failure" in fetched) return { url, at, keys: null, failure: fetched.failure };
  return { url, at, keys: fetched.keys, failure: null };
}

/**
 * Fetches the keys of these agents, a few at a time, and stores them together; returns the outcomes in the order given. Rejects when the store can't be
 * written.
 */
export async function refreshAgents(parts: AgentRefreshParts, urls: readonly string[]): Promise<FetchOutcome[]> {
  const outcomes = new Map<string, FetchedAgent>();
  const waiting = [...urls];
  const work = async (): Promise<void> => {
    for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
      outcomes.set(url, await fetchAgent(parts, url));
    }
  };
  await Promise.all(Array.from({ length: limits.agentFetchesAtOnce }, work));
  const fetched = urls.map((url) => outcomes.get(url)!);
  await parts.keeper.setFetched(fetched);
  return fetched.map(({ url, keys, failure }) => ({ url, keys: keys?.length ?? null, failure }));
}

/** Fetches what is due, whenever it is looked for. */
export class AgentRefresh {
  readonly #parts: AgentRefreshParts;
  /** When an agent is next due, and how often in a row it failed. */
  readonly #due = new Map<string, { readonly atMs: number; readonly failures: number }>();
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();
  #isBusy = false;

  constructor(parts: AgentRefreshParts) {
    this.#parts = parts;
  }

  /** Looks every `limits.agentLookEveryMs`, first after as long. */
  start(): void {
    this.#timer = setInterval(() => {
      if (!this.#isBusy) this.#running = this.look();
    }, limits.agentLookEveryMs);
    this.#timer.unref();
  }

  /** Fetches the agents that are due now. Never rejects. */
  async look(): Promise<void> {
    const { keeper, now, mayFetch, onFetched, onFailure } = this.#parts;
    this.#isBusy = true;
    try {
      if (mayFetch !== undefined && !(await mayFetch())) return;
      const agents = keeper.listed();
      const listed = new Set(agents.map(({ url }) => url));
      for (const url of this.#due.keys()) if (!listed.has(url)) this.#due.delete(url);
      const due = agents.filter((agent) => this.#dueAt(agent) <= now()).map(({ url }) => url);
      for (const { url, failure } of await refreshAgents(this.#parts, due)) {
        this.#plan(url, failure);
        onFetched?.(url, failure);
      }
    } catch (error) {
      onFailure?.(error);
    } finally {
      this.#isBusy = false;
    }
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#running;
  }

  /** Keys that were had in time, by whichever process or from a file, put the fetch off. */
  #dueAt({ url, keys }: SignedAgent & { readonly keys: AgentKeys | null }): number {
    const fromKeys = keys === null ? 0 : Date.parse(keys.at) + limits.agentFetchEveryMs;
    return Math.max(fromKeys, this.#due.get(url)?.atMs ?? 0);
  }

  #plan(url: string, failure: string | null): void {
    const failures = failure === null ? 0 : (this.#due.get(url)?.failures ?? 0) + 1;
    const waitMs =
      failures === 0
        ? limits.agentFetchEveryMs
        : Math.min(limits.agentFetchEveryMs, limits.agentRetryMs * 2 ** Math.min(failures - 1, 20));
    // Up to a tenth more, so that many servers don't ask at the same moment.
    this.#due.set(url, { atMs: this.#parts.now() + waitMs * (1 + Math.random() / 10), failures });
  }
}
