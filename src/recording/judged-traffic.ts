/**
 * The one place where every computed verdict passes: makes its facts (`JudgedFacts`) and tells them to the observers: counters, samples, incidents.
 * Verdicts wait for some milliseconds and are told together: what counts one after another finds its code and its tables in the processor's cache, and
 * costs half. What many requests share (templates, families, networks) is remembered.
 */
import type { KnownAgent } from "../contract/bots/agents.js";
import type { IpStorage } from "../contract/configuration/scoring-worker.js";
import type { AddressLookup, NetworkFact } from "../contract/evidence/network-fact.js";
import type { ScoredState } from "../contract/sessions/session.js";
import type { JudgedFacts, TrafficObserver } from "../contract/traffic/traffic.js";
import { minuteMs } from "../contract/values/durations.js";
import { canonicalHost } from "../contract/values/host.js";
import type { ExaminedRequest } from "../contract/verdicts/judged-request.js";
import type { RequestContext, Verdict, VerdictSubject } from "../contract/verdicts/verdict.js";
import { limits } from "../limits.js";
import { operatorNetwork } from "../net/network.js";
import { storedAddress } from "../net/stored-address.js";
import { userAgentFamily } from "../rules/user-agent-family.js";
import { TextMemo } from "../runtime/text-memo.js";
import { CountedShare } from "./counted-share.js";
import { pathTemplate } from "./path-template.js";

/** A computed verdict and what it was computed from. */
export interface Judged {
  readonly projectId: number;
  readonly subject: VerdictSubject;
  /** Null without a session. */
  readonly sessionToken: string | null;
  readonly state: Pick<ScoredState, "last"> | null;
  /** Undefined for a verdict read, which judges no request. */
  readonly request: ExaminedRequest | undefined;
  /** The verified bot, or the signed agent. */
  readonly proved: { readonly name: string; readonly category: string } | null;
  /** Who the visitor is; undefined for a person, and for a name that is spoofed. */
  readonly agent: () => Pick<KnownAgent, "name"> | undefined;
  readonly context: RequestContext;
  readonly verdict: Verdict;
  readonly rule: { readonly id: number; readonly name: string } | null;
  readonly isLoggedIn: boolean;
  readonly atMs: number;
}

/** The look-ups of facts, each cheap. */
export interface JudgedTrafficSources {
  readonly addresses: Pick<AddressLookup, "networkOf">;
  /** The bot that a user agent names. */
  readonly declaredBotOf: (userAgent: string) => { readonly name: string } | undefined;
  /** Whom a user agent claims to be; undefined for nobody. */
  readonly claimOf: (userAgent: string) => { readonly operator: string; readonly category: string | null } | undefined;
  readonly ipStorage: IpStorage;
  /** Runs the work, in which the look-ups need not see a list that is replaced meanwhile. If absent, each sees the latest. */
  readonly together?: (work: () => void) => void;
  /** Called when a verdict could not be told. */
  readonly onFailure: (error: unknown) => void;
}

interface AddressFacts {
  readonly address: string;
  readonly ip: string;
  readonly network: string;
  readonly asn: string;
  readonly fact: NetworkFact;
}

/** The detection of a user agent that claims an operator falsely. */
const spoofedCrawler = 400101;

/** One per HTTP thread. */
export class JudgedTraffic {
  readonly #sources: JudgedTrafficSources;
  readonly #observers: TrafficObserver[] = [];
  /** Verdicts that were not told yet, at most `limits.judgedWaitingMax`, and for how many each stands. */
  #waiting: Judged[] = [];
  #weights: number[] = [];
  readonly #templates = new TextMemo<string>(limits.trafficMemoMax);
  readonly #families = new TextMemo<string>(limits.trafficMemoMax);
  /** Facts of recent addresses, one in each slot. Begun anew every minute: network facts may be replaced. */
  readonly #addresses = new Array<AddressFacts | undefined>(addressSlots).fill(undefined);
  #minute = 0;
  readonly #share = new CountedShare();
  /** The host that was reported last, and its canonical name. */
  #host = "";
  #canonicalHost = "";

  constructor(sources: JudgedTrafficSources) {
    this.#sources = sources;
  }

  /** This observer is told of every computed verdict that was not told yet. */
  observe(observer: TrafficObserver): void {
    this.#observers.push(observer);
  }

  /** For how many computed verdicts of its kind this one is told; 0: the next one is told for it. Counts it, so ask once. */
  weightOf(
    projectId: number,
    subject: VerdictSubject,
    verdict: Verdict,
    proved: Judged["proved"],
    atMs: number,
  ): number {
    if (verdict.action !== "allow" || proved !== null || verdict.detection_ids.includes(spoofedCrawler)) return 1;
    return this.#share.weightOf(projectId, subject, verdict.verdict, atMs);
  }

  /** Takes a verdict of this `weightOf`, not 0, which is told within `limits.judgedWaitMs`. Never throws. */
  record(judged: Judged, weight: number): void {
    const waiting = this.#waiting.push(judged);
    this.#weights.push(weight);
    if (waiting === 1) setTimeout(() => this.tell(), limits.judgedWaitMs);
    else if (waiting >= limits.judgedWaitingMax) this.tell();
  }

  /** Tells what waits; whoever reads what an observer has counted calls it first. Never throws. */
  tell(): void {
    const [told, weights] = [this.#waiting, this.#weights];
    this.#waiting = [];
    this.#weights = [];
    if (told.length === 0) return;
    const { together = (work) => work() } = this.#sources;
    together(() => {
      for (let index = 0; index < told.length; index++) this.#tellOne(told[index]!, weights[index]!);
    });
  }

  #tellOne(judged: Judged, weight: number): void {
    try {
      const facts = this.#factsOf(judged, weight);
      for (const observer of this.#observers) observer.onJudged(facts);
    } catch (error) {
      this.#sources.onFailure(error);
    }
  }

  #factsOf(judged: Judged, weight: number): JudgedFacts {
    const { projectId, subject, sessionToken, state, request, proved, agent, context, verdict, rule } = judged;
    const { isLoggedIn, atMs } = judged;
    const last = state?.last;
    const path = context.path ?? last?.path ?? "";
    const userAgent = context.userAgent ?? last?.userAgent ?? "";
    const { ip, network, asn, fact } = this.#addressFacts(context.ip ?? last?.ip ?? "", atMs);
    const declared = request === undefined ? this.#declaredBot(userAgent) : (request.declaredBot?.name ?? "");
    const isSpoofed = verdict.detection_ids.includes(spoofedCrawler);
    const claim = isSpoofed ? this.#sources.claimOf(userAgent) : undefined;
    const impostorOf = claim?.operator ?? "";
    const verifiedBot = proved?.name ?? "";
    return {
      projectId,
      atMs,
      weight,
      subject,
      sessionToken,
      band: verdict.verdict,
      action: verdict.action,
      score: verdict.score,
      reason: verdict.reason,
      detectionIds: verdict.detection_ids,
      rule,
      values: {
        path: this.#template(path),
        host: this.#hostOf(context.host ?? last?.host ?? ""),
        ip,
        network,
        asn,
        country: fact.country ?? "",
        user_agent_family: this.#family(userAgent),
        declared_bot: declared,
        verified_bot: verifiedBot,
        agent: agent()?.name ?? "",
        rule: rule === null ? "" : String(rule.id),
      },
      impostorOf,
      impostorCategory: claim?.category ?? "",
      verifiedBotCategory: proved?.category ?? "",
      network: fact,
      request,
      method: context.method ?? "",
      isLoggedIn,
      path,
      userAgent,
    };
  }

  #declaredBot(userAgent: string): string {
    return userAgent === "" ? "" : (this.#sources.declaredBotOf(userAgent)?.name ?? "");
  }

  #template(path: string): string {
    if (path === "") return "";
    let template = this.#templates.get(path);
    if (template === undefined) {
      template = pathTemplate(path);
      this.#templates.set(path, template);
    }
    return template;
  }

  #family(userAgent: string): string {
    if (userAgent === "") return "";
    let family = this.#families.get(userAgent);
    if (family === undefined) {
      family = userAgentFamily(userAgent).slice(0, limits.trafficFamilyCharactersMax);
      this.#families.set(userAgent, family);
    }
    return family;
  }

  #addressFacts(address: string, atMs: number): AddressFacts {
    const minute = Math.floor(atMs / minuteMs);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#addresses.fill(undefined);
    }
    const slot = slotOf(address);
    let facts = this.#addresses[slot];
    if (facts?.address !== address) {
      const ip = storedAddress(address, this.#sources.ipStorage);
      const fact = this.#sources.addresses.networkOf(address);
      facts = { address, ip, network: operatorNetwork(ip), asn: fact.asn === undefined ? "" : String(fact.asn), fact };
      this.#addresses[slot] = facts;
    }
    return facts;
  }

  #hostOf(host: string): string {
    if (host !== this.#host) {
      this.#canonicalHost = canonicalHost(host);
      this.#host = host;
    }
    return this.#canonicalHost;
  }
}

/** A power of two, and few: where every visitor has another address, what is remembered only moves through the memory of the thread. */
const addressSlots = 256;

/** By the end of the text, where addresses differ most. */
function slotOf(address: string): number {
  let slot = address.length;
  for (let at = Math.max(0, address.length - 8); at < address.length; at++) slot = slot * 31 + address.charCodeAt(at);
  return slot & (addressSlots - 1);
}
