/** The incidents of all projects as they are stored: written by the detector of each node, read and muted by people. */

import type { Incident, IncidentCounts } from "../contract/incidents/incidents.js";
import { hourMs, minuteMs } from "../contract/values/durations.js";
import { audited, changeAudited } from "../control-plane/logs/audit.js";
import { decodeIdCursor, encodeIdCursor, type LogPage } from "../control-plane/logs/cursor.js";
import { type Refusal, refuse } from "../errors.js";
import { nameOf } from "../incidents/description.js";
import type { ProjectMinute } from "../incidents/detector.js";
import { expressionOf } from "../incidents/expression.js";
import type { OpenIncident } from "../incidents/project-watch.js";
import { limits } from "../limits.js";
import { recordControlPlane } from "../store/control-plane-changes.js";
import { nextId, type Store } from "../store/store.js";
import { alertingRowsOf, findRow, putRow, removeRow } from "./alerting-rows.js";

/** What was written of a minute. */
interface IncidentChanges {
  readonly opened: readonly Incident[];
  readonly ended: readonly Incident[];
}

/** What another node, or this one before a restart, had counted of an incident that goes on. */
type Counted = Pick<Incident, "id" | "startedAt" | "count" | "peakPerMinute" | "bands" | "actions" | "ruleWould">;

/** An open incident that nobody has written for so long is ended: its node stopped. */
const orphanedMs = 15 * minuteMs;

/** One per thread; only that of the detector writes. */
export class IncidentLog {
  readonly #store: Store;
  readonly #now: () => number;
  /** The stored incident that each open one of this node belongs to. */
  readonly #followed = new Map<OpenIncident, Counted>();

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /**
   * Writes what the detector found in a minute. An incident that is open already, by another node or from before a restart, goes on. On a cluster,
   * where each node counts the whole traffic, counts of those that go on are written every five minutes only. Rejects when the store can't be written.
   */
  async record({ projectId, opened, open, ended }: ProjectMinute): Promise<IncidentChanges> {
    const nowMs = this.#now();
    const isQuiet = opened.length === 0 && ended.length === 0;
    const isOnCluster = this.#store.changes !== undefined;
    const isShared = this.#store.nodeReports !== undefined;
    if (isQuiet && isOnCluster && Math.floor(nowMs / minuteMs) % 5 !== 0) return { opened: [], ended: [] };
    const outcome = await recordControlPlane(this.#store, () => {
      const stored = alertingRowsOf(this.#store, "incident", projectId, true);
      const counted = new Map(this.#followed);
      const changes = { opened: [] as Incident[], ended: [] as Incident[], counted };
      for (const incident of [...open, ...ended]) {
        let base = counted.get(incident);
        if (base === undefined) {
          const name = nameOf(incident.what);
          const going = stored.find(({ endedAt, what }) => endedAt === null && nameOf(what) === name);
          base = going === undefined ? this.#newBase(incident) : isShared ? without(going, incident) : going;
          counted.set(incident, base);
        }
        const before = findRow(this.#store, "incident", projectId, base.id);
        const row = this.#rowOf(projectId, incident, base, nowMs, ended.includes(incident));
        const mutedUntil = before === null ? mutedUntilOf(stored, row, nowMs) : before.mutedUntil;
        const written = mutedUntil === undefined ? row : { ...row, mutedUntil };
        putRow(this.#store, "incident", written);
        if (before === null) changes.opened.push(written);
        if (written.endedAt !== null) changes.ended.push(written);
      }
      const surplus = stored
        .filter(({ endedAt }) => endedAt !== null)
        .slice(Math.max(0, limits.incidentsKept - open.length));
      for (const { id } of surplus) removeRow(this.#store, "incident", projectId, id);
      return changes;
    });
    for (const [incident, base] of outcome.counted) this.#followed.set(incident, base);
    for (const incident of ended) this.#followed.delete(incident);
    return outcome;
  }

  /** Another node writes them from now on. */
  forget(): void {
    this.#followed.clear();
  }

  /** Ends open incidents whose node does not write them any more. Resolves with them. */
  async endOrphans(projectIds: Iterable<number>): Promise<Incident[]> {
    const nowMs = this.#now();
    const isOrphan = ({ endedAt, seenAt }: Incident): boolean =>
      endedAt === null && nowMs - Date.parse(seenAt) > orphanedMs;
    const found = [...projectIds].filter((id) => alertingRowsOf(this.#store, "incident", id).some(isOrphan));
    if (found.length === 0) return [];
    return recordControlPlane(this.#store, () => {
      const ended = found.flatMap((id) => alertingRowsOf(this.#store, "incident", id).filter(isOrphan));
      const rows = ended.map((incident) => ({ ...incident, endedAt: incident.seenAt }));
      for (const row of rows) putRow(this.#store, "incident", row);
      return rows;
    });
  }

  find(projectId: number, id: number): Incident | null {
    return findRow(this.#store, "incident", projectId, id);
  }

  /** The project's incidents, the latest first. `invalidPayload` for an invalid cursor. */
  page(projectId: number, isOpenOnly: boolean, limit: number, cursor: string | null): LogPage<Incident> | Refusal {
    const before = cursor === null ? Number.POSITIVE_INFINITY : decodeIdCursor(cursor);
    if (before === null) return refuse("invalidPayload", "cursor is not valid for this list");
    const rows = alertingRowsOf(this.#store, "incident", projectId, true).filter(
      ({ id, endedAt }) => id < before && (!isOpenOnly || endedAt === null),
    );
    const shown = rows.slice(0, limit);
    return { rows: shown, nextCursor: rows.length > limit ? encodeIdCursor(shown.at(-1)!.id) : null };
  }

  /** Mutes an incident, and with it those of the same `what`; `notFound` for none of the project. */
  mute(
    project: { readonly id: number; readonly accountId: number },
    id: number,
    hours: number,
  ): Promise<Incident | Refusal> {
    return changeAudited(this.#store, this.#now, () => {
      const incident = this.find(project.id, id);
      if (incident === null) return missingIncident;
      const muted: Incident = { ...incident, mutedUntil: new Date(this.#now() + hours * hourMs).toISOString() };
      putRow(this.#store, "incident", muted);
      return audited(muted, {
        accountId: project.accountId,
        projectId: project.id,
        action: "incident.muted",
        subject: `incident ${id} "${incident.expression}"`,
        before: { muted_until: incident.mutedUntil ?? null },
        after: { muted_until: muted.mutedUntil! },
      });
    });
  }

  #newBase({ startedAt }: OpenIncident): Counted {
    return {
      id: nextId(this.#store, "incident"),
      startedAt: new Date(startedAt * minuteMs).toISOString(),
      count: 0,
      peakPerMinute: 0,
      bands: {},
      actions: {},
      ruleWould: { newly_blocked: 0, likely_human: 0, logged_in: 0 },
    };
  }

  #rowOf(projectId: number, incident: OpenIncident, base: Counted, nowMs: number, isEnded: boolean): Incident {
    const at = new Date(nowMs).toISOString();
    const { what, baseline, ruleWould } = incident;
    return {
      id: base.id,
      projectId,
      startedAt: base.startedAt,
      endedAt: isEnded ? at : null,
      seenAt: at,
      what,
      count: Math.round(base.count + incident.count),
      baseline: Math.round(baseline * 10) / 10,
      peakPerMinute: Math.round(Math.max(base.peakPerMinute, incident.peakPerMinute)),
      bands: added(base.bands, incident.bands),
      actions: added(base.actions, incident.actions),
      expression: expressionOf(what, (id) => this.#store.rules.get([projectId, id])?.expressionSource ?? null),
      ruleWould: {
        newly_blocked: Math.round(base.ruleWould.newly_blocked + ruleWould.newly_blocked),
        likely_human: Math.round(base.ruleWould.likely_human + ruleWould.likely_human),
        logged_in: Math.round(base.ruleWould.logged_in + ruleWould.logged_in),
      },
    };
  }
}

/** What the other node had counted before this one began to count the same traffic. */
function without(going: Counted, { count, bands, actions, ruleWould }: OpenIncident): Counted {
  const less = (one: number, other: number): number => Math.max(0, one - other);
  const rest = (one: IncidentCounts, other: IncidentCounts): IncidentCounts =>
    Object.fromEntries(Object.entries(one).map(([name, value]) => [name, less(value, other[name] ?? 0)]));
  return {
    id: going.id,
    startedAt: going.startedAt,
    count: less(going.count, count),
    peakPerMinute: going.peakPerMinute,
    bands: rest(going.bands, bands),
    actions: rest(going.actions, actions),
    ruleWould: {
      newly_blocked: less(going.ruleWould.newly_blocked, ruleWould.newly_blocked),
      likely_human: less(going.ruleWould.likely_human, ruleWould.likely_human),
      logged_in: less(going.ruleWould.logged_in, ruleWould.logged_in),
    },
  };
}

function added(one: IncidentCounts, other: IncidentCounts): IncidentCounts {
  const sum: IncidentCounts = {};
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    sum[name] = Math.round((one[name] ?? 0) + (other[name] ?? 0));
  }
  return sum;
}

/** Until when an earlier incident of the same `what` is muted. */
function mutedUntilOf(stored: readonly Incident[], { what }: Incident, nowMs: number): string | undefined {
  const name = nameOf(what);
  return stored.find((each) => isMuted(each, nowMs) && nameOf(each.what) === name)?.mutedUntil;
}

/** Whether an incident is muted now. */
export function isMuted({ mutedUntil }: Incident, nowMs: number): boolean {
  return mutedUntil !== undefined && Date.parse(mutedUntil) > nowMs;
}

const missingIncident = refuse("notFound", "the project has no such incident");
