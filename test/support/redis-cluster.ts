/**
 * A real cluster of `redis-server` processes on loopback, for tests to kill, freeze, restart and reshard. It ends with the test. Its own
 * commands go over plain sockets, so that it does not depend on the client that is tested.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Test } from "tap";
import type { RespReply } from "../../src/cluster/resp-parser.js";
import { freePort } from "./free-port.js";
import { type Asker, openAsker, RedisFault } from "./redis-asker.js";
import { waitUntil } from "./wait-until.js";

const slots = 16_384;
/** How often nodes tell each other what they know hangs on this setting: clusters are formed under the usual one. */
const nodeTimeout = "cluster-node-timeout";

interface RedisOptions {
  /** Default 3. */
  readonly masters?: number;
  /** Of each master; default 1. */
  readonly replicas?: number;
  /** Further settings of every node, as in `redis.conf`: `["maxmemory", "20mb"]`. */
  readonly settings?: readonly (readonly string[])[];
  readonly password?: string;
  /** Paths of a certificate for 127.0.0.1 that is its own authority, and of its key: all nodes speak TLS only. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** A server of its own, without cluster mode. */
  readonly isSingle?: boolean;
  /** Default: the one that `ENGINE_BINARY` names, else `redis-server`. */
  readonly program?: string;
  /** Where the node of this index is; default: on 127.0.0.1, in this network. */
  readonly placeOf?: (index: number) => NodePlace;
}

/** Where a node runs. */
export interface NodePlace {
  /** Its address for the others and for clients. */
  readonly host: string;
  /** An address of it that reaches it from this process, whatever becomes of the other one. */
  readonly askedAt: string;
  /** The command that it is run by: `ip netns exec …`. */
  readonly under: readonly string[];
}

const onLoopback: NodePlace = { host: "127.0.0.1", askedAt: "127.0.0.1", under: [] };

export interface RedisNode {
  readonly port: number;
  /** As the client has it: `host:port`. */
  readonly address: string;
  readonly pid: number;
  /** One command; throws on an error of the server. */
  ask(...command: (string | Uint8Array)[]): Promise<RespReply>;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** SIGSTOP, and SIGCONT. */
  freeze(): void;
  thaw(): void;
  /** Starts it again on its data. */
  restart(): Promise<void>;
}

export interface RedisCluster {
  readonly nodes: readonly RedisNode[];
  /** `redis://` or `rediss://` with all nodes, and the password if there is one. */
  readonly url: string;
  /** The node that is master of a slot as another running one sees it, and the replicas of a master. */
  masterOf(slot: number): Promise<RedisNode>;
  /** All that are masters by their own account. */
  masters(): Promise<RedisNode[]>;
  replicasOf(master: RedisNode): Promise<RedisNode[]>;
  /** Once every running node finds the cluster ok, with all slots covered. */
  waitOk(): Promise<void>;
  /** A slot on its way, keys still with `from`; `keys` moves some of them, `finish` the others and the slot. */
  beginMove(slot: number, to: RedisNode): Promise<SlotMove>;
  /** Moves slots with their keys. */
  move(slots: readonly number[], to: RedisNode): Promise<void>;
  /** Starts what was killed, and gives every node the role back that it began with; once all replicas are in step. */
  restore(): Promise<void>;
  /** Another master with its replicas, without slots. */
  addMaster(): Promise<RedisNode>;
  /** Leaves the logs and files of all nodes where they are when the test ends; their folder. */
  keepFiles(): string;
  stop(): Promise<void>;
}

export interface SlotMove {
  readonly from: RedisNode;
  keys(...keys: (string | Uint8Array)[]): Promise<void>;
  finish(): Promise<void>;
}

/** Ports that were given out. */
const ports = new Set<number>();

async function ownPort(): Promise<number> {
  const port = await freePort();
  if (ports.has(port)) return ownPort();
  ports.add(port);
  return port;
}

/** A server, or a cluster of them, that answers. */
export async function startRedis(t: Pick<Test, "teardown">, options: RedisOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicas = 1, isSingle = false } = options;
  // Not the test's own folder, which is emptied whenever the test asks for it.
  const folder = mkdtempSync(join(tmpdir(), "verdictd-redis-"));
  const nodes: StartedNode[] = [];
  let areFilesKept = false;
  const keepFiles = (): string => {
    areFilesKept = true;
    return folder;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.kill()));
  };
  t.teardown(async () => {
    await stop();
    if (!areFilesKept) rmSync(folder, { recursive: true });
  });
  // When the test ends by a fault of its own too.
  const killAll = (): void => {
    for (const node of nodes) node.signal("SIGKILL");
  };
  process.on("exit", killAll);
  t.teardown(() => process.off("exit", killAll));
  const add = async (): Promise<StartedNode> => {
    const own = [await ownPort(), await ownPort()] as const;
    const place = options.placeOf?.(nodes.length) ?? onLoopback;
    const node = new StartedNode(join(folder, String(nodes.length)), ...own, place, options);
    nodes.push(node);
    await node.restart();
    return node;
  };
  const cluster = new StartedCluster(nodes, options, add, keepFiles, stop);
  await Promise.all(Array.from({ length: isSingle ? 1 : masters * (replicas + 1) }, add));
  if (!isSingle) await cluster.form(masters, replicas);
  return cluster;
}

class StartedNode implements RedisNode {
  readonly address: string;
  id = "";
  /** Whether it belongs to the cluster for good. */
  isMember = false;
  #child: ChildProcess | undefined;
  #connection: Promise<Asker> | undefined;

  constructor(
    private readonly folder: string,
    readonly port: number,
    readonly busPort: number,
    readonly place: NodePlace,
    private readonly options: RedisOptions,
  ) {
    this.address = `${place.host}:${port}`;
    mkdirSync(folder, { recursive: true });
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  async ask(...command: (string | Uint8Array)[]): Promise<RespReply> {
    this.#connection ??= openAsker(this.place.askedAt, this.port, this.options);
    try {
      return await (await this.#connection)(command);
    } catch (error) {
      if (!(error instanceof RedisFault)) this.#connection = undefined;
      throw error;
    }
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    this.#connection = undefined;
    const over = once(child, "exit");
    child.kill("SIGKILL");
    await over;
  }

  freeze(): void {
    this.signal("SIGSTOP");
  }

  thaw(): void {
    this.signal("SIGCONT");
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async restart(): Promise<void> {
    const program = this.options.program ?? process.env["ENGINE_BINARY"] ?? "redis-server";
    const [command = "", ...words] = [...this.place.under, program, ...this.#settings().flat()];
    const child = spawn(command, words, { stdio: "ignore" });
    this.#child = child;
    let fault: string | undefined;
    child.on("error", (error) => {
      fault = error.message;
    });
    child.on("exit", (code) => {
      if (this.#child === child) fault = `exit ${code}: ${this.#log()}`;
    });
    const answer = await waitUntil(
      () => this.ask("PING").catch((error: Error) => error),
      (seen) => seen === "PONG" || fault !== undefined,
    );
    if (answer !== "PONG") throw new Error(`redis-server does not start: ${fault ?? answer} ${this.#log()}`);
    if (this.options.isSingle !== true) this.id = String(await this.ask("CLUSTER", "MYID"));
  }

  #settings(): string[][] {
    const { tls, password, isSingle, settings = [] } = this.options;
    const port = String(this.port);
    return [
      ["--bind", ...new Set([this.place.host, this.place.askedAt])],
      ["--protected-mode", "no"],
      ...(tls === undefined
        ? [["--port", port]]
        : [
            ["--port", "0"],
            ["--tls-port", port],
          ]),
      ...(tls === undefined
        ? []
        : [
            ["--tls-cert-file", tls.certificate],
            ["--tls-key-file", tls.key],
            ["--tls-ca-cert-file", tls.certificate],
            ["--tls-auth-clients", "no"],
            ["--tls-cluster", "yes"],
            ["--tls-replication", "yes"],
          ]),
      ...(isSingle === true
        ? []
        : [
            ["--cluster-enabled", "yes"],
            ["--cluster-port", String(this.busPort)],
            [`--${nodeTimeout}`, "2000"],
            ["--cluster-config-file", "nodes.conf"],
          ]),
      ...(password === undefined
        ? []
        : [
            ["--requirepass", password],
            ["--masterauth", password],
          ]),
      ["--dir", this.folder],
      ["--logfile", join(this.folder, "log")],
      ["--save", ""],
      ["--appendonly", "yes"],
      ["--appendfsync", "everysec"],
      ["--maxmemory-policy", "noeviction"],
      ["--repl-diskless-sync-delay", "0"],
      ...(isSingle === true ? [] : [["--cluster-allow-replica-migration", "no"]]),
      ...settings
        .filter(([name]) => this.isMember || name !== nodeTimeout)
        .map(([name, ...values]) => [`--${name}`, ...values]),
    ];
  }

  #log(): string {
    try {
      return readFileSync(join(this.folder, "log"), "utf8").slice(-1000);
    } catch {
      return "(no log)";
    }
  }
}

class StartedCluster implements RedisCluster {
  constructor(
    readonly nodes: readonly StartedNode[],
    private readonly options: RedisOptions,
    private readonly add: () => Promise<StartedNode>,
    readonly keepFiles: () => string,
    readonly stop: () => Promise<void>,
  ) {}

  get url(): string {
    const { tls, password } = this.options;
    const credentials = password === undefined ? "" : `:${encodeURIComponent(password)}@`;
    return `${tls === undefined ? "redis" : "rediss"}://${credentials}${this.nodes.map(({ address }) => address).join(",")}`;
  }

  /** Makes one cluster of the nodes: the first ones become masters. */
  async form(masters: number, replicas: number): Promise<void> {
    const { nodes } = this;
    await Promise.all(nodes.map((node, index) => node.ask("CLUSTER", "SET-CONFIG-EPOCH", String(index + 1))));
    await this.#meet(nodes);
    const heads = nodes.slice(0, masters);
    await Promise.all(
      heads.map((node, index) => {
        const from = Math.floor((index * slots) / masters);
        const to = Math.floor(((index + 1) * slots) / masters) - 1;
        return node.ask("CLUSTER", "ADDSLOTSRANGE", String(from), String(to));
      }),
    );
    await Promise.all(
      nodes.slice(masters).map((node, index) => node.ask("CLUSTER", "REPLICATE", heads[index % masters]!.id)),
    );
    await this.waitOk();
    for (const head of heads) await this.#waitReplicas(head, replicas);
    await this.#keep(nodes);
  }

  /** Gives nodes that have become members their own setting. */
  async #keep(nodes: readonly StartedNode[]): Promise<void> {
    const [, value] = this.options.settings?.find(([name]) => name === nodeTimeout) ?? [];
    for (const node of nodes) {
      node.isMember = true;
      if (value !== undefined) await node.ask("CONFIG", "SET", nodeTimeout, value);
    }
  }

  async masterOf(slot: number): Promise<RedisNode> {
    const find = async (): Promise<StartedNode | undefined> => {
      const rows = (await this.#running()[0]!.ask("CLUSTER", "SLOTS")) as [number, number, [string, number]][];
      const port = rows.find(([from, to]) => slot >= from && slot <= to)?.[2][1];
      return this.nodes.find((node) => node.port === port);
    };
    return (await waitUntil(find, (node) => node !== undefined))!;
  }

  async masters(): Promise<RedisNode[]> {
    const running = this.#running();
    const roles = await Promise.all(running.map(async (node) => String(await node.ask("INFO", "replication"))));
    return running.filter((_, index) => roles[index]!.includes("role:master"));
  }

  async replicasOf(master: RedisNode): Promise<RedisNode[]> {
    const rows = ((await master.ask("CLUSTER", "REPLICAS", this.#idOf(master))) as Buffer[]).map(String);
    return this.nodes.filter(({ id }) => rows.some((row) => row.startsWith(id)));
  }

  async waitOk(): Promise<void> {
    await Promise.all(
      this.#running().map((node) =>
        waitUntil(
          () => node.ask("CLUSTER", "INFO").then(String, String),
          (info) => info.includes("cluster_state:ok") && info.includes(`cluster_slots_ok:${slots}`),
        ),
      ),
    );
  }

  async beginMove(slot: number, to: RedisNode): Promise<SlotMove> {
    const from = await this.masterOf(slot);
    const number = String(slot);
    await to.ask("CLUSTER", "SETSLOT", number, "IMPORTING", this.#idOf(from));
    await from.ask("CLUSTER", "SETSLOT", number, "MIGRATING", this.#idOf(to));
    const { password } = this.options;
    const auth = password === undefined ? [] : ["AUTH", password];
    const keys = async (...keys: (string | Uint8Array)[]): Promise<void> => {
      await from.ask(
        "MIGRATE",
        (to as StartedNode).place.host,
        String(to.port),
        "",
        "0",
        "5000",
        "REPLACE",
        ...auth,
        "KEYS",
        ...keys,
      );
    };
    const finish = async (): Promise<void> => {
      for (;;) {
        const left = (await from.ask("CLUSTER", "GETKEYSINSLOT", number, "100")) as Buffer[];
        if (left.length === 0) break;
        await keys(...left);
      }
      const owner = this.#idOf(to);
      // The new owner first: a fault in between leaves the slot with somebody.
      await to.ask("CLUSTER", "SETSLOT", number, "NODE", owner);
      await from.ask("CLUSTER", "SETSLOT", number, "NODE", owner);
      // The others hear of it by gossip; masters may be told.
      const others = this.#running().filter((node) => node !== from && node !== to);
      await Promise.allSettled(others.map((node) => node.ask("CLUSTER", "SETSLOT", number, "NODE", owner)));
      await waitUntil(
        () => this.masterOf(slot),
        (master) => master === to,
      );
    };
    return { from, keys, finish };
  }

  async move(slots: readonly number[], to: RedisNode): Promise<void> {
    for (const slot of slots) {
      if ((await this.masterOf(slot)) !== to) await (await this.beginMove(slot, to)).finish();
    }
  }

  async addMaster(): Promise<RedisNode> {
    const running = this.#running();
    const added = await Promise.all(Array.from({ length: 1 + (this.options.replicas ?? 1) }, this.add));
    const [node, ...followers] = added as [StartedNode, ...StartedNode[]];
    await this.#meet([...added, ...running]);
    for (const follower of followers) await follower.ask("CLUSTER", "REPLICATE", node.id);
    await this.#waitReplicas(node, followers.length);
    await this.waitOk();
    await this.#keep(added as StartedNode[]);
    return node;
  }

  async restore(): Promise<void> {
    const { masters = 3, replicas = 1 } = this.options;
    for (const node of this.nodes) if (!node.isRunning) await node.restart();
    await this.waitOk();
    const heads = this.nodes.slice(0, masters);
    for (const [index, head] of heads.entries()) {
      await this.#lead(head);
      const followers = this.nodes.slice(masters).filter((_, position) => position % masters === index);
      for (const follower of followers) {
        await waitUntil(
          () => follower.ask("CLUSTER", "REPLICATE", head.id).then(String, String),
          (answer) => answer === "OK",
        );
      }
    }
    for (const head of heads) await this.#waitReplicas(head, replicas);
    await this.waitOk();
  }

  /** Makes the replica the master of its slots again. */
  async #lead(node: StartedNode): Promise<void> {
    const role = async (): Promise<string> => String(((await node.ask("ROLE")) as RespReply[])[0]);
    if ((await role()) === "master") return;
    for (let tries = 0; (await role()) !== "master"; tries++) {
      if (tries === 30) throw new Error(`${node.address} does not become a master again`);
      // Refused while it is not in step with its master yet.
      await node.ask("CLUSTER", "FAILOVER").catch(() => {});
      const endMs = performance.now() + 2000;
      while ((await role()) !== "master" && performance.now() < endMs) await delay(50);
    }
  }

  /** Until so many replicas acknowledge what the master writes. One that still loads its first copy is "online", too, but has acknowledged nothing. */
  async #waitReplicas(master: StartedNode, count: number): Promise<void> {
    await waitUntil(
      async () => String(await master.ask("INFO", "replication")),
      (info) => (info.match(/state=online,offset=[1-9]\d*,lag=[01]\b/g) ?? []).length === count,
    );
  }

  /** Introduces everyone to everyone, which is faster than letting them gossip. */
  async #meet(nodes: readonly StartedNode[]): Promise<void> {
    for (const [index, node] of nodes.entries()) {
      for (const other of nodes.slice(index + 1)) {
        await node.ask("CLUSTER", "MEET", other.place.host, String(other.port), String(other.busPort));
      }
    }
    await Promise.all(
      nodes.map((node) =>
        waitUntil(
          async () => String(await node.ask("CLUSTER", "NODES")),
          (rows) =>
            nodes.every(({ id }) => new RegExp(`^${id} .* connected`, "m").test(rows)) && !rows.includes("handshake"),
        ),
      ),
    );
  }

  #running(): StartedNode[] {
    return this.nodes.filter(({ isRunning }) => isRunning);
  }

  #idOf(node: RedisNode): string {
    return (node as StartedNode).id;
  }
}
