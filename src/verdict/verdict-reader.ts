/** Answers verdict reads: cache, stored session, resolution, and what is recorded of it. Any failure answers fail-open. */
import type { VerdictSource } from "../contract/live-verdict.js";
import type { ProjectSettings, VerdictPart } from "../contract/session.js";
import type { RequestContext, Verdict } from "../contract/verdict.js";
import type { VerifiedBot } from "../contract/verified-bots.js";
import { limits } from "../limits.js";
import { type MeaningOf, type VerdictText, VerdictTexts } from "./finding.js";
import { decide, failOpenVerdict, type NamedRule, type Resolution } from "./resolve.js";
import { type CachedVerdict, VerdictCache, type VerdictKey } from "./verdict-cache.js";

/** What the reader asks of the rest of verdictd; each call is synchronous and cheap. */
export interface VerdictSources {
  /** Null for an unknown session or one of another project. */
  readonly verdictPart: (projectId: number, token: string) => VerdictPart | null;
  /** ms; 0: never. Asked on cached answers of projects whose policy can soften them. */
  readonly loggedInAtMs: (projectId: number, token: string) => number;
  /** Active rules in the order of evaluation. */
  readonly rulesOf: (project: ProjectSettings) => readonly NamedRule[];
  readonly verifiedBotAt: (ip: string) => VerifiedBot | null;
  readonly meaningOf: MeaningOf;
  /** Told of every computed resolution, not of cached answers. Must not throw. */
  readonly onComputed: (
    project: ProjectSettings,
    token: string,
    context: RequestContext,
    resolution: Resolution,
  ) => void;
  /** Told of every answer. */
  readonly onAnswer: (
    project: ProjectSettings,
    verdict: Verdict,
    source: VerdictSource,
    token: string,
    context: RequestContext,
    nowMs: number,
  ) => void;
  readonly onFailure: (error: unknown) => void;
  readonly now: () => number;
}

export interface VerdictReaderOptions {
  readonly sources: VerdictSources;
  /** 0 turns the cache off. */
  readonly ttlMs: number;
  readonly cacheBytesMax: number;
}

export class VerdictReader {
  readonly #sources: VerdictSources;
  readonly #ttlMs: number;
  readonly #cache: VerdictCache;
  readonly #texts: VerdictTexts;
  readonly #failOpen = failOpenVerdict();
  readonly #failOpenBody = JSON.stringify(failOpenVerdict());

  constructor({ sources, ttlMs, cacheBytesMax }: VerdictReaderOptions) {
    this.#sources = sources;
    this.#ttlMs = ttlMs;
    this.#cache = new VerdictCache(cacheBytesMax);
    this.#texts = new VerdictTexts(sources.meaningOf);
  }

  /** The verdict as JSON text. Never throws: what goes wrong on the way answers the fail-open body. */
  read(project: ProjectSettings, token: string, context: RequestContext): string {
    const nowMs = this.#sources.now();
    try {
      return this.#read(project, token, context, nowMs);
    } catch (error) {
      this.#sources.onFailure(error);
      return this.#failedOpen(project, token, context, nowMs);
    }
  }

  #read(project: ProjectSettings, token: string, context: RequestContext, nowMs: number): string {
    const sources = this.#sources;
    const key: VerdictKey = {
      projectId: project.id,
      settingsRevision: project.settingsRevision,
      token,
      context: contextText(context),
    };
    const cached = this.#ttlMs === 0 ? null : this.#cache.get(key, nowMs);
    if (cached !== null && this.#stillHolds(cached, project, token)) {
      sources.onAnswer(project, cached.text.verdict, "cached", token, context, nowMs);
      return cached.text.body;
    }
    const part = sources.verdictPart(project.id, token);
    if (part === null) return this.#failedOpen(project, token, context, nowMs);
    const rules = sources.rulesOf(project);
    const verifiedBot = this.#verifiedBot(part, context);
    const decision = decide({ part, project, rules, context, verifiedBot, nowMs });
    if (decision === null) return this.#failedOpen(project, token, context, nowMs);
    const text = this.#texts.of(decision.finding);
    const { rule, logged, blocked } = decision;
    sources.onComputed(project, token, context, { verdict: text.verdict, rule, logged, blocked });
    sources.onAnswer(project, text.verdict, "computed", token, context, nowMs);
    if (this.#ttlMs > 0) this.#remember(key, text, part, nowMs);
    return text.body;
  }

  /** By the address of the request that asks, where it is another than the session's. */
  #verifiedBot(part: VerdictPart, { ip }: RequestContext): VerifiedBot | null {
    return ip === undefined || ip === part.last.ip ? part.verifiedBot : this.#sources.verifiedBotAt(ip);
  }

  #failedOpen(project: ProjectSettings, token: string, context: RequestContext, nowMs: number): string {
    this.#sources.onAnswer(project, this.#failOpen, "fail_open", token, context, nowMs);
    return this.#failOpenBody;
  }

  /** A logged-in assertion takes effect at once; only the policies other than `observe` can tell. */
  #stillHolds(entry: CachedVerdict, project: ProjectSettings, token: string): boolean {
    return (
      project.botSettings.loggedInPolicy === "observe" ||
      this.#sources.loggedInAtMs(project.id, token) === entry.loggedInAtMs
    );
  }

  #remember(key: VerdictKey, text: VerdictText, { loggedInAtMs }: VerdictPart, nowMs: number): void {
    const windowEndMs = loggedInAtMs + limits.loggedInMs;
    const expiresAtMs = nowMs + this.#ttlMs;
    const endsMs = windowEndMs > nowMs ? Math.min(expiresAtMs, windowEndMs) : expiresAtMs;
    this.#cache.set(key, { text, loggedInAtMs }, nowMs, endsMs);
  }
}

/** The context as a part of the cache's key. */
function contextText({ path, method, host, ip, userAgent }: RequestContext): string {
  if (path === undefined && method === undefined && host === undefined && ip === undefined && userAgent === undefined) {
    return "";
  }
  return `${path ?? ""}\n${method ?? ""}\n${host ?? ""}\n${ip ?? ""}\n${userAgent ?? ""}`;
}
