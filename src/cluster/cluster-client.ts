/**
 * A client of a Valkey or Redis Cluster: finds the node of a slot, sends the commands of one tick as one write to each node, follows redirections. It
 * repeats a command that may have run only if the caller says that this does no harm.
 */
import { limits } from "../limits.js";
import { ClusterError } from "./cluster-error.js";
import { type ClusterMeters, newClusterMeters } from "./cluster-meters.js";
import type { ClusterTls } from "./cluster-tls.js";
import type { ConnectionOptions, Lane } from "./connection.js";
import { type Acknowledging, GroupOperation } from "./group-operation.js";
import { type KeyedCommand, Operation, type Outcome, type Routing } from "./operation.js";
import type { CommandPart, RespCommand } from "./resp-encoder.js";
import type { RespReply } from "./resp-parser.js";
import type { Script } from "./script.js";
import type { NodeAddress, Shard } from "./slots.js";
import type { StoreUrl } from "./store-url.js";
import { askNode, Topology } from "./topology.js";

/** Which cluster, and the bounds of each connection; the defaults are in `limits.ts`. */
export interface ClusterOptions {
  readonly url: StoreUrl;
  /** For `valkeys` and `rediss`: custom authorities and a client certificate. */
  readonly tls?: ClusterTls;
  readonly connectMs?: number;
  readonly silenceMs?: number;
  readonly pendingCommandsMax?: number;
  readonly pendingBytesMax?: number;
  /** Called with why the cluster takes long, each time that it does: for people who wait. */
  readonly onWait?: (why: string) => void;
}

/** How to run a command: until when, on which node, and whether to repeat it. `deadlineMs` is ms. */
export interface CommandOptions {
  /** Time until there must be an answer, retries included. */
  readonly deadlineMs: number;
  /** Default: "master". A replica may lag behind. */
  readonly readFrom?: "master" | "replica";
  /** The command may run twice, so it is repeated when its answer was lost; reads are idempotent. Default: false. */
  readonly isIdempotent?: boolean;
  /** Fails as soon as the node can't serve it, instead of waiting for another node to take over. Default: false. */
  readonly failsFast?: boolean;
  /** Other work waits for it that could do without it: refused at once while its master is suspected. Default: false. */
  readonly isImpatient?: boolean;
  /**
   * It waits in the server (`XREAD BLOCK`), for less than its deadline, or its answer is very large: it uses a connection that no others wait on.
   * Default: false.
   */
  readonly isBlocking?: boolean;
}

/** How to send and acknowledge a group of writes; `deadlineMs` covers both. */
export interface GroupOptions extends Acknowledging {
  readonly deadlineMs: number;
  readonly isIdempotent?: boolean;
}

/** The results of the writes of one group. */
export interface GroupOutcome {
  /** In the order of the commands. */
  readonly outcomes: Outcome[];
  /** How many replicas have what each command wrote: at most its master's replicas; 0 when none were asked or the number is unknown. */
  readonly replicas: readonly number[];
  /** Why too few replicas have the command of this index, which ran; `null` means that enough have it, or that it did not run. */
  missing(index: number): ClusterError | null;
}

/** One per thread. A failure is a `ClusterError`; its `outcome` says whether the command may have run. */
export class ClusterClient {
  readonly meters: ClusterMeters = newClusterMeters();
  readonly #topology: Topology;
  readonly #onWait: ClusterOptions["onWait"];

  /** Connects when it is first used; `ready` waits for the cluster. */
  constructor({ url, tls, onWait, ...bounds }: ClusterOptions) {
    this.#onWait = onWait;
    const options: ConnectionOptions = {
      tls: url.isTls ? (tls ?? tlsOf(url)) : undefined,
      user: url.user,
      password: url.password,
      passwordFile: url.passwordFile,
      connectMs: bounds.connectMs ?? limits.clusterConnectMs,
      silenceMs: bounds.silenceMs ?? limits.clusterSilenceMs,
      pendingCommandsMax: bounds.pendingCommandsMax ?? limits.clusterPendingCommandsMax,
      pendingBytesMax: bounds.pendingBytesMax ?? limits.clusterPendingBytesMax,
    };
    this.#topology = new Topology(url.seeds, options, this.meters);
  }

  /** Finds the owner of each slot. Throws `ClusterError` when no node answers. */
  async ready(): Promise<void> {
    this.#mustBeOpen();
    const timer = setTimeout(() => this.waits("no node says who has its slots"), limits.clusterSilentMs);
    await this.#topology.read().finally(() => clearTimeout(timer));
  }

  /** Returns the answer to one command. Throws `ClusterError`. */
  async execute(command: RespCommand, slot: number, options: CommandOptions): Promise<RespReply> {
    const [outcome] = await this.pipeline([{ command, slot }], options);
    if (outcome instanceof ClusterError) throw outcome;
    return outcome!;
  }

  /** Runs a script. Throws `ClusterError`. */
  async run(script: Script, keys: Keys, args: RespCommand, slot: number, options: CommandOptions): Promise<RespReply> {
    const [outcome] = await this.pipeline([scriptCommand(script, keys, args, slot)], options);
    if (outcome instanceof ClusterError) throw outcome;
    return outcome!;
  }

  /**
   * Returns the outcome of each command, in order; never throws. The commands go to their nodes at once. Their order of execution is only certain for
   * commands that go to one node and are not redirected.
   */
  pipeline(commands: readonly KeyedCommand[], options: CommandOptions): Promise<Outcome[]> {
    const { isIdempotent = false, failsFast = false, isImpatient = false } = options;
    const routing: Routing = { lane: laneOf(options), isIdempotent, failsFast, isImpatient };
    return new Promise((resolve) => {
      this.#begin(new Operation(this.#topology, this.meters, routing, commands, options.deadlineMs, resolve));
    });
  }

  /**
   * Writes, then sends one `WAIT` to each master that has run a write. Returns the outcome of each write, and how many replicas have it. Groups have
   * their own connections, to keep reads from waiting behind `WAIT`.
   */
  writeGroup(commands: readonly KeyedCommand[], options: GroupOptions): Promise<GroupOutcome> {
    const routing: Routing = {
      lane: "group",
      isIdempotent: options.isIdempotent ?? false,
      failsFast: false,
      isImpatient: false,
    };
    return new Promise((resolve) => {
      const done = (outcomes: Outcome[]): void => {
        const missing = (index: number): ClusterError | null => group.missing(index);
        const lacking = outcomes.findIndex((_, index) => missing(index) !== null);
        if (lacking !== -1) this.waits(missing(lacking)!.message);
        resolve({ outcomes, replicas: group.replicas, missing });
      };
      const group = new GroupOperation(this.#topology, this.meters, routing, commands, options.deadlineMs, done);
      group.acknowledge(options, commands.length);
      this.#begin(group);
    });
  }

  /** Returns the answer of one node, whatever slots it has: `SCAN`, `INFO`. Throws `ClusterError`. */
  async onNode(address: NodeAddress, command: RespCommand, deadlineMs: number): Promise<RespReply> {
    this.#mustBeOpen();
    const timer = setTimeout(() => this.waits(`${address} does not answer`), limits.clusterSilentMs);
    return askNode(this.#topology.node(address), command, deadlineMs).finally(() => clearTimeout(timer));
  }

  /** Tells people who wait why it takes long. */
  waits(why: string): void {
    this.#onWait?.(why);
  }

  /** Masters with their replicas, as last seen. */
  shards(): Shard[] {
    return this.#topology.map.shards;
  }

  /** Whether any slot is suspected (`isSuspected`). */
  get hasSuspected(): boolean {
    return this.#topology.circuits.hasSuspected;
  }

  /** Whether the master of a slot has kept a command waiting for `limits.clusterImpatientMs` and answered nothing since. */
  isSuspected(slot: number): boolean {
    const { map, circuits } = this.#topology;
    return circuits.isSuspected(map.shard(slot)?.master ?? "");
  }

  /** Returns the owner of a slot, as last seen. */
  shardOf(slot: number): Shard | undefined {
    return this.#topology.map.shard(slot);
  }

  /** Ends all connections; commands that wait for an answer fail. */
  close(): void {
    this.#topology.close();
  }

  #begin(operation: Operation): void {
    if (this.#onWait !== undefined) {
      const tell = (): void => {
        if (!operation.isOver) this.waits(operation.waitsFor);
      };
      setTimeout(tell, limits.clusterSilentMs).unref();
    }
    operation.begin();
  }

  #mustBeOpen(): void {
    if (this.#topology.isClosed) throw new ClusterError("closed", "not-sent", "the client was closed");
  }
}

/** The TLS setting in the URL. */
export function tlsOf({ ca, caFile, own }: StoreUrl): ClusterTls {
  return { ...(ca !== undefined && { ca, caFile }), ...own };
}

type Keys = readonly (string | Uint8Array)[];

/** Returns the command that runs a script on keys of one slot. */
export function scriptCommand(script: Script, keys: Keys, args: readonly CommandPart[], slot: number): KeyedCommand {
  const name = script.isReadOnly ? "EVALSHA_RO" : "EVALSHA";
  return { command: [name, script.sha, keys.length, ...keys, ...args], slot, script };
}

function laneOf({ isBlocking = false, readFrom = "master" }: CommandOptions): Lane {
  if (isBlocking) return "blocking";
  return readFrom === "replica" ? "replica" : "command";
}
