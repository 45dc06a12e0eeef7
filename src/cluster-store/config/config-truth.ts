/**
 * The configuration in the cluster: its position, its changes in order, and the nodes that follow it. It waits until as many replicas as required
 * have what it reads, because a node must not act on a change that a failover undoes.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type ClusterClient, scriptCommand } from "../../cluster/cluster-client.js";
import { ClusterError } from "../../cluster/cluster-error.js";
import type { KeyedCommand } from "../../cluster/operation.js";
import type { RespReply } from "../../cluster/resp-parser.js";
import type { Script } from "../../cluster/script.js";
import { limits } from "../../limits.js";
import type { ConfigRow } from "../../store/config-rows.js";
import type { RecordedChange } from "../../store/mirrored-tables.js";
import { auditRow, configKeys, configSlot } from "../keys.js";
import {
  changeConfig,
  configNodes,
  confirmConfig,
  followConfig,
  identifyCluster,
  readConfig,
  reportServing,
} from "./config-scripts.js";

/** A state of the configuration. After a failover undid a change, the same revision may stand for two states; `change` differs then. */
export interface ConfigPosition {
  /** Id of the cluster. */
  readonly cluster: string;
  /** Number of its last change; -1 when nothing is known. */
  readonly revision: number;
  /** Id of its last change. */
  readonly change: string;
}

/** What to do to a mirror to bring it to `position`. */
export type Followed =
  | { readonly kind: "current"; readonly position: ConfigPosition }
  /** Puts and removes these rows, in this order. */
  | { readonly kind: "changes"; readonly position: ConfigPosition; readonly rows: readonly ConfigRow[] }
  /** All rows must be read, which have about so many bytes. */
  | { readonly kind: "behind"; readonly position: ConfigPosition; readonly bytes: number };

/** The whole configuration in one state. */
export interface ConfigRead {
  readonly kind: "all";
  readonly position: ConfigPosition;
  readonly rows: readonly { readonly field: string; readonly value: Buffer }[];
  /** Of all rows, as each change has counted them. */
  readonly bytes: number;
  /** Whether the log ends with the change that made this state. */
  readonly isLogged: boolean;
}

/** A node's report that it is there. `beat` differs each time. */
export interface NodeBeat {
  readonly node: string;
  readonly beat: number;
}

/** A node's last report. */
export interface SeenNode {
  readonly text: string;
  /** The node's revision; -1 if it has none of this history. */
  readonly revision: number;
}

/**
 * The revision of a change, or why it was not made: another came first, there is no room, or a store is being copied into the cluster. "unknown": the
 * caller asked again so late that the log can no longer tell.
 */
type ChangeOutcome = { readonly revision: number } | "conflict" | "full" | "copying" | "unknown";

/** Another cluster than the one expected, or one that has lost its rows or is being filled with others. */
export class OtherClusterError extends Error {
  override readonly name = "OtherClusterError";
}

const followedKeys = [configKeys.head, configKeys.log, configKeys.nodes];
const rowKeys = [configKeys.head, configKeys.rows, configKeys.log];

/** Pauses between two tries of a write that too few replicas have. */
const retryMsMin = 100;
const retryMsMax = 1000;

/** Throws `OtherClusterError` if the cluster is not the one that was followed. */
export class ConfigTruth {
  /** `acks`: replicas that must have what is read and written. */
  constructor(
    private readonly client: ClusterClient,
    private readonly acks: number,
  ) {}

  /** Whether any node of the cluster knows the owner of each slot. */
  isThere(): Promise<boolean> {
    return this.client.ready().then(
      () => true,
      () => false,
    );
  }

  /** Tells people who wait why it takes long. */
  waits(why: string): void {
    this.client.waits(why);
  }

  /** Returns the id of the cluster; null when it has no configuration. */
  async clusterId(): Promise<string | null> {
    const command = ["HGET", configKeys.head, "cluster"];
    const options = { deadlineMs: limits.configChangeMs, isIdempotent: true };
    const id = await this.client.execute(command, configSlot, options);
    return id === null ? null : String(id);
  }

  /** Whether a store is being copied into the cluster, which nobody may use until that is done. Throws `ClusterError`. */
  async isBeingCopied(): Promise<boolean> {
    return (await this.migration()).state === "copying";
  }

  /** Returns the store that was copied into the cluster, how far that is, and when it was done (ms); empty for none. Throws `ClusterError`. */
  async migration(): Promise<{ readonly store: string; readonly state: string; readonly doneMs: number }> {
    const command = ["HGET", configKeys.head, "migration"];
    const options = { deadlineMs: limits.configChangeMs, isIdempotent: true };
    const [store = "", state = "", doneMs = 0] = String(
      (await this.client.execute(command, configSlot, options)) ?? "",
    ).split(" ");
    return { store, state, doneMs: Number(doneMs) };
  }

  /** Gives the cluster this id, unless it has one. Returns the one that it has. */
  async identify(id: string): Promise<string> {
    return String(await this.#write(identifyCluster, [configKeys.head], [id], limits.configChangeMs));
  }

  /** Returns what happened since `from`. Throws `ClusterError` and `OtherClusterError`. */
  async follow(from: ConfigPosition, beat: NodeBeat | null, deadlineMs: number): Promise<Followed> {
    const endMs = performance.now() + deadlineMs;
    const args = [from.cluster, String(from.revision), from.change, beat?.node ?? "", String(beat?.beat ?? "")];
    const { reply, lacking } = await this.#attempt(scriptCommand(followConfig, followedKeys, args, configSlot), endMs);
    const position = positionOf(reply, from.cluster);
    // The changes may be long, and need not be read again: only replicas must have them.
    if (lacking !== null && !(await this.#isKept(position, endMs, lacking))) throw lacking;
    const [kind, what] = (reply as RespReply[]).slice(3);
    if (String(kind) === "copying") {
      throw new OtherClusterError(
        `cluster ${from.cluster} is being filled by \`verdictd store migrate\`: finish that with --final, then it can be used`,
      );
    }
    if (String(kind) === "changes") return { kind: "changes", position, rows: rowsOfEntries(what as RespReply[]) };
    if (String(kind) === "behind") return { kind: "behind", position, bytes: Number(what) };
    return { kind: "current", position };
  }

  /**
   * Reads the whole configuration of this cluster. A failover may undo what was read, unless `isKept` confirms it. Throws `ClusterError` and
   * `OtherClusterError`.
   */
  async read(cluster: string, deadlineMs: number = limits.configReadMs): Promise<ConfigRead> {
    // So large an answer would keep verdicts and writes waiting on their connections.
    const options = { deadlineMs, isBlocking: true, isIdempotent: true };
    const reply = await this.client.run(readConfig, rowKeys, [cluster], configSlot, options);
    const position = positionOf(reply, cluster);
    const [rows, bytes, entries] = (reply as RespReply[]).slice(3) as [Buffer[], Buffer, RespReply[]];
    const isLogged = isEndOfLog(entries, position);
    return { kind: "all", position, rows: pairs(rows), bytes: Number(bytes), isLogged };
  }

  /**
   * Whether the configuration is in this state, or was, and as many replicas as required have it. False if a failover has undone it, or too many
   * changes came since. Throws `ClusterError`.
   */
  isKept(position: ConfigPosition, deadlineMs: number): Promise<boolean> {
    return this.#isKept(position, performance.now() + deadlineMs);
  }

  async #isKept(position: ConfigPosition, endMs: number, lacking: ClusterError | null = null): Promise<boolean> {
    const args = [position.cluster, String(position.revision), position.change];
    const command = scriptCommand(confirmConfig, [configKeys.head, configKeys.log], args, configSlot);
    return (await this.#acknowledged(command, endMs, lacking)) === 1;
  }

  /**
   * Makes a change on `base`; may be called again with the same id. `migrated` names the store whose migration makes it. Throws `ClusterError` and
   * `OtherClusterError`.
   */
  async change(
    base: ConfigPosition,
    id: string,
    { rows, logged }: Pick<RecordedChange<unknown>, "rows" | "logged">,
    deadlineMs: number,
    migrated = "",
  ): Promise<ChangeOutcome> {
    const put: (string | Buffer)[] = [];
    const removed: string[] = [];
    let bytes = 0;
    for (const { field, value } of rows) {
      bytes += field.length + (value?.length ?? 0);
      if (value === null) removed.push(field);
      else put.push(field, value);
    }
    if (bytes > limits.configBytesMax) return "full";
    const accounts = [...new Set(logged.map(({ accountId }) => accountId))];
    const isWhole = bytes <= limits.configLogBytesMax && rows.length <= limits.configLogRowsMax;
    const args = [
      ...[base.cluster, String(base.revision), base.change, id, String(limits.configBytesMax)],
      ...[String(limits.configLogMax), isWhole ? "1" : "0"],
      ...[String(put.length / 2), String(removed.length), migrated],
      ...put,
      ...removed,
      ...logged.flatMap(({ accountId, id: number, entry }) => {
        return [String(accounts.indexOf(accountId) + 1), String(number), JSON.stringify(entry)];
      }),
    ];
    const keys = [...rowKeys, ...accounts.map(auditRow)];
    const reply = (await this.#write(changeConfig, keys, args, deadlineMs)) as RespReply[];
    const outcome = String(reply[0]);
    if (outcome === "other") throw new OtherClusterError(`the cluster is not ${base.cluster} any more`);
    return outcome === "done" ? { revision: Number(reply[1]) } : (outcome as Exclude<ChangeOutcome, object>);
  }

  /** Resolves when there is a change after this revision, or after `waitMs`. Throws `ClusterError`. */
  async changeAfter(revision: number, waitMs: number): Promise<void> {
    const command = ["XREAD", "BLOCK", String(waitMs), "STREAMS", configKeys.log, `${Math.max(0, revision)}-0`];
    const options = { deadlineMs: waitMs + limits.configLeaseMs / 2, isBlocking: true, isIdempotent: true };
    await this.client.execute(command, configSlot, options);
  }

  /** Returns the nodes that follow, without the nodes in `gone` that have reported nothing since. */
  nodes(gone: ReadonlyMap<string, SeenNode>, deadlineMs: number): Promise<Map<string, SeenNode>> {
    return this.#nodesIn(configKeys.nodes, gone, deadlineMs);
  }

  async #nodesIn(key: string, gone: ReadonlyMap<string, SeenNode>, deadlineMs: number): Promise<Map<string, SeenNode>> {
    const args = [...gone].flatMap(([node, { text }]) => [node, text]);
    const options = { deadlineMs, isIdempotent: true };
    const reply = (await this.client.run(configNodes, [key], args, configSlot, options)) as Buffer[];
    return new Map(pairs(reply).map(({ field, value }) => [field, seenNode(String(value))]));
  }

  /**
   * Counts the nodes that run, also those that can't follow. Takes some seconds if the lists name any: a node that was killed reports nothing new
   * within a lease, and is removed.
   */
  async liveNodes(): Promise<number> {
    const lists = [configKeys.nodes, configKeys.serving];
    const listed = (before?: readonly Map<string, SeenNode>[]) =>
      Promise.all(lists.map((key, index) => this.#nodesIn(key, before?.[index] ?? new Map(), limits.configChangeMs)));
    const before = await listed();
    if (before.every(({ size }) => size === 0)) return 0;
    await delay(limits.configLeaseMs + limits.configLeaseSlackMs);
    return new Set((await listed(before)).flatMap((nodes) => [...nodes.keys()])).size;
  }

  /** Reports that a node runs; no replica has to have that. */
  async reportServing({ node, beat }: NodeBeat): Promise<void> {
    const options = { deadlineMs: limits.configLeaseMs, isIdempotent: true };
    await this.client.run(reportServing, [configKeys.serving], [node, String(beat)], configSlot, options);
  }

  /** Takes a node that stops off the lists. */
  async leave(node: string): Promise<void> {
    const options = { deadlineMs: limits.configLeaseMs, isIdempotent: true };
    await Promise.all(
      [configKeys.nodes, configKeys.serving].map((key) =>
        this.client.execute(["HDEL", key, node], configSlot, options),
      ),
    );
  }

  /** Runs a script until as many replicas as required have what it wrote, and all writes before it. The script must be safe to run twice. */
  #write(
    script: Script,
    keys: readonly string[],
    args: readonly (string | Buffer)[],
    deadlineMs: number,
  ): Promise<RespReply> {
    return this.#acknowledged(scriptCommand(script, keys, args, configSlot), performance.now() + deadlineMs);
  }

  /** As `#write`; `lacking` is why an earlier write of the same caller is not acknowledged yet. */
  async #acknowledged(command: KeyedCommand, endMs: number, lacking: ClusterError | null = null): Promise<RespReply> {
    for (let pauseMs = retryMsMin; ; pauseMs = Math.min(2 * pauseMs, retryMsMax)) {
      if (lacking !== null) {
        if (performance.now() + pauseMs >= endMs) throw lacking;
        await delay(pauseMs);
      }
      const attempt = await this.#attempt(command, endMs, lacking);
      if (attempt.lacking === null) return attempt.reply;
      lacking = attempt.lacking;
    }
  }

  /** Runs a script once; `lacking` in the result is why too few replicas have what it wrote. */
  async #attempt(command: KeyedCommand, endMs: number, lacking: ClusterError | null = null): Promise<Attempt> {
    const { acks } = this;
    const deadlineMs = Math.max(1, endMs - performance.now());
    const ackMs = Math.min(limits.configAckMs, deadlineMs);
    const options = { deadlineMs, acks, ackMs, isRepeat: lacking !== null, isIdempotent: true };
    const { outcomes, missing } = await this.client.writeGroup([command], options);
    const outcome = outcomes[0]!;
    // Prefer the error of an earlier try that ran unacknowledged: it says more than that there was no time for this try.
    if (outcome instanceof ClusterError) throw outcome.reason === "deadline" && lacking !== null ? lacking : outcome;
    return { reply: outcome, lacking: missing(0) };
  }
}

interface Attempt {
  readonly reply: RespReply;
  readonly lacking: ClusterError | null;
}

/** Returns the state that an answer begins with. Throws `OtherClusterError` if it is that of another cluster. */
function positionOf(reply: RespReply, expected: string): ConfigPosition {
  const [cluster = "", revision, change = ""] = (reply as RespReply[]).slice(0, 3).map(String);
  if (cluster === expected) return { cluster, revision: Number(revision), change };
  const found = cluster === "" ? "it has none" : `it is that of cluster ${cluster}`;
  throw new OtherClusterError(`the configuration of cluster ${expected} is not there any more: ${found}`);
}

/** Whether entries of the log from the revision of a state on are the change that made it and no others. */
function isEndOfLog(entries: readonly RespReply[], { revision, change }: ConfigPosition): boolean {
  const [entry, later] = entries as [Buffer, Buffer[]][];
  // A cluster begins with a state that no change has made.
  if (entry === undefined) return change === "";
  const [id, fields] = entry;
  return later === undefined && String(id) === `${revision}-0` && String(fields[1]) === change;
}

function rowsOfEntries(entries: readonly RespReply[]): ConfigRow[] {
  const rows: ConfigRow[] = [];
  for (const entry of entries) {
    for (const { field, value } of pairs((entry as RespReply[])[1] as Buffer[])) {
      if (field.startsWith("+")) rows.push({ field: field.slice(1), value });
      else if (field.startsWith("-")) rows.push({ field: field.slice(1), value: null });
    }
  }
  return rows;
}

/** Returns fields and values, alternating; values are copied. */
function pairs(flat: readonly Buffer[]): { readonly field: string; readonly value: Buffer }[] {
  const rows: { field: string; value: Buffer }[] = [];
  for (let at = 0; at < flat.length; at += 2) rows.push({ field: String(flat[at]), value: Buffer.from(flat[at + 1]!) });
  return rows;
}

/** A node's report: how many it has sent, and its revision. */
function seenNode(text: string): SeenNode {
  return { text, revision: Number(text.slice(text.indexOf(" ") + 1)) };
}
