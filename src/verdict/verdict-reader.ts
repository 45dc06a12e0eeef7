/** Answers verdict reads: cache, stored session, resolution, and what is recorded of it. Any failure answers fail-open. */
import type { VerdictSource } from "../contract/live-verdict.js";
import type { ProjectSettings, VerdictPart } from "../contract/session.js";
import type { RequestContext, Verdict } from "../contract/verdict.js";
import type { VerifiedBot } from "../contract/verified-bots.js";
import { limits } from "../limits.js";
import { failOpenVerdict, type NamedRule, type Resolution, resolve } from "./resolve.js";
import { type CachedVerdict, VerdictCache } from "./verdict-cache.js";

/** What the reader asks of the rest of verdictd; each call is synchronous and cheap. */
export interface VerdictSources {
  /** Null for an unknown session or one of another project. */
  readonly verdictPart: (projectId: number, token: string) => VerdictPart | null;
  /** ms; 0: never. Asked on cached answers of projects whose policy can soften them. */
  readonly loggedInAtMs: (projectId: number, token: string) => number;
  /** Active rules in the order of evaluation. */
  readonly rulesOf: (project: ProjectSettings) => readonly NamedRule[];
  readonly verifiedBotAt: (ip: string) => VerifiedBot | null;
  readonly meaningOf: (detectionId: number) => string;
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
  ) => void;
  readonly onFailure: (error: unknown) => void;
  readonly now: () => number;
}

interface Entry extends CachedVerdict {
  readonly verdict: Verdict;
  readonly loggedInAtMs: number;
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
  readonly #cache: VerdictCache<Entry>;
  readonly #failOpen = failOpenVerdict();
  readonly #failOpenBody = JSON.stringify(failOpenVerdict());

  constructor({ sources, ttlMs, cacheBytesMax }: VerdictReaderOptions) {
    this.#sources = sources;
    this.#ttlMs = ttlMs;
    this.#cache = new VerdictCache(cacheBytesMax);
  }

  /** The verdict as JSON text. Never throws: what goes wrong on the way answers the fail-open body. */
  read(project: ProjectSettings, token: string, context: RequestContext): string {
    try {
      return this.#read(project, token, context);
    } catch (error) {
      this.#sources.onFailure(error);
      return this.#failedOpen(project, token, context);
    }
  }

  #read(project: ProjectSettings, token: string, context: RequestContext): string {
    const sources = this.#sources;
    const nowMs = sources.now();
    const key = this.#ttlMs === 0 ? "" : cacheKey(project, token, context);
    const cached = this.#ttlMs === 0 ? null : this.#cache.get(key, nowMs);
    if (cached !== null && this.#stillHolds(cached, project, token)) {
      sources.onAnswer(project, cached.verdict, "cached", token, context);
      return cached.body;
    }
    const part = sources.verdictPart(project.id, token);
    if (part === null) return this.#failedOpen(project, token, context);
    const resolution = resolve({
      part,
      project,
      rules: sources.rulesOf(project),
      context,
      verifiedBot: this.#verifiedBot(part, context),
      meaningOf: sources.meaningOf,
      nowMs,
    });
    const { verdict } = resolution;
    if (verdict.verdict === "not_computed") return this.#failedOpen(project, token, context);
    const body = JSON.stringify(verdict);
    sources.onComputed(project, token, context, resolution);
    sources.onAnswer(project, verdict, "computed", token, context);
    if (this.#ttlMs > 0) this.#remember(key, body, verdict, part, nowMs);
    return body;
  }

  /** By the address of the request that asks, where it is another than the session's. */
  #verifiedBot(part: VerdictPart, { ip }: RequestContext): VerifiedBot | null {
    return ip === undefined || ip === part.last.ip ? part.verifiedBot : this.#sources.verifiedBotAt(ip);
  }

  #failedOpen(project: ProjectSettings, token: string, context: RequestContext): string {
    this.#sources.onAnswer(project, this.#failOpen, "fail_open", token, context);
    return this.#failOpenBody;
  }

  /** A logged-in assertion takes effect at once; only the policies other than `observe` can tell. */
  #stillHolds(entry: Entry, project: ProjectSettings, token: string): boolean {
    return (
      project.botSettings.loggedInPolicy === "observe" ||
      this.#sources.loggedInAtMs(project.id, token) === entry.loggedInAtMs
    );
  }

  #remember(key: string, body: string, verdict: Verdict, part: VerdictPart, nowMs: number): void {
    const windowEndMs = part.loggedInAtMs + limits.loggedInMs;
    const expiresAtMs = nowMs + this.#ttlMs;
    this.#cache.set(key, {
      body,
      verdict,
      loggedInAtMs: part.loggedInAtMs,
      expiresAtMs: windowEndMs > nowMs ? Math.min(expiresAtMs, windowEndMs) : expiresAtMs,
    });
  }
}

function cacheKey(project: ProjectSettings, token: string, context: RequestContext): string {
  const { path, method, host, ip, userAgent } = context;
  const head = `${project.id} ${project.settingsRevision} ${token}`;
  if (path === undefined && method === undefined && host === undefined && ip === undefined && userAgent === undefined) {
    return head;
  }
  return `${head}\n${path ?? ""}\n${method ?? ""}\n${host ?? ""}\n${ip ?? ""}\n${userAgent ?? ""}`;
}
