/** Which of the 16384 slots of a cluster a key is in, and which nodes have a slot (redis.io/docs/reference/cluster-spec). */
import { ErrorReply, type RespReply } from "./resp-parser.js";

/** How many slots a cluster has, by its specification. */
export const slotsOfCluster = 16_384;

/** CRC16-XMODEM by byte. */
const crcOfByte = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** Returns the slot of a key: CRC16 of the key, or of the text between its first `{` and the next `}` if that is not empty. Text counts as UTF-8. */
export function keySlot(key: string | Uint8Array): number {
  const bytes = typeof key === "string" ? Buffer.from(key) : key;
  let from = 0;
  let to = bytes.length;
  const open = bytes.indexOf(123);
  if (open !== -1) {
    const close = bytes.indexOf(125, open + 1);
    if (close > open + 1) {
      from = open + 1;
      to = close;
    }
  }
  let crc = 0;
  for (let at = from; at < to; at++) crc = ((crc << 8) & 0xffff) ^ crcOfByte[(crc >> 8) ^ bytes[at]!]!;
  return crc % slotsOfCluster;
}

/** Where a node listens, as `host:port`; IPv6 hosts without brackets. */
export type NodeAddress = string;

/** Splits an address into host and port. */
export function splitAddress(address: NodeAddress): { host: string; port: number } {
  const colon = address.lastIndexOf(":");
  return { host: address.slice(0, colon), port: Number(address.slice(colon + 1)) };
}

/** A master with its replicas. */
export interface Shard {
  readonly master: NodeAddress;
  readonly replicas: readonly NodeAddress[];
}

/** The owner of each slot. Immutable except for `move`. */
export class SlotMap {
  readonly #shardOfSlot: (Shard | undefined)[];
  readonly #shards: Map<NodeAddress, Shard>;

  constructor(ranges: readonly { readonly from: number; readonly to: number; readonly shard: Shard }[] = []) {
    this.#shardOfSlot = new Array(slotsOfCluster).fill(undefined);
    this.#shards = new Map();
    for (const { from, to, shard } of ranges) {
      const known = this.#shards.get(shard.master) ?? shard;
      this.#shards.set(known.master, known);
      for (let slot = from; slot <= to; slot++) this.#shardOfSlot[slot] = known;
    }
  }

  shard(slot: number): Shard | undefined {
    return this.#shardOfSlot[slot];
  }

  /** Each shard once. */
  get shards(): Shard[] {
    return [...this.#shards.values()];
  }

  /** Slots without a node. */
  get uncovered(): number {
    return this.#shardOfSlot.reduce((count, shard) => (shard === undefined ? count + 1 : count), 0);
  }

  /** Notes a MOVED answer, until the whole map is read again. */
  move(slot: number, master: NodeAddress): void {
    const shard = this.#shards.get(master) ?? { master, replicas: [] };
    this.#shards.set(master, shard);
    this.#shardOfSlot[slot] = shard;
  }
}

/**
 * Returns the map in an answer to `CLUSTER SLOTS`; `undefined` if the answer is none. `asked` is the node that answered: a node that doesn't know its
 * own name is listed under the address that was asked.
 */
export function parseClusterSlots(reply: RespReply, asked: NodeAddress): SlotMap | undefined {
  if (!Array.isArray(reply)) return undefined;
  const ranges = [];
  for (const row of reply) {
    if (!Array.isArray(row)) return undefined;
    const [from, to, ...nodes] = row;
    if (!isSlot(from) || !isSlot(to) || from > to) return undefined;
    const addresses = nodes.map((node) => addressOf(node, asked));
    const [master, ...replicas] = addresses;
    if (master === undefined) continue;
    ranges.push({ from, to, shard: { master, replicas: replicas.filter((each) => each !== undefined) } });
  }
  return new SlotMap(ranges);
}

/** Returns the address of each node in an answer to `CLUSTER SLOTS`, by its id: where the cluster wants clients to reach it. */
export function parseEndpoints(reply: RespReply, asked: NodeAddress): Map<string, NodeAddress> {
  const endpoints = new Map<string, NodeAddress>();
  if (!Array.isArray(reply)) return endpoints;
  for (const row of reply) {
    for (const node of Array.isArray(row) ? row.slice(2) : []) {
      const address = addressOf(node, asked);
      if (address !== undefined && Array.isArray(node)) endpoints.set(String(node[2]), address);
    }
  }
  return endpoints;
}

function isSlot(value: RespReply | undefined): value is number {
  return typeof value === "number" && value >= 0 && value < slotsOfCluster;
}

/** Whether a socket can be connected to this port; nodes that speak TLS only may announce port 0. */
function isPort(value: RespReply | undefined): value is number {
  return typeof value === "number" && value >= 1 && value <= 65_535;
}

function addressOf(node: RespReply, asked: NodeAddress): NodeAddress | undefined {
  if (!Array.isArray(node)) return undefined;
  const [host, port] = node;
  if (!isPort(port) || host instanceof ErrorReply) return undefined;
  const name = host === null || host === undefined ? "" : String(host);
  if (name === "?") return undefined;
  return `${name === "" ? splitAddress(asked).host : name}:${port}`;
}

/** Returns the slot and the node of "MOVED 3999 127.0.0.1:6381" or "ASK …"; `undefined` for any other error. */
export function parseRedirect(message: string, asked: NodeAddress): { slot: number; address: NodeAddress } | undefined {
  const [, slot, address] = message.split(" ");
  if (!/^\d{1,5}$/.test(slot ?? "") || !/:\d{1,5}$/.test(address ?? "")) return undefined;
  const { host, port } = splitAddress(address!);
  if (!isSlot(Number(slot)) || !isPort(port)) return undefined;
  return { slot: Number(slot), address: `${host === "" ? splitAddress(asked).host : host}:${port}` };
}
