/**
 * The part of alerting that one thread of a node does: takes what all HTTP threads report, ends minutes, stores incidents, fires alerts, and has
 * deliveries sent. On a cluster the nodes tell each other of each minute, so that each counts the whole traffic; one of them at a time, which has the
 * lease, stores incidents and fires alerts. `start` once, `close` at the end.
 */

import type { Project } from "../contract/configuration/entities.js";
import type { Alert, Delivery, WhenCount } from "../contract/incidents/alerts.js";
import type { Incident } from "../contract/incidents/incidents.js";
import { minuteMs } from "../contract/values/durations.js";
import { IncidentDetector, type ProjectMinute } from "../incidents/detector.js";
import { limits } from "../limits.js";
import { LongWork } from "../runtime/long-work.js";
import type { NodeReports, Store } from "../store/store.js";
import { AlertCounts } from "./alert-counts.js";
import type { Alerts } from "./alerts.js";
import { StoredBaselineHours } from "./baseline-store.js";
import { type IncidentLog, isMuted } from "./incident-log.js";
import { incidentView } from "./incident-view.js";
import { messageBody } from "./messages.js";
import { NodeReport, packReport, type ThreadReport, unpackReport } from "./node-report.js";
import type { AlertSender } from "./sender.js";

/** Told of what happens, for the event log. */
export interface AlertingObserver {
  onIncident(what: "began" | "ended", incident: Incident): void;
  onAlert(alert: Pick<Alert, "id" | "projectId" | "name">, incident: Incident | null, count: number | null): void;
  onDelivery(delivery: Delivery): void;
}

/** What an alert counted, as an address of the console's page Explore names it. */
export type CountedLink = Readonly<Record<string, string>>;

/** What the node needs. */
interface AlertingParts {
  readonly store: Store;
  readonly incidents: IncidentLog;
  readonly alerts: Alerts;
  readonly sender: AlertSender;
  readonly now: () => number;
  readonly observer: AlertingObserver;
  readonly onFailure: (error: unknown, what: string) => void;
  /** The address of the console's page of a project: of what an alert counted, or its overview. */
  readonly linkOf: (projectId: number, counted?: CountedLink) => string;
  /** Reports of this thread. */
  readonly ownReport: () => ThreadReport;
}

/** One per node. */
export class AlertingNode {
  readonly #parts: AlertingParts;
  readonly #detector: IncidentDetector;
  readonly #counts = new AlertCounts();
  readonly #work = new LongWork();
  readonly #timers: NodeJS.Timeout[] = [];
  #ending: Promise<void> | null = null;
  #minute: number;
  readonly #report = new NodeReport();
  /** The minute whose beginning other nodes were told of. */
  #toldMinute: number;
  #telling: Promise<void> = Promise.resolve();
  /** Reports of other nodes that were read, of the last minutes. */
  #heard = new Map<string, number>();

  constructor(parts: AlertingParts) {
    this.#parts = parts;
    this.#minute = minuteOf(parts.now());
    this.#toldMinute = this.#minute;
    this.#detector = new IncidentDetector({
      hours: new StoredBaselineHours(parts.store),
      begin: () => this.#work.begin(),
      onFailure: (error) => parts.onFailure(error, "hourly counts for baselines could not be stored"),
      nowMs: parts.now(),
    });
  }

  /** Begins to work every second. */
  start(): void {
    const { sender } = this.#parts;
    this.#timers.push(
      setInterval(() => this.tick(), limits.alertLookMs).unref(),
      setInterval(() => void sender.look(), limits.alertLookMs).unref(),
    );
  }

  /** Takes a thread's report. */
  take(report: ThreadReport): void {
    this.#detector.take(report.requests);
    this.#counts.add(report.matches, this.#parts.now());
    if (this.#parts.store.nodeReports !== undefined) this.#report.add(report);
  }

  /** Takes what this thread has, and ends the minute some seconds after it is over, when all threads and nodes have told of it. Never rejects. */
  tick(): Promise<void> {
    this.take(this.#parts.ownReport());
    const nowMs = this.#parts.now();
    const { nodeReports } = this.#parts.store;
    if (nodeReports !== undefined) this.#tell(nodeReports, minuteOf(nowMs - limits.reportLateMs));
    const waitMs = nodeReports === undefined ? 0 : limits.nodeReportWaitMs;
    const minute = minuteOf(nowMs - limits.reportLateMs - waitMs);
    if (minute === this.#minute || this.#ending !== null) return this.#ending ?? Promise.resolve();
    this.#minute = minute;
    this.#ending = this.#endMinute(minute * minuteMs)
      .catch((error: unknown) =>
        this.#parts.onFailure(error, "incidents and alerts of a minute could not be looked for"),
      )
      .finally(() => {
        this.#ending = null;
      });
    return this.#ending;
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#ending;
    await this.#telling;
    await this.#detector.close();
    await this.#parts.sender.drain();
  }

  /** Tells the other nodes of the minute that is over. */
  #tell(reports: NodeReports, minute: number): void {
    if (minute === this.#toldMinute) return;
    this.#toldMinute = minute;
    const report = this.#report.take();
    if (report.requests.length === 0 && report.matches.length === 0) return;
    this.#telling = packReport(report)
      .then((bytes) => reports.put(minute - 1, bytes))
      .catch((error: unknown) => this.#parts.onFailure(error, "other nodes could not be told of a minute"));
  }

  /** Takes what the other nodes tell of the minute that ends, and what was late of the one before. */
  async #hear(reports: NodeReports, minute: number): Promise<void> {
    const slices = this.#work.begin();
    for (const each of [minute - 1, minute]) {
      for (const [node, bytes] of await reports.others(each)) {
        const name = `${each} ${node}`;
        if (this.#heard.has(name)) continue;
        this.#heard.set(name, each);
        const { requests, matches } = await unpackReport(bytes);
        this.#detector.take(requests);
        this.#counts.add(matches, minute * minuteMs);
        if (slices.isOver) await slices.next();
      }
    }
    for (const [name, each] of this.#heard) if (Math.abs(each - minute) > 2) this.#heard.delete(name);
  }

  async #endMinute(nextMs: number): Promise<void> {
    const { incidents, observer, onFailure, store } = this.#parts;
    const { nodeReports, leases } = store;
    if (nodeReports !== undefined) {
      await this.#hear(nodeReports, minuteOf(nextMs) - 1).catch((error: unknown) =>
        onFailure(error, "what other nodes told of a minute could not be read"),
      );
    }
    const minutes = await this.#detector.endMinute(nextMs);
    // The others know as much, and go on where this one stops.
    if (leases !== undefined && !(await leases.take("incidents", limits.incidentLeaseMs))) {
      incidents.forget();
      return;
    }
    for (const minute of minutes) {
      try {
        await this.#record(minute);
      } catch (error) {
        onFailure(error, "an incident could not be stored");
      }
    }
    for (const incident of await incidents.endOrphans(store.projects.getKeys({})))
      observer.onIncident("ended", incident);
    await this.#askAlerts(nextMs - 1);
  }

  async #record(minute: ProjectMinute): Promise<void> {
    const { incidents, observer, alerts, now } = this.#parts;
    const { opened, ended } = await incidents.record(minute);
    for (const incident of ended) observer.onIncident("ended", incident);
    for (const incident of opened) {
      observer.onIncident("began", incident);
      if (isMuted(incident, now())) continue;
      for (const alert of alerts.list(incident.projectId)) {
        if (alert.isActive && "incident" in alert.when) await this.#fire(alert, incident, null);
      }
    }
  }

  /** Fires alerts with an expression whose count is reached. `atMs` is within the last minute that they count. */
  async #askAlerts(atMs: number): Promise<void> {
    const { store, alerts } = this.#parts;
    const kept = new Set<number>();
    const slices = this.#work.begin();
    for (const projectId of store.projects.getKeys({})) {
      for (const alert of alerts.list(projectId)) {
        const { id, when, isActive } = alert;
        if (!isActive || "incident" in when) continue;
        kept.add(id);
        const count = this.#counts.sum(id, when.minutes, atMs);
        if (count >= when.count) await this.#fire(alert, null, count);
      }
      if (slices.isOver) await slices.next();
    }
    this.#counts.keep(kept);
  }

  async #fire(alert: Alert, incident: Incident | null, count: number | null): Promise<void> {
    const { store, alerts, sender, observer, now, linkOf } = this.#parts;
    const { projectId, when } = alert;
    const project: Project | undefined = store.projects.get(projectId);
    if (project === undefined) return;
    const at = new Date(now()).toISOString();
    const isFired = await alerts.fire(alert, ({ id, name }, channel) =>
      messageBody(channel, {
        alert: { id, name },
        project: { id: projectId, name: project.name },
        at,
        ...(incident !== null && { incident: incidentView(incident, now()) }),
        ...(count !== null && { count }),
        expression: incident?.expression ?? ("incident" in when ? "" : when.expression),
        link: linkOf(projectId, "incident" in when ? undefined : countedLink(when, at)),
      }),
    );
    if (!isFired) return;
    observer.onAlert(alert, incident, count);
    void sender.look();
  }
}

/** The requests that were counted until `at`: where sessions count too, those without one. */
function countedLink({ expression, minutes, subject = "all" }: WhenCount, at: string): CountedLink {
  const from = new Date(Date.parse(at) - (minutes + 1) * minuteMs).toISOString();
  return { q: expression, ...(subject !== "session" && { of: "requests" }), from, to: at };
}

function minuteOf(atMs: number): number {
  return Math.floor(atMs / minuteMs);
}
