/** Counts by hour and month in a cluster. Each is a field of a hash that nodes raise, in sixteen parts to avoid a hot key. */
import { randomBytes } from "node:crypto";
import type { ClusterClient } from "../../cluster/cluster-client.js";
import { ClusterError } from "../../cluster/cluster-error.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import { keySlot } from "../../cluster/slots.js";
import type { Traffic } from "../../contract/configuration/entities.js";
import { limits } from "../../limits.js";
import { type HourlyCounts, type HourOfTraffic, HoursLeftError } from "../../store/hourly-counts.js";
import { hourOf } from "../../store/keys.js";
import { askAll, scriptOn } from "../cluster-asking.js";
import { unavailable } from "../fault-line.js";
import { trafficKeptMs } from "../ingest/batch-counts.js";
import { countEvents } from "../ingest/recent-counts.js";
import { partCount, trafficRow } from "../keys.js";
import { addTraffic } from "./recorded-row-scripts.js";

/** The part of a project's hours that this thread raises. */
const ownPart = Math.floor(Math.random() * partCount);
/** Fields that are not sums: the latest write wins. */
const latest = "lastMs";
/** Prefix of fields that hold the number of one thread's last addition. */
const writtenPrefix = "w:";
/** Separates the names of nested counts: `requests/verdicts/human`. */
const separator = "/";

/** The counts of a cluster, the same through every node. */
export class ClusterHourlyCounts implements HourlyCounts {
  readonly #client: ClusterClient;
  readonly #trafficMs: number;
  /** Identifies the writer: the rows tell by it which additions they already have. */
  readonly #writer = writtenPrefix + randomBytes(6).toString("base64url");
  readonly #numbers = new WeakMap<HourOfTraffic, number>();
  #lastNumber = 0;

  /** `trafficMs`: how long counts of an hour are kept, and shown. */
  constructor(client: ClusterClient, trafficMs: number = trafficKeptMs) {
    this.#client = client;
    this.#trafficMs = trafficMs;
  }

  async add(hours: readonly HourOfTraffic[]): Promise<void> {
    const commands = hours.map((each) => {
      const { projectId, hour, traffic } = each;
      let number = this.#numbers.get(each);
      if (number === undefined) {
        number = ++this.#lastNumber;
        this.#numbers.set(each, number);
      }
      const row = trafficRow(projectId, ownPart, hour);
      return scriptOn(addTraffic, [row], [this.#writer, number, this.#trafficMs, ...fieldsOf(traffic).flat()]);
    });
    const options = { deadlineMs: limits.clusterWriteMs, isIdempotent: true };
    const outcomes = await this.#client.pipeline(commands, options);
    const fault = outcomes.find((outcome) => outcome instanceof ClusterError);
    if (fault === undefined) return;
    const left = hours.filter((_, index) => outcomes[index] instanceof ClusterError);
    throw new HoursLeftError(left, unavailable(fault));
  }

  async read(projectId: number, fromHour: number, toHour: number): Promise<readonly (readonly [number, Traffic])[]> {
    // Hours written under a longer setting live on for a while.
    const oldest = Math.max(fromHour, hourOf(Date.now() - this.#trafficMs));
    const hours = Array.from({ length: Math.max(0, toHour - oldest) }, (_, index) => oldest + index);
    const commands = hours.flatMap((hour) =>
      Array.from({ length: partCount }, (_, part) => {
        const row = trafficRow(projectId, part, hour);
        return { command: ["HGETALL", row], slot: keySlot(row) };
      }),
    );
    const replies = await askAll(this.#client, commands);
    return hours.flatMap((hour, index) => {
      const fields = new Map<string, number>();
      for (const reply of replies.slice(index * partCount, (index + 1) * partCount)) addFields(fields, reply);
      return fields.size === 0 ? [] : [[hour, trafficOf(fields)] as const];
    });
  }

  async eventsInMonth(accountId: number, month: string): Promise<number> {
    try {
      return await countEvents(this.#client, accountId, month);
    } catch (cause) {
      throw unavailable(cause);
    }
  }
}

/** The numbers in nested objects, each with the names that lead to it. */
export function fieldsOf(counts: object, prefix = ""): [field: string, count: number][] {
  return Object.entries(counts).flatMap(([name, value]): [string, number][] => {
    if (typeof value === "object" && value !== null) return fieldsOf(value, `${prefix}${name}${separator}`);
    return typeof value === "number" && value !== 0 ? [[prefix + name, value]] : [];
  });
}

function addFields(fields: Map<string, number>, reply: RespReply): void {
  if (!Array.isArray(reply)) return;
  for (let index = 0; index + 1 < reply.length; index += 2) {
    const field = String(reply[index]);
    if (field.startsWith(writtenPrefix)) continue;
    const value = Number(reply[index + 1]);
    const before = fields.get(field) ?? 0;
    fields.set(field, field.endsWith(separator + latest) ? Math.max(before, value) : before + value);
  }
}

function trafficOf(fields: ReadonlyMap<string, number>): Traffic {
  const traffic: Traffic = { events: 0, sessions: 0, verdicts: {}, actions: {} };
  for (const [field, count] of fields) {
    const names = field.split(separator);
    let at = traffic as unknown as Record<string, unknown>;
    for (const name of names.slice(0, -1)) {
      at[name] ??= {};
      at = at[name] as Record<string, unknown>;
    }
    at[names.at(-1)!] = count;
  }
  return whole(traffic);
}

/** Counts that are zero have no field. */
function whole(traffic: Traffic): Traffic {
  const { requests, challenges = {}, rules = {} } = traffic;
  if (requests !== undefined) {
    requests.verdicts ??= {};
    requests.actions ??= {};
  }
  for (const rule of Object.keys(challenges)) {
    challenges[rule] = { issued: 0, passed: 0, failed: 0, passedMs: 0, ...challenges[rule] };
  }
  for (const rule of Object.keys(rules)) rules[rule] = { sessions: 0, requests: 0, lastMs: 0, ...rules[rule] };
  return traffic;
}
