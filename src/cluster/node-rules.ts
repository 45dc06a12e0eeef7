/** What each node of a cluster must be for the store. The rules are in the table at the end. Pure. */
import { limits } from "../limits.js";
import type { FaultKind, Findings } from "./inspection-findings.js";
import type { RespCommand } from "./resp-encoder.js";
import type { NodeAddress } from "./slots.js";

/** What the store demands of the cluster. */
export interface ClusterDemands {
  /** Replicas that must acknowledge a write; 0 accepts losses. */
  readonly acks: number;
  /** The service persists data in another way than an append-only file. */
  readonly isDurableOtherwise?: boolean;
  /** Commands with arguments that the user must be allowed to run, with keys in the store's form. */
  readonly commands?: readonly RespCommand[];
  /** Pattern of the keys that the user must have access to, with one `*` at the end. */
  readonly keys?: string;
}

/** A node's facts, as far as the rules below judge them. */
export interface NodeFacts {
  readonly address: NodeAddress;
  readonly role: "master" | "replica";
  readonly kind: "redis" | "valkey";
  /** As in "7.0.15". */
  readonly version: string;
  readonly isCluster: boolean;
  /** Number of replicas that follow a master. */
  readonly replicas: number;
  /** Whether it still reads its data from the disk or from its master. Until then, its other facts are not those that it will have. */
  readonly isLoading: boolean;
  readonly isAofOn: boolean;
  /** Bytes; 0 means no bound. */
  readonly maxmemory: number;
  readonly usedMemory: number;
  /** Whether a replica is connected to its master. */
  readonly isLinkUp: boolean;
  readonly maxmemoryPolicy: string;
  /** Whether it refuses everything while any slot has no master; `undefined` means that the user may not ask. */
  readonly needsEverySlot: boolean | undefined;
  /** Whether the engine gives its replica to a master that has none (replica migration); `undefined` means that the user may not ask. */
  readonly movesReplicas: boolean | undefined;
  /** How far its clock is ahead of this machine's, ms. */
  readonly clockAheadMs: number;
}

/** Checks clocks: one node's may be off, or this machine's if all differ alike. */
export function judgeClocks(facts: readonly NodeFacts[], findings: Findings): void {
  const off = facts.filter(({ clockAheadMs }) => Math.abs(clockAheadMs) > limits.clusterClockOffMsMax);
  const seconds = (ms: number): string => `${(Math.abs(ms) / 1000).toFixed(1)} s ${ms > 0 ? "ahead of" : "behind"}`;
  const [first] = off;
  if (first === undefined) return;
  const isSameSide = off.every((each) => each.clockAheadMs > 0 === first.clockAheadMs > 0);
  if (off.length === facts.length && facts.length > 1 && isSameSide) {
    findings.fault(`this machine's clock is ${seconds(-first.clockAheadMs)} that of every node: synchronise it`);
    return;
  }
  for (const { address, clockAheadMs } of off) {
    findings.fault(`${address}: its clock is ${seconds(clockAheadMs)} this machine's: synchronise it`);
  }
}

/** Adds a node's faults to the findings. */
export function judgeNode(node: NodeFacts, demands: ClusterDemands, findings: Findings): void {
  for (const { isFault, kind, says } of rules) {
    const text = says(node, demands);
    if (text === undefined) continue;
    if (isFault) findings.fault(text, node.address, kind ?? "refused");
    else findings.warning(text, node.address);
    // For a server without cluster mode, no other rule matters.
    if (!node.isCluster) return;
  }
}

interface NodeRule {
  readonly isFault: boolean;
  /** For a fault; default: "refused". */
  readonly kind?: FaultKind;
  /** Returns the sentence, with `{nodes}` and `[one|several]` for `sentenceOf`; `undefined` when the node meets the rule. */
  says(node: NodeFacts, demands: ClusterDemands): string | undefined;
}

/** The rules for each node, the most important first. */
const rules: readonly NodeRule[] = [
  {
    isFault: true,
    says: ({ kind, version }) =>
      isOlder(version, kind === "valkey" ? "7.2" : "7.0")
        ? `{nodes} [is|are] ${kind} ${version}, which is too old: use valkey 7.2 or newer, or redis 7.0 to 7.2`
        : undefined,
  },
  {
    isFault: true,
    says: ({ isCluster }) =>
      isCluster
        ? undefined
        : "{nodes} [is a single server: start it|are single servers: start each] with cluster-enabled yes, as a node of a cluster",
  },
  {
    isFault: false,
    says: ({ kind, version }) =>
      kind === "redis" && !isOlder(version, "7.3")
        ? `{nodes} [is|are] redis ${version}; tested are 7.0 to 7.2`
        : undefined,
  },
  {
    isFault: true,
    says: ({ maxmemoryPolicy }) =>
      maxmemoryPolicy === "noeviction"
        ? undefined
        : `on {nodes} maxmemory-policy is ${maxmemoryPolicy}, which throws records away: set noeviction`,
  },
  {
    isFault: true,
    says: ({ isAofOn }, { isDurableOtherwise = false }) =>
      isAofOn || isDurableOtherwise
        ? undefined
        : "{nodes} [writes|write] no append-only file, so that a restart loses everything: set appendonly yes " +
          "(--store-durable for a managed service that keeps its data otherwise)",
  },
  {
    isFault: true,
    says: ({ movesReplicas }) =>
      movesReplicas === true
        ? "{nodes} [has|have] cluster-allow-replica-migration yes, by which an empty replica may become the master of a shard: set no"
        : undefined,
  },
  {
    isFault: false,
    says: ({ movesReplicas, isCluster }, { acks }) =>
      isCluster && movesReplicas === undefined && acks > 0
        ? "the user may not ask for cluster-allow-replica-migration (CONFIG GET): make sure that it is no on every node"
        : undefined,
  },
  {
    isFault: true,
    kind: "replicas",
    says: ({ role, replicas }, { acks }) =>
      role === "master" && replicas < acks
        ? `{nodes} [has|have] ${replicas === 0 ? "no replica" : replicasOf(replicas)}, but ${acks === 1 ? "one" : acks} must acknowledge ` +
          `each write (--store-acks ${acks}): give [it|each of them] ${acks + 1}, so that one may fail`
        : undefined,
  },
  {
    isFault: false,
    says: ({ role, replicas }, { acks }) =>
      role === "master" && acks > 0 && replicas === acks
        ? `{nodes} [has|have] only ${replicasOf(replicas)}[| each]: when one fails, writes are refused until it is back`
        : undefined,
  },
  {
    isFault: false,
    says: ({ needsEverySlot }) =>
      needsEverySlot === true
        ? "{nodes} [has|have] cluster-require-full-coverage yes, so that one shard without a master stops all: set no"
        : undefined,
  },
  {
    isFault: false,
    says: ({ maxmemory }) =>
      maxmemory === 0
        ? "{nodes} [has|have] no maxmemory, so that a full machine ends [it|them] instead of refusing writes"
        : undefined,
  },
  {
    isFault: false,
    says: ({ maxmemory, usedMemory }) =>
      maxmemory > 0 && usedMemory > 0.9 * maxmemory
        ? "{nodes} [uses|use] more than nine tenths of [its|their] maxmemory"
        : undefined,
  },
];

function replicasOf(count: number): string {
  return count === 1 ? "one replica" : `${count} replicas`;
}

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [thanMajor = 0, thanMinor = 0] = than.split(".").map(Number);
  return major < thanMajor || (major === thanMajor && minor < thanMinor);
}
