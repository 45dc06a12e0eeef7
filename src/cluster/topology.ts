/** Knows the nodes of the cluster and the owner of each slot; reads the map again when it turns out to be wrong. */
import { Circuits } from "./circuits.js";
import { ClusterError } from "./cluster-error.js";
import type { ClusterMeters } from "./cluster-meters.js";
import { ClusterNode } from "./cluster-node.js";
import type { ConnectionOptions, Sendable } from "./connection.js";
import type { RespCommand } from "./resp-encoder.js";
import { ErrorReply, type RespReply } from "./resp-parser.js";
import { type NodeAddress, parseClusterSlots, SlotMap } from "./slots.js";

/** Number of nodes asked at once for the map: if one of them is cut off, the others still have the majority's view. */
const askedAtOnce = 3;
const answerMs = 1000;
/** How much longer the others have than the first node that finds the cluster in order. */
const graceMs = 100;
/** Least and greatest time between two readings. */
const pauseMs = 100;
const everyMs = 10_000;

/** Sends one command to one node, without retries; throws `ClusterError`. */
export function askNode(node: ClusterNode, command: RespCommand, deadlineMs: number): Promise<RespReply> {
  return new Promise((resolve, reject) => {
    const sendable: Sendable = {
      command,
      bytes: 100,
      isCancelled: false,
      isSent: false,
      answered: (reply) => {
        clearTimeout(timer);
        if (reply instanceof ErrorReply) {
          reject(new ClusterError("refused", "refused", `${node.address}: ${reply.message}`, reply.code));
        } else resolve(reply);
      },
      lost: (error) => {
        clearTimeout(timer);
        reject(error);
      },
    };
    const timer = setTimeout(() => {
      sendable.isCancelled = true;
      const outcome = sendable.isSent ? "unknown" : "not-sent";
      reject(new ClusterError("deadline", outcome, `${node.address} did not answer in ${Math.round(deadlineMs)} ms`));
    }, deadlineMs);
    const connection = node.connection("command");
    const isTaken = connection?.send(sendable);
    if (isTaken === true) return;
    clearTimeout(timer);
    reject(
      connection === undefined
        ? (node.lastError ?? new ClusterError("unreachable", "not-sent", `${node.address} can't be reached`))
        : new ClusterError("busy", "not-sent", `too many commands wait for ${node.address}`),
    );
  });
}

/** One per client. It closes nodes that the cluster no longer names. */
export class Topology {
  map = new SlotMap();
  /** Masters that have not answered for a while. */
  readonly circuits = new Circuits((address) => this.#serves(address));
  readonly #nodes = new Map<NodeAddress, ClusterNode>();
  #reading: Promise<void> | undefined;
  #readMs = Number.NEGATIVE_INFINITY;
  #again: NodeJS.Timeout | undefined;
  readonly #regularly: NodeJS.Timeout;
  isClosed = false;

  constructor(
    private readonly seeds: readonly NodeAddress[],
    private readonly options: ConnectionOptions,
    private readonly meters: ClusterMeters,
  ) {
    this.#regularly = setInterval(() => this.refresh(), everyMs);
    this.#regularly.unref();
  }

  node(address: NodeAddress): ClusterNode {
    let node = this.#nodes.get(address);
    if (node === undefined) {
      node = new ClusterNode(address, this.options, this.meters, () => this.refresh());
      this.#nodes.set(address, node);
    }
    return node;
  }

  /** Schedules a new reading of the map: at once, unless it was just read. */
  refresh(): void {
    if (this.isClosed || this.#again !== undefined || this.#reading !== undefined) return;
    const leftMs = this.#readMs + pauseMs - performance.now();
    const read = (): void => {
      this.#again = undefined;
      this.read().catch(() => {});
    };
    this.#again = setTimeout(read, Math.max(0, leftMs));
    this.#again.unref();
  }

  /** Reads the map from the first nodes that answer. Throws `ClusterError` when none does. */
  read(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
      this.#readMs = performance.now();
    });
    return this.#reading;
  }

  close(): void {
    this.isClosed = true;
    this.circuits.close();
    clearInterval(this.#regularly);
    clearTimeout(this.#again);
    for (const node of this.#nodes.values()) node.close();
  }

  async #read(): Promise<void> {
    const known = this.map.shards.flatMap(({ master, replicas }) => [master, ...replicas]);
    const candidates = shuffled([...new Set([...known, ...this.seeds])]);
    // Nodes that were lost a moment ago come last.
    candidates.sort(
      (a, b) => Number(this.node(b).isAvailable("command")) - Number(this.node(a).isAvailable("command")),
    );
    let fault: unknown;
    for (let from = 0; from < candidates.length; from += askedAtOnce) {
      const asked = candidates.slice(from, from + askedAtOnce).map((address) => this.#view(this.node(address)));
      const { views, faults } = await settled(asked);
      fault = faults.reduce(moreTelling, fault);
      let best: View | undefined;
      for (const view of views) if (best === undefined || isBetter(view, best)) best = view;
      if (this.isClosed) throw new ClusterError("closed", "not-sent", "the client was closed");
      if (best !== undefined) {
        this.meters.slotMapReads++;
        this.#use(best.map);
        return;
      }
    }
    throw fault instanceof ClusterError ? fault : new ClusterError("unreachable", "not-sent", String(fault));
  }

  /** Whether this master would serve requests; for "", whether any node knows the owner of each slot. */
  async #serves(address: NodeAddress): Promise<boolean> {
    if (address === "") {
      await this.read();
      return true;
    }
    this.refresh();
    const info = await askNode(this.node(address), ["CLUSTER", "INFO"], answerMs);
    return /^cluster_state:ok/m.test(String(info));
  }

  async #view(node: ClusterNode): Promise<View> {
    const [slots, info] = await Promise.all([
      askNode(node, ["CLUSTER", "SLOTS"], answerMs),
      askNode(node, ["CLUSTER", "INFO"], answerMs),
    ]);
    const map = parseClusterSlots(slots, node.address);
    if (map === undefined) {
      throw new ClusterError("protocol", "refused", `${node.address} answered CLUSTER SLOTS with something else`);
    }
    const text = String(info);
    return {
      map,
      isOk: /^cluster_state:ok/m.test(text),
      epoch: Number(/^cluster_current_epoch:(\d+)/m.exec(text)?.[1] ?? 0),
    };
  }

  #use(map: SlotMap): void {
    this.map = map;
    this.circuits.keep(new Set(map.shards.map(({ master }) => master)));
    const used = new Set([...map.shards.flatMap(({ master, replicas }) => [master, ...replicas]), ...this.seeds]);
    for (const [address, node] of this.#nodes) {
      if (used.has(address) || !node.isIdle) continue;
      this.#nodes.delete(address);
      node.close();
    }
  }
}

/** The cluster as seen by one node. */
interface View {
  readonly map: SlotMap;
  readonly isOk: boolean;
  readonly epoch: number;
}

/** Resolves when all have answered, or `graceMs` after a node that finds the cluster in order: a frozen one does not hold up the map. */
function settled(asked: readonly Promise<View>[]): Promise<{ views: View[]; faults: unknown[] }> {
  const views: View[] = [];
  const faults: unknown[] = [];
  return new Promise((resolve) => {
    let grace: NodeJS.Timeout | undefined;
    const end = (): void => {
      clearTimeout(grace);
      resolve({ views, faults });
    };
    const count = (): void => {
      if (views.length + faults.length === asked.length) end();
    };
    const seen = (view: View): void => {
      views.push(view);
      if (view.isOk && view.map.uncovered === 0) grace ??= setTimeout(end, graceMs);
      count();
    };
    const failed = (error: unknown): void => {
      faults.push(error);
      count();
    };
    for (const each of asked) each.then(seen, failed);
  });
}

/** A node that is cut off has missed the latest elections. */
function isBetter(a: View, b: View): boolean {
  if (a.map.uncovered !== b.map.uncovered) return a.map.uncovered < b.map.uncovered;
  if (a.isOk !== b.isOk) return a.isOk;
  return a.epoch > b.epoch;
}

/** A wrong password is a better explanation than an absent node. */
function moreTelling(a: unknown, b: unknown): unknown {
  return a instanceof ClusterError && a.reason === "refused" ? a : b;
}

function shuffled<T>(items: T[]): T[] {
  for (let at = items.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [items[at], items[other]] = [items[other]!, items[at]!];
  }
  return items;
}
