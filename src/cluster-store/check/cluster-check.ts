/**
 * Reads every row of a cluster and reports what is wrong with it, as `store/integrity.ts` does on one host: rows that can't be decoded, that have no
 * owner, or that would never expire. It reads a page of keys at a time, which bounds its memory. It repairs nothing.
 */
import { ClusterError } from "../../cluster/cluster-error.js";
import type { KeyedCommand, Outcome } from "../../cluster/operation.js";
import { tokenBytes } from "../../contract/sessions/session-token.js";
import { limits } from "../../limits.js";
import type { IntegrityFault, IntegrityReport, Progress } from "../../store/integrity.js";
import { configurationOf } from "../../store/mirrored-tables.js";
import type { Store } from "../../store/store.js";
import { mirroredNames, tables } from "../../store/tables.js";
import { BulkClient } from "../bulk-client.js";
import { isSame } from "../config/config-mirror.js";
import type { ConfigRead } from "../config/config-truth.js";
import type { OpenedMirror } from "../open-cluster.js";
import { type KnownFacts, type RowKind, type SplitKey, splitKey } from "../rows/row-kind.js";
import { kindNames, kindOf } from "../rows/row-kinds.js";
import { mastersOf, scanKeys } from "../scan.js";
import { indexedSessions } from "../sessions/indexed-sessions.js";

/** What a check of a cluster needs besides its rows: how to check features and the mirror's rows. */
interface ClusterCheckOptions {
  readonly cluster: OpenedMirror;
  readonly features: KnownFacts["features"];
  /** Checks the rows of the mirror. */
  readonly configuration: () => IntegrityReport;
  readonly onProgress: Progress;
}

/** Reads all rows. A row that is written, moved or expires meanwhile is no fault. A slot that moves may be counted twice. Throws `ClusterError`. */
export async function checkRows({ cluster, ...options }: ClusterCheckOptions): Promise<IntegrityReport> {
  const bulk = new BulkClient(cluster.client, 0);
  const { store } = cluster;
  const report = new Report();
  const ofMirror = options.configuration();
  for (const [name, rows] of Object.entries(ofMirror.rows)) if (mirrored.has(name)) report.count(name, rows);
  report.addFaults(ofMirror);
  await checkConfiguration(cluster, report);
  const facts: KnownFacts = {
    projects: new Set(store.projects.getKeys({})),
    accounts: new Set(store.accounts.getKeys({})),
    features: options.features,
  };
  for (const name of kindNames) report.count(name, 0);
  const total = await keysOf(bulk);
  let read = 0;
  for await (const { keys } of scanKeys(bulk)) {
    await checkPage(bulk, keys, facts, report);
    read += keys.length;
    options.onProgress(Math.min(read, total - 1), total);
  }
  for (const projectId of facts.projects) await checkIndex(bulk, projectId, report);
  options.onProgress(total, total);
  return report.report();
}

const mirrored: ReadonlySet<string> = new Set(mirroredNames.map((name) => tables[name].name));

class Report {
  readonly #rows: Record<string, number> = {};
  readonly #faults: IntegrityFault[] = [];
  #faultCount = 0;

  count(table: string, rows: number): void {
    this.#rows[table] = (this.#rows[table] ?? 0) + rows;
  }

  fault(table: string, key: string, fault: string): void {
    this.#faultCount++;
    if (this.#faults.length < limits.integrityFaultsMax) this.#faults.push({ table, key, fault });
  }

  addFaults({ faults, faultCount }: IntegrityReport): void {
    for (const { table, key, fault } of faults) this.fault(table, key, fault);
    this.#faultCount += faultCount - faults.length;
  }

  report(): IntegrityReport {
    return { rows: this.#rows, faultCount: this.#faultCount, faults: this.#faults };
  }
}

async function keysOf(bulk: BulkClient): Promise<number> {
  const infos = await Promise.all(mastersOf(bulk).map((master) => bulk.onNode(master, ["INFO", "keyspace"])));
  return infos.reduce((sum: number, info) => sum + Number(/^db0:keys=(\d+)/m.exec(String(info))?.[1] ?? 0), 0);
}

async function checkPage(bulk: BulkClient, keys: readonly Buffer[], facts: KnownFacts, report: Report): Promise<void> {
  const rows = keys.map((key) => ({ row: splitKey(key), kind: kindOf(splitKey(key)) }));
  const asked = rows.map(({ row, kind }) => kind?.ask(row) ?? []);
  const outcomes = await bulk.readAny(asked.flat());
  let at = 0;
  for (const [index, { row, kind }] of rows.entries()) {
    const own = outcomes.slice(at, at + asked[index]!.length);
    at += asked[index]!.length;
    report.count(kind?.name ?? "unknown", 1);
    const fault = kind === null ? "is of no kind that verdictd has" : faultOf(kind, own, row, facts);
    if (fault !== null) report.fault(kind?.name ?? "unknown", keyText(row), fault);
  }
}

function faultOf(kind: RowKind, outcomes: readonly Outcome[], row: SplitKey, facts: KnownFacts): string | null {
  const replies = outcomes.flatMap((outcome) => (outcome instanceof ClusterError ? [] : [outcome]));
  // All rows of a session are read at once.
  if (replies.length < outcomes.length) return "has another type, or a row that belongs to it has";
  return kind.fault(replies, row, facts);
}

/** How often the configuration is compared again because it was changed meanwhile. */
const triesMax = 3;

/** Compares the configuration in the cluster, row by row, with the mirror, whose rows were checked before; then its bytes and its log. */
async function checkConfiguration({ truth, mirror, store }: OpenedMirror, report: Report): Promise<void> {
  for (let tries = 0; tries < triesMax; tries++) {
    await mirror.catchUp({ askMs: limits.configChangeMs });
    const read = await truth.read(mirror.position().cluster);
    if (!isSame(read.position, mirror.position())) continue;
    compareRows(store, read, report);
    const bytes = read.rows.reduce((sum, { field, value }) => sum + Buffer.byteLength(field) + value.length, 0);
    if (read.bytes !== bytes) report.fault("configuration", "bytes", `are ${bytes}, not ${read.bytes}`);
    if (!read.isLogged) report.fault("configuration", "log", "does not end with the latest change");
    return;
  }
  report.fault("configuration", "", `was changed each of the ${triesMax} times that it was compared: run this again`);
}

function compareRows(store: Store, { rows }: ConfigRead, report: Report): void {
  const stored = new Map(rows.map(({ field, value }) => [field, value]));
  for (const { field, value } of configurationOf(store)) {
    const found = stored.get(field);
    stored.delete(field);
    if (value === null || found?.equals(value) !== true) {
      report.fault("configuration", field, "is not in the cluster as it is in the mirror");
    }
  }
  for (const field of stored.keys()) report.fault("configuration", field, "is in the cluster, not in the mirror");
}

/** Checks the members. One without a session waits for the sweep, since records expire on their own. */
async function checkIndex(bulk: BulkClient, projectId: number, report: Report): Promise<void> {
  // An index of another type has no members; it was reported with its key.
  const read = async (commands: readonly KeyedCommand[]) =>
    (await bulk.readAny(commands)).map((outcome) => (outcome instanceof ClusterError ? null : outcome));
  for await (const tokens of indexedSessions({ read }, projectId)) {
    for (const token of tokens) {
      if (token.length !== tokenBytes) report.fault("index", `${projectId} ${token.toString("hex")}`, "is no token");
    }
  }
}

/** Returns the tag as text, and the rest in hex if it is not text. */
function keyText({ tag, rest }: SplitKey): string {
  const text = rest.toString("latin1");
  return `vd{${tag}}${/^[\x20-\x7e]*$/.test(text) ? text : `${text[0]}${rest.subarray(1).toString("hex")}`}`;
}
