/**
 * Forward-confirmed reverse DNS, off the hot path: PTR of an address, then A or AAAA of the names it gives. Only names whose
 * forward record holds the address are confirmed, since anyone can write a PTR record. Knows nothing of operators, so its
 * cache outlives a change of the catalogue. A failure is "not known", never "no".
 */
import { Resolver } from "node:dns/promises";
import { LRUCache } from "lru-cache";
import { limits } from "../../limits.js";
import { canonicalAddress, parseV4, reverseName } from "../../net/address-text.js";
import { operatorNetwork } from "../../net/network.js";
import { ownText } from "../../runtime/text-memo.js";
import { FairTurns } from "./fair-turns.js";

/** What DNS says of an address. Names are lower case without a trailing dot. */
export interface ReverseAnswer {
  /** False when DNS failed, timed out, or was not asked because too much was waiting; both lists are empty then. */
  readonly isKnown: boolean;
  /** Names whose forward record holds the address. */
  readonly confirmed: readonly string[];
  /** Names of the PTR record whose forward record could not be read. */
  readonly unsure: readonly string[];
}

/** Name servers, and bounds of time and memory; all have defaults. */
export interface ReverseDnsOptions {
  /** Name servers as `address` or `address:port`; the system's when absent. */
  readonly servers?: readonly string[];
  /** Time for one address, PTR and forward queries together, ms. */
  readonly timeoutMs?: number;
  /** Addresses remembered; the least recently used one goes first. */
  readonly cacheMax?: number;
  /** Bounds on how long a confirmed name is believed, ms; between them the forward record's own TTL decides. */
  readonly ttlMinMs?: number;
  readonly ttlMaxMs?: number;
  /** How long "there is no confirmed name" is believed, ms. */
  readonly refutedTtlMs?: number;
  /** How long a failure keeps the next question away, ms. */
  readonly unknownTtlMs?: number;
  /** Addresses asked about at the same time. */
  readonly concurrencyMax?: number;
  /** Addresses that may wait for their turn; further ones are dropped as not known. */
  readonly waitingMax?: number;
  /** Clock, ms. */
  readonly now: () => number;
}

/** State for metrics: addresses in the cache, being asked about and waiting for it. */
interface ReverseDnsStats {
  readonly cached: number;
  readonly active: number;
  readonly waiting: number;
  /** Counts since the start: addresses asked about, of these not known in the end, and dropped without asking. */
  readonly lookups: number;
  readonly failures: number;
  readonly dropped: number;
}

/** Look-ups of one thread, with a cache of their own. */
export interface ReverseDns {
  /** What is remembered of a canonical address; undefined when nothing is. Never asks, never waits: for the hot path. */
  peek(ip: string): ReverseAnswer | undefined;
  /** What DNS says, from the cache or by asking; questions for one address are asked once. Never rejects. */
  resolve(ip: string): Promise<ReverseAnswer>;
  stats(): ReverseDnsStats;
  /** Ends every question as not known, and asks no more. */
  close(): void;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const defaults = {
  timeoutMs: 3000,
  cacheMax: 10_000,
  ttlMinMs: 5 * MINUTE_MS,
  ttlMaxMs: 24 * HOUR_MS,
  refutedTtlMs: HOUR_MS,
  unknownTtlMs: MINUTE_MS,
  concurrencyMax: 16,
  waitingMax: 256,
};

const notKnown: ReverseAnswer = Object.freeze({ isKnown: false, confirmed: [], unsure: [] });

interface Dated {
  readonly answer: ReverseAnswer;
  /** How long the answer may be believed, ms. */
  readonly ttlMs: number;
}

/**
 * Bounded on every side: cache, questions at a time, questions that wait, and time for each; of each, one network has a share. Throws on a bad server
 * address.
 */
export function createReverseDns(options: ReverseDnsOptions): ReverseDns {
  const settings = { ...defaults, ...options };
  const cache = createCache(settings.cacheMax, settings.now);
  const asking = new Map<string, Promise<ReverseAnswer>>();
  const turns = new FairTurns(settings);
  const idle: Resolver[] = [createResolver(settings)];
  const busy = new Set<Resolver>();
  const counts = { lookups: 0, failures: 0, dropped: 0 };
  let isClosed = false;

  function resolve(ip: string): Promise<ReverseAnswer> {
    const address = canonicalAddress(ip);
    if (address === "" || isClosed) return Promise.resolve(notKnown);
    const remembered = cache.get(address);
    if (remembered !== undefined) return Promise.resolve(remembered);
    const pending = asking.get(address);
    if (pending !== undefined) return pending;
    const turn = turns.take(operatorNetwork(address));
    if (turn === null) {
      counts.dropped++;
      return Promise.resolve(notKnown);
    }
    const question = ask(address, turn).finally(() => asking.delete(address));
    asking.set(address, question);
    return question;
  }

  async function ask(address: string, turn: Promise<boolean>): Promise<ReverseAnswer> {
    if (!(await turn)) {
      counts.dropped++;
      return notKnown;
    }
    if (isClosed) return notKnown;
    let isFailure = true;
    const resolver = idle.pop() ?? createResolver(settings);
    busy.add(resolver);
    counts.lookups++;
    const timer = setTimeout(() => resolver.cancel(), settings.timeoutMs);
    try {
      const { answer, ttlMs } = await question(resolver, address, settings);
      isFailure = !answer.isKnown || answer.unsure.length > 0;
      if (!answer.isKnown) counts.failures++;
      if (!isClosed) cache.set(address, answer, ttlMs);
      return answer;
    } finally {
      clearTimeout(timer);
      busy.delete(resolver);
      idle.push(resolver);
      turns.end(operatorNetwork(address), isFailure);
    }
  }

  function close(): void {
    isClosed = true;
    for (const resolver of busy) resolver.cancel();
    turns.dismissAll();
  }

  return {
    peek: cache.get,
    resolve,
    stats: () => ({ cached: cache.size(), active: busy.size, waiting: turns.waiting, ...counts }),
    close,
  };
}

/** Each question at a time has a resolver of its own, so that its deadline cancels no other. */
function createResolver(settings: { timeoutMs: number; servers?: readonly string[] }): Resolver {
  const resolver = new Resolver({ timeout: Math.max(1, Math.ceil(settings.timeoutMs / 2)), tries: 2 });
  if (settings.servers !== undefined) resolver.setServers(settings.servers);
  return resolver;
}

type Ttls = Pick<Required<ReverseDnsOptions>, "ttlMinMs" | "ttlMaxMs" | "refutedTtlMs" | "unknownTtlMs">;

/** PTR and its forward confirmation. */
async function question(resolver: Resolver, address: string, ttls: Ttls): Promise<Dated> {
  const names = await lookup(() => resolver.resolvePtr(reverseName(address)));
  if (names === undefined) return { answer: notKnown, ttlMs: ttls.unknownTtlMs };
  const hostnames = [...new Set(names.map(hostnameOf))].filter((name) => name !== "").slice(0, limits.reverseNamesMax);
  const forward = await Promise.all(hostnames.map((hostname) => confirm(resolver, hostname, address)));
  const confirmed = hostnames.filter((_, index) => forward[index] !== undefined && forward[index] !== null);
  const unsure = hostnames.filter((_, index) => forward[index] === undefined);
  const answer = { isKnown: true, confirmed, unsure };
  if (unsure.length > 0) return { answer, ttlMs: ttls.unknownTtlMs };
  const seconds = forward.filter((ttl) => typeof ttl === "number");
  if (seconds.length === 0) return { answer, ttlMs: ttls.refutedTtlMs };
  return { answer, ttlMs: Math.min(ttls.ttlMaxMs, Math.max(ttls.ttlMinMs, Math.min(...seconds) * 1000)) };
}

/** TTL in seconds of the forward record that holds the address, null when none does, undefined when DNS failed. */
async function confirm(resolver: Resolver, hostname: string, address: string): Promise<number | null | undefined> {
  const records = await lookup(() =>
    parseV4(address) >= 0 ? resolver.resolve4(hostname, { ttl: true }) : resolver.resolve6(hostname, { ttl: true }),
  );
  if (records === undefined) return undefined;
  return records.find((record) => canonicalAddress(record.address) === address)?.ttl ?? null;
}

/** The records; none when DNS says there are none (no such name, no such record); undefined when it failed to answer. */
async function lookup<T>(query: () => Promise<T[]>): Promise<T[] | undefined> {
  try {
    return await query();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    return code === "ENOTFOUND" || code === "ENODATA" ? [] : undefined;
  }
}

/** A name of a PTR record as it is compared: lower case, no trailing dot; "" when it can't be a hostname. */
function hostnameOf(name: string): string {
  const hostname = name.toLowerCase().replace(/\.$/, "");
  return hostname.length <= limits.hostnameMax && /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(hostname) ? hostname : "";
}

interface Remembered {
  readonly answer: ReverseAnswer;
  readonly expiresAtMs: number;
}

/**
 * Answers by address until they expire. Beyond `entriesMax` failures are forgotten first, then the least recently used answer: whoever lets questions
 * fail pushes out nothing that is known.
 */
function createCache(entriesMax: number, now: () => number) {
  const failures = new LRUCache<string, Remembered>({ max: entriesMax + 1 });
  const answers = new LRUCache<string, Remembered>({ max: entriesMax + 1 });
  const rowsOf = ({ isKnown, unsure }: ReverseAnswer) => (isKnown && unsure.length === 0 ? answers : failures);
  return {
    get(address: string): ReverseAnswer | undefined {
      const rows = answers.has(address) ? answers : failures;
      const row = rows.get(address);
      if (row === undefined || row.expiresAtMs > now()) return row?.answer;
      rows.delete(address);
      return undefined;
    },
    set(address: string, answer: ReverseAnswer, ttlMs: number): void {
      failures.delete(address);
      answers.delete(address);
      rowsOf(answer).set(ownText(address), { answer, expiresAtMs: now() + ttlMs });
      if (failures.size + answers.size > entriesMax) (failures.size > 0 ? failures : answers).pop();
    },
    size: () => failures.size + answers.size,
  };
}
