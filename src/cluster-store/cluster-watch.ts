/**
 * Looks at the cluster again and again while a node runs: whether this node should stay in the load balancer, which shards are short of replicas, and
 * what the metrics say of each engine process. One a process; it changes nothing in the cluster.
 */
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Inspection } from "../cluster/inspection.js";
import { listed } from "../cluster/inspection-findings.js";
import type { NodeFacts } from "../cluster/node-rules.js";
import { type NodeAddress, splitAddress } from "../cluster/slots.js";
import { limits } from "../limits.js";

/** What the last look found. */
export interface ClusterState {
  /** Every engine process that the cluster lists; `facts` is null for one that does not answer or still loads its data. */
  readonly engines: readonly { readonly address: NodeAddress; readonly facts: NodeFacts | null }[];
  /** Masters with too few replicas to acknowledge writes, and masters with just enough: the failure of one stops their writes. */
  readonly shardsRefusing: number;
  readonly shardsWithoutSpare: number;
}

/** What a watch needs of its node. */
interface ClusterWatchOptions {
  /** Replicas that must acknowledge a write. */
  readonly acks: number;
  /** Looks once; never rejects. */
  readonly look: () => Promise<Inspection>;
  /** The engine processes that the node knows, for a look that nobody answers. */
  readonly known: () => readonly NodeAddress[];
  readonly log: WatchLog;
}

/** Receives the lines: fields, then what happened. */
interface WatchLog {
  error(fields: object, what: string): void;
  warn(fields: object, what: string): void;
  info(fields: object, what: string): void;
}

/** Why requests should go to other nodes. */
type Trouble = "cut off" | "refused";

/** Looks from `start` until `stop`. */
export class ClusterWatch {
  state: ClusterState = { engines: [], shardsRefusing: 0, shardsWithoutSpare: 0 };
  readonly #options: ClusterWatchOptions;
  readonly #stopping = new AbortController();
  #running = Promise.resolve();
  /** What the last look found, and what two looks one after another did: a moment's fault takes no node out. */
  #found: Trouble | null = null;
  #trouble: Trouble | null = null;
  #saidOfShards = "";

  constructor(options: ClusterWatchOptions) {
    this.#options = options;
  }

  /** False while only this node is cut off from the cluster, or the cluster is no longer as `serve` demands. */
  get isUsable(): boolean {
    return this.#trouble === null;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#look().catch((err: unknown) => this.#options.log.error({ err }, "looking at the cluster failed"));
      await delay(limits.clusterWatchMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #look(): Promise<void> {
    const seen = await this.#options.look();
    const answered = new Map(seen.nodes.map((facts) => [facts.address, facts]));
    const known = seen.addresses.length > 0 ? seen.addresses : this.#options.known();
    const silent = known.filter((address) => !answered.has(address));
    const isCutOff = !seen.isThere && (await outOfReach(silent)) * 2 > known.length;
    if (this.#stopping.signal.aborted) return;
    this.#judge(isCutOff ? "cut off" : seen.refused.length > 0 ? "refused" : null, seen.refused);
    const masters = seen.nodes.filter(({ role }) => role === "master");
    this.#sayShards(masters);
    const { acks } = this.#options;
    this.state = {
      engines: known.map((address) => ({ address, facts: answered.get(address) ?? null })),
      shardsRefusing: masters.filter(({ replicas }) => replicas < acks).length,
      shardsWithoutSpare: acks === 0 ? 0 : masters.filter(({ replicas }) => replicas === acks).length,
    };
  }

  #judge(found: Trouble | null, refused: readonly string[]): void {
    const isSame = found === this.#found;
    this.#found = found;
    if (found === this.#trouble || (found !== null && !isSame)) return;
    this.#trouble = found;
    const { log } = this.#options;
    if (found === null) log.info({}, "the cluster can be used again: ready");
    else if (found === "cut off") log.error({}, "most of the cluster is out of this node's reach: not ready");
    else log.error({ faults: refused }, "the cluster is no longer as it has to be: not ready");
  }

  #sayShards(masters: readonly NodeFacts[]): void {
    const { acks, log } = this.#options;
    const short = masters.filter(({ replicas }) => acks > 0 && replicas <= acks).map(({ address }) => address);
    const said = short.length === 0 ? "" : listed(short);
    if (said === this.#saidOfShards) return;
    this.#saidOfShards = said;
    const demanded = acks + 1;
    if (said === "") log.info({ demanded }, "every shard has its replicas again");
    else log.warn({ masters: short, demanded }, "shards are short of replicas");
  }
}

/** How many of these take no connection. A machine that refuses one is within reach, and so is a process that is frozen. */
async function outOfReach(addresses: readonly NodeAddress[]): Promise<number> {
  const reached = await Promise.all(addresses.map(isInReach));
  return reached.filter((each) => !each).length;
}

function isInReach(address: NodeAddress): Promise<boolean> {
  const socket = connect({ ...splitAddress(address), timeout: limits.clusterReachMs });
  return new Promise<boolean>((resolve) => {
    socket
      .once("connect", () => resolve(true))
      .once("timeout", () => resolve(false))
      .once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "ECONNREFUSED" || code === "ECONNRESET"));
  }).finally(() => socket.destroy());
}
