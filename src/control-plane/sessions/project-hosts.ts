/**
 * Says whether a host is one of a project's own, for signatures: one that was made for another site counts for nothing here, whatever `Host` a visitor
 * sends. One for each thread that judges requests.
 */
import { LRUCache } from "lru-cache";
import type { ProjectSettings } from "../../contract/sessions/session.js";
import { canonicalHost } from "../../contract/values/host.js";
import { limits } from "../../limits.js";
import type { LongWork } from "../../runtime/long-work.js";
import type { Sessions } from "./sessions.js";

interface ReportedHosts {
  readonly hosts: ReadonlySet<string>;
  readonly atMs: number;
}

/** Reads the hosts that sessions reported at most every `projectHostsMs` for each project, in slices. */
export class ProjectHosts {
  readonly #sessions: Pick<Sessions, "visitSince">;
  readonly #work: LongWork;
  readonly #now: () => number;
  readonly #onFailure: (error: unknown) => void;
  readonly #reported = new LRUCache<number, ReportedHosts>({ max: limits.compiledProjectsMax });
  readonly #reading = new Map<number, Promise<ReportedHosts>>();

  constructor(
    sessions: Pick<Sessions, "visitSince">,
    work: LongWork,
    now: () => number,
    onFailure: (error: unknown) => void,
  ) {
    this.#sessions = sessions;
    this.#work = work;
    this.#now = now;
    this.#onFailure = onFailure;
  }

  /**
   * By the project's setting `hosts`, where `*.` stands for any name before; where it is empty, by the hosts that at least a tenth of the last day's
   * sessions reported; where there are none, no host is foreign. A promise only if those have to be read first. Never rejects.
   */
  isForeign({ id, requestScoring }: ProjectSettings, host: string | undefined): boolean | Promise<boolean> {
    if (host === undefined) return false;
    const hosts = requestScoring?.hosts ?? [];
    if (hosts.length > 0) return !hosts.some((each) => isHostOf(each, host));
    const known = this.#reported.get(id);
    if (known === undefined) return this.#read(id).then((reported) => isMissing(reported, host));
    if (this.#now() - known.atMs >= limits.projectHostsMs) void this.#read(id);
    return isMissing(known, host);
  }

  #read(id: number): Promise<ReportedHosts> {
    const before = this.#reading.get(id);
    if (before !== undefined) return before;
    const reading = this.#count(id)
      .catch((error: unknown) => {
        this.#onFailure(error);
        return { hosts: this.#reported.get(id)?.hosts ?? new Set<string>(), atMs: this.#now() };
      })
      .then((reported) => {
        this.#reading.delete(id);
        this.#reported.set(id, reported);
        return reported;
      });
    this.#reading.set(id, reading);
    return reading;
  }

  async #count(id: number): Promise<ReportedHosts> {
    const atMs = this.#now();
    const counts = new Map<string, number>();
    let sessions = 0;
    const time = { fromMs: atMs - 24 * 3_600_000, untilMs: atMs };
    await this.#sessions.visitSince(id, time, limits.projectHostsSessions, this.#work.begin(), ({ state }) => {
      sessions++;
      const host = canonicalHost(state.last.host);
      if (host !== "") counts.set(host, (counts.get(host) ?? 0) + 1);
    });
    const usual = [...counts].filter(([, count]) => count * leastShare >= sessions).map(([host]) => host);
    return { hosts: new Set(usual), atMs };
  }
}

/** A tenth of the sessions. */
const leastShare = 10;

function isMissing({ hosts }: ReportedHosts, host: string): boolean {
  return hosts.size > 0 && !hosts.has(host);
}

function isHostOf(pattern: string, host: string): boolean {
  return pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) && host.length >= pattern.length : host === pattern;
}
