/**
 * The input of a rule: the facts of a session, and of the visitor's request that a verdict is about. The caller builds it once per verdict; the
 * getters of `fields.ts` read it. It has nothing about the logged-in assertion: no rule can read that.
 */
import type { KnownAgent } from "../contract/bots/agents.js";
import type { BotCategory } from "../contract/bots/bot-categories.js";
import type { DeclaredBot } from "../contract/bots/declared-bots.js";
import { neutralScore } from "../contract/evidence/evidence.js";
import type { AddressLookup, NetworkFact } from "../contract/evidence/network-fact.js";
import { canonicalHost } from "../contract/values/host.js";
import type { ExaminedRequest } from "../contract/verdicts/judged-request.js";
import type { Action, Band } from "../contract/verdicts/verdict.js";
import { rulePath } from "../contract/verdicts/visitor-request.js";
import { type Address, parseAddress } from "./address.js";

/** Facts by name. A missing value is undefined; in the five values of the request context, "" also means missing. */
export interface RuleFacts {
  /** 1 to 99, lower is more bot-confident; 0 for a verified bot without a score yet. */
  readonly score: number;
  readonly band: Band;
  readonly verifiedBot: boolean;
  /** Missing unless `verifiedBot`. */
  readonly verifiedBotCategory?: BotCategory | undefined;
  readonly path?: string | undefined;
  readonly method?: string | undefined;
  readonly host?: string | undefined;
  readonly userAgent?: string | undefined;
  /** Any IPv4 or IPv6 notation; other text counts as missing. */
  readonly ip?: string | undefined;
  /** Whether `path` is a static resource; missing if the path is missing. */
  readonly staticResource?: boolean | undefined;
  readonly detectionIds: readonly number[];
  /** The JavaScript engine found something. */
  readonly jsDetected: boolean;
  /** 1 to 99; null or undefined when the engine abstained. */
  readonly heuristicsScore?: number | null | undefined;
  /** 1 to 99; null or undefined when the engine abstained. */
  readonly behavioralScore?: number | null | undefined;
  /** Missing without a session, as is its age. */
  readonly eventCount?: number | undefined;
  /** Whole seconds since the session was first seen. */
  readonly sessionAgeSeconds?: number | undefined;
  /** 1 to 99. */
  readonly likelyBotThreshold: number;
  /** Whether the session holds a clearance with which this request passes a challenge; default: no. Called only if a rule reads it. */
  readonly isCleared?: (() => boolean) | undefined;
  /** Whether the token names a session of the project; default: no. */
  readonly hasSession?: boolean | undefined;
  /** Looked up only if a rule reads it. */
  readonly addresses?: AddressLookup | undefined;
  /** What the visitor's request shows; missing if only the session is judged. */
  readonly request?: ExaminedRequest | undefined;
  /** The bot that a stored session's user agent names, in searches and backtests; absent for a verdict. */
  readonly declaredBot?: (() => DeclaredBot | undefined) | undefined;
  /** The agent that the visitor is; looked up only if a rule reads it. */
  readonly agent?: (() => KnownAgent | undefined) | undefined;
  /** Absent for a verdict. */
  readonly search?: SearchFacts | undefined;
}

/** Fields that only a search of stored sessions has; computed on first read. */
export interface SearchFacts {
  /** What the current rules would do with the session, and the rule behind that; `null` means none. */
  readonly outcome: () => { readonly action: Action; readonly ruleId: number | null };
}

const nothing: NetworkFact = { country: undefined, asn: undefined, asName: undefined };

/** The facts with derived values, each derived once and only on demand. Valid for one verdict. */
export class RuleInput {
  readonly facts: RuleFacts;
  /** Cost of this input's comparisons so far; each comparison adds its own. A step is some nanoseconds; time itself is never measured. */
  steps = 0;
  #address: Address | null | undefined = null;
  #network: NetworkFact | undefined;
  #path: string | undefined;
  #host: string | undefined;
  #method: string | undefined;
  #agent: KnownAgent | undefined | null = null;

  constructor(facts: RuleFacts) {
    this.facts = facts;
  }

  /** The visitor's address, or undefined when it is missing or no address. */
  get address(): Address | undefined {
    if (this.#address === null) this.#address = this.facts.ip ? parseAddress(this.facts.ip) : undefined;
    return this.#address;
  }

  get network(): NetworkFact {
    const { ip, addresses } = this.facts;
    this.#network ??= ip && addresses !== undefined ? addresses.networkOf(ip) : nothing;
    return this.#network;
  }

  /** Names of the operator's lists that contain the visitor's address; undefined without an address. */
  get ipLists(): readonly string[] | undefined {
    const { ip, addresses } = this.facts;
    return ip ? addresses?.listsOf(ip) : undefined;
  }

  /** The bot that the request's user agent names; in searches and backtests the stored session's. */
  get declaredBot(): DeclaredBot | undefined {
    const { request, declaredBot } = this.facts;
    return request?.declaredBot ?? declaredBot?.();
  }

  /** The agent, crawler or library that the visitor is; undefined where none is known. */
  get agent(): KnownAgent | undefined {
    if (this.#agent === null) this.#agent = this.facts.agent?.();
    return this.#agent;
  }

  /** 1 to 99; undefined if the request was not judged. */
  get requestScore(): number | undefined {
    const { request } = this.facts;
    return request === undefined ? undefined : (request.score ?? neutralScore);
  }

  /** In the spelling of `rulePath`: an older session's may be stored in another one. */
  get path(): string | undefined {
    this.#path ??= this.facts.path && (rulePath(this.facts.path) ?? this.facts.path);
    return this.#path || undefined;
  }

  /** In the spelling of `canonicalHost`: host names are case-insensitive (RFC 4343), and a port is none of the name. */
  get host(): string | undefined {
    this.#host ??= this.facts.host && canonicalHost(this.facts.host);
    return this.#host || undefined;
  }

  /** Upper case. */
  get method(): string | undefined {
    this.#method ??= this.facts.method?.toUpperCase();
    return this.#method || undefined;
  }
}
