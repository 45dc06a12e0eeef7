/**
 * What a batch costs by each client of a cluster, in turns in one process: a group is read (GET of 1.3 KB), written by a script that compares
 * versions, and acknowledged (`WAIT 1` once a master). Decision 029 quotes it. The libraries are no dependencies; those that are missing are
 * left out:
 *
 *   npm install --no-save iovalkey redis @valkey/valkey-glide && node dist/bench/cluster/clients.js [rounds]
 */
import { ClusterClient, scriptCommand } from "../../src/cluster/cluster-client.js";
import type { RespReply } from "../../src/cluster/resp-parser.js";
import { defineScript } from "../../src/cluster/script.js";
import { keySlot } from "../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../src/cluster/store-url.js";
import { startRedis } from "../../test/support/redis-cluster.js";

const rounds = Number(process.argv[2] ?? 9);
const groupSizes = [128, 32];
const batchesOfRound = 5120;
const sessions = 30_000;
const shards = 256;
const recordBytes = 1300;

const save = defineScript({
  name: "bench",
  version: 1,
  source: `
local old = redis.call("GET", KEYS[1])
if old and string.sub(old, 1, 8) ~= ARGV[1] then return 0 end
redis.call("SET", KEYS[1], ARGV[2])
return 1`,
});

const slotOfShard = Array.from({ length: shards }, (_, shard) => keySlot(`{${shard}}`));
const shardOf = (session: number): number => session % shards;
const keyOf = (session: number): string => `{${shardOf(session)}}:${session}`;
const noVersion = Buffer.alloc(8);
const template = Buffer.alloc(recordBytes, "r");
let writes = 0;

function nextRecord(): Buffer {
  const record = Buffer.from(template);
  record.writeDoubleLE(++writes, 0);
  return record;
}

function versionOf(record: unknown): Buffer {
  return Buffer.isBuffer(record) ? record.subarray(0, 8) : noVersion;
}

/** Fails unless every session was written and a replica has it. */
function check(written: readonly unknown[], acknowledged: readonly unknown[]): void {
  if (written.every((each) => each === 1) && acknowledged.every((each) => Number(each) >= 1)) return;
  throw new Error(`not written: ${written.find((each) => each !== 1)}, or not acknowledged: ${acknowledged}`);
}

interface Client {
  group(sessions: readonly number[]): Promise<void>;
  close(): void;
}

/** The masters by port, with what is open to each, and the one of every shard. */
async function byMaster<T>(slotRows: RespReply, open: (port: number) => Promise<T>): Promise<(session: number) => T> {
  const rows = slotRows as [number, number, [unknown, number]][];
  const opened = new Map<number, T>();
  for (const [, , [, port]] of rows) if (!opened.has(port)) opened.set(port, await open(port));
  const ofShard = slotOfShard.map((slot) => opened.get(rows.find(([from, to]) => slot >= from && slot <= to)![2][1])!);
  return (session) => ofShard[shardOf(session)]!;
}

/** The group by master, each part worked on at once. */
async function split<T>(
  group: readonly number[],
  masterOf: (session: number) => T,
  work: (master: T, part: number[]) => Promise<void>,
): Promise<void> {
  const parts = new Map<T, number[]>();
  for (const session of group) {
    const master = masterOf(session);
    const part = parts.get(master);
    if (part === undefined) parts.set(master, [session]);
    else part.push(session);
  }
  await Promise.all([...parts].map(([master, part]) => work(master, part)));
}

async function own(url: StoreUrl): Promise<Client> {
  const client = new ClusterClient({ url });
  await client.ready();
  const slotOf = (session: number): number => slotOfShard[shardOf(session)]!;
  return {
    async group(group) {
      const deadlineMs = 10_000;
      const reads = group.map((session) => ({ command: ["GET", keyOf(session)], slot: slotOf(session) }));
      const read = await client.pipeline(reads, { deadlineMs, isIdempotent: true });
      const saves = group.map((session, index) =>
        scriptCommand(save, [keyOf(session)], [versionOf(read[index]), nextRecord()], slotOf(session)),
      );
      const { outcomes, replicas } = await client.writeGroup(saves, { deadlineMs, acks: 1, ackMs: 1000 });
      check(outcomes, replicas);
    },
    close: () => client.close(),
  };
}

/** What ioredis and iovalkey have in common. */
interface IoPipeline {
  getBuffer(key: string): void;
  evalsha(...words: (string | number | Buffer)[]): void;
  call(...words: (string | number)[]): void;
  exec(): Promise<[Error | null, unknown][]>;
}
interface IoRedis {
  script(verb: "LOAD", source: string): Promise<unknown>;
  pipeline(): IoPipeline;
  disconnect(): void;
}

async function ioLibrary(name: string, slotRows: RespReply): Promise<Client> {
  const { Redis } = (await import(name)) as { Redis: new (port: number, host: string) => IoRedis };
  const all: IoRedis[] = [];
  const masterOf = await byMaster(slotRows, async (port) => {
    const redis = new Redis(port, "127.0.0.1");
    all.push(redis);
    await redis.script("LOAD", save.source);
    return redis;
  });
  return {
    group: (group) =>
      split(group, masterOf, async (redis, part) => {
        const reads = redis.pipeline();
        for (const session of part) reads.getBuffer(keyOf(session));
        const read = (await reads.exec()).map(([, reply]) => reply);
        const saves = redis.pipeline();
        for (const [index, session] of part.entries()) {
          saves.evalsha(save.sha, 1, keyOf(session), versionOf(read[index]), nextRecord());
        }
        saves.call("WAIT", 1, 1000);
        const replies = (await saves.exec()).map(([, reply]) => reply);
        check(replies.slice(0, -1), replies.slice(-1));
      }),
    close: () => {
      for (const redis of all) redis.disconnect();
    },
  };
}

interface NodeRedis {
  connect(): Promise<unknown>;
  scriptLoad(source: string): Promise<unknown>;
  withTypeMapping(mapping: object): NodeRedis;
  sendCommand(words: (string | Buffer)[]): Promise<unknown>;
  destroy(): void;
}

async function nodeRedis(slotRows: RespReply): Promise<Client> {
  const name = "redis";
  const library = (await import(name)) as {
    createClient(options: object): NodeRedis;
    RESP_TYPES: { BLOB_STRING: number };
  };
  const all: NodeRedis[] = [];
  const masterOf = await byMaster(slotRows, async (port) => {
    const client = library.createClient({ url: `redis://127.0.0.1:${port}`, RESP: 2 });
    all.push(client);
    await client.connect();
    await client.scriptLoad(save.source);
    return client.withTypeMapping({ [library.RESP_TYPES.BLOB_STRING]: Buffer });
  });
  return {
    group: (group) =>
      split(group, masterOf, async (client, part) => {
        const read = await Promise.all(part.map((session) => client.sendCommand(["GET", keyOf(session)])));
        const saves = part.map((session, index) =>
          client.sendCommand(["EVALSHA", save.sha, "1", keyOf(session), versionOf(read[index]), nextRecord()]),
        );
        const replies = await Promise.all([...saves, client.sendCommand(["WAIT", "1", "1000"])]);
        check(replies.slice(0, -1), replies.slice(-1));
      }),
    close: () => {
      for (const client of all) client.destroy();
    },
  };
}

interface GlideBatch {
  get(key: string): void;
  customCommand(words: (string | Buffer)[]): void;
}
interface GlideClient {
  customCommand(words: string[], options: object): Promise<unknown>;
  exec(batch: GlideBatch, raisesErrors: boolean, options?: object): Promise<unknown[]>;
  close(): void;
}

async function glide(ports: readonly number[]): Promise<Client> {
  const name = "@valkey/valkey-glide";
  const library = (await import(name)) as {
    GlideClusterClient: { createClient(options: object): Promise<GlideClient> };
    ClusterBatch: new (isAtomic: boolean) => GlideBatch;
    Decoder: { Bytes: number };
  };
  const decoder = library.Decoder.Bytes;
  const addresses = ports.map((port) => ({ host: "127.0.0.1", port }));
  const client = await library.GlideClusterClient.createClient({ addresses, requestTimeout: 10_000 });
  const everyMaster = { route: "allPrimaries" };
  await client.customCommand(["SCRIPT", "LOAD", save.source], everyMaster);
  return {
    async group(group) {
      const reads = new library.ClusterBatch(false);
      for (const session of group) reads.get(keyOf(session));
      const read = await client.exec(reads, true, { decoder });
      const saves = new library.ClusterBatch(false);
      for (const [index, session] of group.entries()) {
        saves.customCommand(["EVALSHA", save.sha, "1", keyOf(session), versionOf(read[index]), nextRecord()]);
      }
      const written = await client.exec(saves, true);
      // Its one connection to each master carries both.
      await client.customCommand(["WAIT", "1", "1000"], everyMaster);
      check(written, []);
    },
    close: () => client.close(),
  };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

const teardowns: (() => unknown)[] = [];
const cluster = await startRedis({ teardown: (work: () => unknown) => teardowns.unshift(work) }, { replicas: 1 });
const slotRows = await cluster.nodes[0]!.ask("CLUSTER", "SLOTS");
const makers: Readonly<Record<string, () => Promise<Client>>> = {
  own: () => own(parseStoreUrl(cluster.url) as StoreUrl),
  ioredis: () => ioLibrary("ioredis", slotRows),
  iovalkey: () => ioLibrary("iovalkey", slotRows),
  "node-redis": () => nodeRedis(slotRows),
  "valkey-glide": () => glide(cluster.nodes.map(({ port }) => port)),
};
const clients = new Map<string, Client>();
for (const [name, make] of Object.entries(makers)) {
  const client = await make().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    console.log(`${name}: not installed`);
  });
  if (client !== undefined) clients.set(name, client);
}

for (const size of groupSizes) {
  const us = new Map([...clients.keys()].map((name): [string, number[]] => [name, []]));
  // The first two are to warm up.
  for (let round = -2; round < rounds; round++) {
    for (const [name, client] of clients) {
      const groups = Array.from({ length: batchesOfRound / size }, () => {
        const chosen = new Set<number>();
        while (chosen.size < size) chosen.add(Math.floor(Math.random() * sessions));
        return [...chosen];
      });
      const before = process.cpuUsage();
      for (const group of groups) await client.group(group);
      const { user, system } = process.cpuUsage(before);
      if (round >= 0) us.get(name)!.push((user + system) / batchesOfRound);
    }
  }
  const base = median(us.get("own")!);
  console.log(`groups of ${size}:`);
  for (const [name, all] of us) {
    const own = median(all);
    console.log(
      `  ${name.padEnd(14)}${own.toFixed(1).padStart(6)} us of processor time a batch, ${(own / base).toFixed(2)}`,
    );
  }
}
for (const client of clients.values()) client.close();
for (const teardown of teardowns) await teardown();
process.exit(0);
