/**
 * The detector of one node: takes the requests that its HTTP threads report, and once a minute looks for incidents in each project. Works in slices, so
 * that no request waits for it; memory is bounded by `limits`.
 */
import { hourMs, minuteMs } from "../contract/values/durations.js";
import { limits } from "../limits.js";
import { type BaselineHours, usualCounts } from "./baseline-hours.js";
import type { CountedRequest } from "./counted-request.js";
import { hourlyCountMin, type OpenIncident, ProjectWatch } from "./project-watch.js";
import type { Sliced, Turns } from "./sliced.js";

/** What changed in a project in a minute. */
export interface ProjectMinute {
  readonly projectId: number;
  readonly opened: readonly OpenIncident[];
  /** Those that go on, the opened ones included. */
  readonly open: readonly OpenIncident[];
  readonly ended: readonly OpenIncident[];
}

/** What the detector needs of its node. */
interface DetectorParts {
  readonly hours: BaselineHours;
  /** Asked for turns whenever a minute ends. */
  readonly begin: () => Turns;
  /** Called when counts of an hour can't be stored; they are lost for baselines. */
  readonly onFailure: (error: unknown) => void;
  readonly nowMs: number;
  readonly random?: () => number;
}

interface Watched {
  readonly watch: ProjectWatch;
  /** Of the hour in `usualOfHour`. */
  usual: Map<string, number>;
  usualOfHour: number;
  /** Requests that came while a minute of the project is being ended; null while none is. */
  waiting: CountedRequest[] | null;
}

/** `take` reports as they come, and `endMinute` once a minute. */
export class IncidentDetector {
  readonly #parts: DetectorParts;
  readonly #projects = new Map<number, Watched>();
  /** Reports of minutes after the present one. */
  #early: CountedRequest[] = [];
  #minute: number;

  constructor(parts: DetectorParts) {
    this.#parts = parts;
    this.#minute = minuteOf(parts.nowMs);
  }

  /** The minute since the epoch that is being counted. */
  get minute(): number {
    return this.#minute;
  }

  /** A report of an earlier minute that came late counts in the present one. */
  take(requests: readonly CountedRequest[]): void {
    for (const request of requests) {
      if (minuteOf(request.atMs) > this.#minute) {
        if (this.#early.length < limits.incidentEarlyMax) this.#early.push(request);
      } else this.#add(request);
    }
  }

  #add(request: CountedRequest): void {
    const { watch, waiting } = this.#watched(request.projectId);
    if (waiting === null) watch.add(request);
    else if (waiting.length < limits.incidentEarlyMax) waiting.push(request);
  }

  /** Ends the present minute where `nowMs` is in a later one, or before it: the clock was set. Resolves with the projects that have incidents. */
  async endMinute(nowMs: number): Promise<ProjectMinute[]> {
    const next = minuteOf(nowMs);
    if (next === this.#minute) return [];
    const ended = this.#minute;
    this.#minute = next;
    const minutes: ProjectMinute[] = [];
    const hour = hourOfMinute(ended);
    const isHourOver = hourOfMinute(next) !== hour;
    const projects = [...this.#projects];
    const turns = this.#parts.begin();
    for (const [projectId, watched] of projects) {
      const isDue = isHourOver || ended % storedEveryMinutes === projectId % storedEveryMinutes;
      if (isDue) await this.#store(projectId, hour, watched);
      const usualOf = (key: string) => this.#usual(projectId, watched, hour).get(key) ?? 0;
      const waiting: CountedRequest[] = [];
      watched.waiting = waiting;
      const { opened, ended: over } = await inTurns(watched.watch.endMinute(usualOf, next), turns).finally(() => {
        watched.waiting = null;
      });
      for (const request of waiting) watched.watch.add(request);
      const { open } = watched.watch;
      if (open.length > 0 || over.length > 0) minutes.push({ projectId, opened, open: [...open], ended: over });
      if (!watched.watch.counts.isBusy && open.length === 0) this.#projects.delete(projectId);
      await turns.next();
    }
    const early = this.#early;
    this.#early = [];
    this.take(early);
    return minutes;
  }

  /** Stores the counts of the present hour, before the node stops. */
  async close(): Promise<void> {
    for (const [projectId, watched] of this.#projects)
      await this.#store(projectId, hourOfMinute(this.#minute), watched);
  }

  #watched(projectId: number): Watched {
    let watched = this.#projects.get(projectId);
    if (watched === undefined) {
      watched = {
        watch: new ProjectWatch(this.#minute, this.#parts.random),
        usual: new Map(),
        usualOfHour: Number.NaN,
        waiting: null,
      };
      watched.watch.counts.resume(this.#parts.hours.read(projectId, hourOfMinute(this.#minute)) ?? []);
      this.#projects.set(projectId, watched);
    }
    return watched;
  }

  #usual(projectId: number, watched: Watched, hour: number): Map<string, number> {
    if (watched.usualOfHour !== hour) {
      watched.usual = usualCounts(this.#parts.hours, projectId, hour);
      watched.usualOfHour = hour;
    }
    return watched.usual;
  }

  async #store(projectId: number, hour: number, { watch }: Watched): Promise<void> {
    try {
      await this.#parts.hours.write(projectId, hour, watch.counts.hourly(hourlyCountMin));
    } catch (error) {
      this.#parts.onFailure(error);
    }
  }
}

/** How often the counts of the present hour are stored: what a crash may lose of them. Projects take turns. */
const storedEveryMinutes = 10;

function minuteOf(atMs: number): number {
  return Math.floor(atMs / minuteMs);
}

function hourOfMinute(minute: number): number {
  return Math.floor((minute * minuteMs) / hourMs);
}

async function inTurns<T>(work: Sliced<T>, turns: Turns): Promise<T> {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (turns.isOver) await turns.next();
  }
}
