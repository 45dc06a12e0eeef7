/**
 * Looks at a cluster before it is used: what is wrong with it as a store, one line each. The rules are the table at the end; everything above
 * only gathers what they judge. Needs no more than the commands that the store uses.
 */
import { limits } from "../limits.js";
import { tlsOf } from "./cluster-client.js";
import { ClusterError } from "./cluster-error.js";
import { newClusterMeters } from "./cluster-meters.js";
import { ClusterNode } from "./cluster-node.js";
import type { ClusterTls } from "./connection.js";
import type { RespCommand } from "./resp-encoder.js";
import type { RespReply } from "./resp-parser.js";
import { type NodeAddress, slotsOfCluster } from "./slots.js";
import type { StoreUrl } from "./store-url.js";
import { askNode } from "./topology.js";

/** What is demanded of the cluster. */
export interface ClusterDemands {
  /** Replicas that acknowledge a write; 0: losses are accepted. */
  readonly acks: number;
  /** The service keeps data otherwise than by an append-only file. */
  readonly isDurableOtherwise?: boolean;
  /** Commands with arguments that the user must be allowed, keys as the store has them. */
  readonly commands?: readonly RespCommand[];
  /** Pattern of the keys that it must have access to, with one `*` at the end. */
  readonly keys?: string;
}

/** What was found; the cluster can be used while `faults` is empty. */
export interface Inspection {
  /** Why the cluster can't be used, a sentence each. */
  readonly faults: readonly string[];
  /** What is likely to hurt one day. */
  readonly warnings: readonly string[];
  readonly nodes: readonly NodeFacts[];
  /** The URL names nodes of two clusters: `nodes` are those of the first one. */
  readonly isMixed: boolean;
  /** All that is wrong is that it does not answer, or is down: it may be worth waiting for. */
  readonly isAway: boolean;
  /** All that is wrong is that, or that masters have too few replicas: of a cluster that was fit, it may be worth waiting for. */
  readonly lacksReplicas: boolean;
}

/** What one node says of itself, as far as the rules below judge it. */
export interface NodeFacts {
  readonly address: NodeAddress;
  readonly role: "master" | "replica";
  readonly kind: "redis" | "valkey";
  /** As in "7.0.15". */
  readonly version: string;
  readonly isCluster: boolean;
  /** Replicas that follow, of a master. */
  readonly replicas: number;
  readonly isAofOn: boolean;
  /** Bytes; 0 is no bound. */
  readonly maxmemory: number;
  readonly usedMemory: number;
  readonly maxmemoryPolicy: string;
  /** It refuses everything while any slot has no master; undefined: the user may not ask. */
  readonly needsEverySlot: boolean | undefined;
  /** How far its clock is ahead of this machine's. */
  readonly clockAheadMs: number;
}

/** The cluster as a seed sees it. */
interface SeedView {
  readonly seed: NodeAddress;
  readonly ids: ReadonlySet<string>;
  readonly nodes: readonly { readonly address: NodeAddress; readonly isMaster: boolean; readonly isFailing: boolean }[];
  readonly isOk: boolean;
  readonly slotsOk: number;
  readonly facts: NodeFacts;
}

const askMs = 2000;
const noAcknowledgements =
  "no replica acknowledges writes (--engine-acks 0): a failover may lose batches and changes that were answered";

/** How the cluster is reached, and who hears why it takes long. */
export interface InspectionOptions {
  readonly tls?: ClusterTls;
  readonly onWait?: ((why: string) => void) | undefined;
}

/** Asks every seed, then every node of the cluster. Never throws: what can't be reached is a fault or a warning too. */
export async function inspectCluster(
  url: StoreUrl,
  demands: ClusterDemands,
  { tls, onWait }: InspectionOptions = {},
): Promise<Inspection> {
  const nodes = new Map<NodeAddress, ClusterNode>();
  const ask = (address: NodeAddress, command: RespCommand): Promise<RespReply> => {
    let node = nodes.get(address);
    if (node === undefined) {
      const options = {
        tls: url.isTls ? (tls ?? tlsOf(url)) : undefined,
        user: url.user,
        password: url.password,
        connectMs: askMs,
        silenceMs: askMs,
        pendingCommandsMax: 1000,
        pendingBytesMax: limits.clusterPendingBytesMax,
      };
      node = new ClusterNode(address, options, newClusterMeters(), () => {});
      nodes.set(address, node);
    }
    return askNode(node, command, askMs).then(
      (reply) => {
        answered.add(address);
        return reply;
      },
      (error: unknown) => {
        // An error of the server is an answer.
        if (error instanceof ClusterError && error.reason === "refused") answered.add(address);
        throw error;
      },
    );
  };
  const answered = new Set<NodeAddress>();
  const saying = setTimeout(() => {
    const silent = [...nodes.keys()].filter((address) => !answered.has(address));
    onWait?.(
      silent.length === 0 ? "it answers slowly" : `${listed(silent)} ${silent.length === 1 ? "does" : "do"} not answer`,
    );
  }, limits.clusterSilentMs);
  try {
    return await inspect(url, demands, ask);
  } finally {
    clearTimeout(saying);
    for (const node of nodes.values()) node.close();
  }
}

type Ask = (address: NodeAddress, command: RespCommand) => Promise<RespReply>;

async function inspect(url: StoreUrl, demands: ClusterDemands, ask: Ask): Promise<Inspection> {
  const findings = new Findings();
  const views: SeedView[] = [];
  const unreachable: string[] = [];
  const forbidden: NodeAddress[] = [];
  for (const [index, seed] of (await Promise.allSettled(url.seeds.map((each) => viewOf(each, ask)))).entries()) {
    if (seed.status === "fulfilled") views.push(seed.value);
    else if (seed.reason instanceof ClusterError && seed.reason.reason === "refused") {
      blame(url.seeds[index]!, seed.reason, url, findings);
      if (seed.reason.serverCode === "NOPERM") forbidden.push(url.seeds[index]!);
    } else unreachable.push(lineOf(seed.reason, url));
  }
  for (const line of unreachable) {
    // Beside others that answer it may be a node that is down for a moment.
    if (views.length > 0) findings.warning(line);
    else findings.fault(line, undefined, passing.test(line) ? "away" : "lasting");
  }
  const clustered = views.filter(({ facts }) => facts.isCluster);
  for (const { facts } of views) if (!facts.isCluster) judgeNode(facts, demands, findings);
  const first = clustered[0];
  // What else the user may not do is named at once.
  const judgeEach = (nodes: readonly Pick<NodeFacts, "address" | "role">[]) =>
    Promise.all(nodes.map((node) => judgePermissions(node, url, demands, ask, findings)));
  if (first === undefined) await judgeEach(forbidden.map((address) => ({ address, role: "replica" })));
  if (first === undefined) return findings.of(views.map(({ facts }) => facts));
  for (const other of clustered.slice(1)) {
    if ([...other.ids].some((id) => first.ids.has(id))) continue;
    findings.fault(`${first.seed} and ${other.seed} are nodes of two clusters: name the nodes of one`);
    findings.isMixed = true;
  }
  if (!first.isOk || first.slotsOk < slotsOfCluster) {
    findings.fault(
      `the cluster is down: ${first.slotsOk} of ${slotsOfCluster} slots are served (CLUSTER INFO on ${first.seed})`,
      undefined,
      "away",
    );
  }
  if (demands.acks === 0) findings.warning(noAcknowledgements);
  const facts = await everyNode(first, url, ask, findings);
  for (const each of facts) judgeNode(each, demands, findings);
  judgeClocks(facts, findings);
  await judgeEach(facts);
  return findings.of(facts);
}

async function viewOf(seed: NodeAddress, ask: Ask): Promise<SeedView> {
  const facts = await factsOf(seed, ask);
  if (!facts.isCluster) return { seed, facts, ids: new Set(), nodes: [], isOk: false, slotsOk: 0 };
  const [rows, info] = await Promise.all([ask(seed, ["CLUSTER", "NODES"]), ask(seed, ["CLUSTER", "INFO"])]);
  const nodes = String(rows)
    .split("\n")
    .filter((row) => row !== "")
    .map((row) => nodeOfRow(row, seed));
  return {
    seed,
    facts,
    ids: new Set(nodes.map(({ id }) => id)),
    nodes,
    isOk: field(String(info), "cluster_state") === "ok",
    slotsOk: Number(field(String(info), "cluster_slots_ok")),
  };
}

/** A row of `CLUSTER NODES`: `id host:port@busport,hostname flags …`. */
function nodeOfRow(row: string, seed: NodeAddress) {
  const [id = "", place = "", flags = ""] = row.split(" ");
  const marks = flags.split(",");
  const address = marks.includes("myself") ? seed : place.replace(/@.*$/, "");
  const isFailing = marks.some((mark) => ["fail", "fail?", "handshake", "noaddr"].includes(mark));
  return { id, address, isMaster: marks.includes("master"), isFailing };
}

async function everyNode(view: SeedView, url: StoreUrl, ask: Ask, findings: Findings): Promise<NodeFacts[]> {
  const facts: NodeFacts[] = [];
  const asked = await Promise.allSettled(view.nodes.map(({ address }) => factsOf(address, ask)));
  for (const [index, each] of asked.entries()) {
    const { address, isFailing } = view.nodes[index]!;
    if (each.status === "fulfilled") facts.push(each.value);
    else if (isFailing) findings.warning(`${address} is down, as the other nodes see it too`);
    else if (isOfUser(each.reason)) blame(address, each.reason, url, findings);
    else findings.warning(lineOf(each.reason, url));
  }
  return facts;
}

async function factsOf(address: NodeAddress, ask: Ask): Promise<NodeFacts> {
  const info = String(await ask(address, ["INFO"]));
  const beforeMs = Date.now();
  const time = await ask(address, ["TIME"]);
  const hereMs = (beforeMs + Date.now()) / 2;
  // Few users may: it shows the passwords of the server, too. What is refused would be in the server's log of refusals at each start.
  const mayAsk = await ask(address, ["EVAL", permissionScript, 0, ...coverageQuestion]).catch(() => 0);
  const coverage = mayAsk === 1 ? await ask(address, coverageQuestion).catch(() => null) : null;
  const [seconds, micros] = Array.isArray(time) ? time.map(Number) : [];
  const valkey = field(info, "valkey_version");
  return {
    address,
    role: field(info, "role") === "slave" ? "replica" : "master",
    kind: valkey === "" ? "redis" : "valkey",
    version: valkey === "" ? field(info, "redis_version") : valkey,
    isCluster: field(info, "redis_mode") === "cluster" || field(info, "cluster_enabled") === "1",
    replicas: (info.match(/^slave\d+:.*state=online/gm) ?? []).length,
    isAofOn: field(info, "aof_enabled") === "1",
    maxmemory: Number(field(info, "maxmemory")),
    usedMemory: Number(field(info, "used_memory")),
    maxmemoryPolicy: field(info, "maxmemory_policy"),
    needsEverySlot: Array.isArray(coverage) && coverage.length > 1 ? String(coverage[1]) === "yes" : undefined,
    clockAheadMs: Math.round((seconds ?? 0) * 1000 + (micros ?? 0) / 1000 - hereMs),
  };
}

/** The value of a `name:value` line; "" when there is none. */
function field(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1] ?? "";
}

/** Lines of servers that are not there yet, or not any more. */
const passing = /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|did not answer|has not answered/;

/** Each node has users of its own. */
function isOfUser(error: unknown): boolean {
  return error instanceof ClusterError && ["NOAUTH", "WRONGPASS", "NOPERM"].includes(error.serverCode);
}

/** What a failed question says to operators. */
function lineOf(error: unknown, url: StoreUrl): string {
  if (!(error instanceof ClusterError)) throw error;
  const { serverCode, reason } = error;
  const message = error.message.replace(/\.$/, "");
  if (reason === "protocol") {
    const tls = url.isTls ? "" : "; if it wants TLS, write valkeys://";
    return `${message}: is it a Valkey or Redis server, and the port for clients?${tls}`;
  }
  if (serverCode === "NOAUTH") return `${message}. Name a user and a password in the URL, or a file with the password`;
  if (serverCode === "WRONGPASS") return `${message}. Is the password that of ${url.user ?? "the default user"}?`;
  if (serverCode === "NOPERM") return `${message}: see the permissions of the store's user in the documentation`;
  if (/altnames|IP: .* is not in the cert/.test(message))
    return `${message}: its certificate must have the names and addresses by which nodes reach it`;
  if (/certificate/.test(message)) return `${message}: name a file with its authorities, --engine-ca FILE`;
  if (/closed the connection|ECONNRESET/.test(message) && !url.isTls)
    return `${message}; if it wants TLS, write valkeys://`;
  if (/packet length|wrong version|did not answer/.test(message) && url.isTls)
    return `${message}; if it does not speak TLS, write valkey://`;
  return message;
}

/** Notes what a node refused; the same of several nodes is said once. */
function blame(node: NodeAddress, error: unknown, url: StoreUrl, findings: Findings): void {
  const line = lineOf(error, url);
  const start = `${node}: `;
  const kind = passing.test(line) ? "away" : "lasting";
  if (line.startsWith(start)) findings.fault(`{nodes}: ${line.slice(start.length)}`, node, kind);
  else findings.fault(line, undefined, kind);
}

/** Asks a server whether the user may do all this, without doing any of it: each has permissions of its own. */
async function judgePermissions(
  { address, role }: Pick<NodeFacts, "address" | "role">,
  url: StoreUrl,
  { commands = [], keys }: ClusterDemands,
  ask: Ask,
  findings: Findings,
): Promise<void> {
  let isForbidden = false;
  // A replica refuses WAIT to those who may run it, and all while it reads its file or has lost its master.
  const failed = (error: unknown): void => {
    if (role === "master" || isOfUser(error)) blame(address, error, url, findings);
  };
  for (const probe of probes) {
    await ask(address, probe).catch((error: unknown) => {
      isForbidden ||= probe[0] === "EVAL";
      failed(error);
    });
  }
  if (isForbidden) return;
  const user = url.user ?? "the default user";
  const mayAll = async (questions: readonly RespCommand[]): Promise<readonly boolean[]> => {
    const args = questions.flatMap((words) => [words.length, ...words]);
    const reply = await ask(address, ["EVAL", permissionsScript, 0, ...args]);
    return Array.isArray(reply) ? reply.map((each) => each === 1) : [];
  };
  const isKeyed = (command: RespCommand): boolean =>
    keys !== undefined && command.some((word) => String(word).startsWith(keys.slice(0, -1)));
  // The user may run EVAL, so that only the key can be refused.
  const keyQuestion: readonly RespCommand[] = keys === undefined ? [] : [["EVAL", "", 1, keys.replace("*", "0}")]];
  try {
    const [[mayUseKeys = true], allowed] = await Promise.all([mayAll(keyQuestion), mayAll(commands)]);
    if (!mayUseKeys) findings.fault(`${user} has no access to keys ${keys} on {nodes}`, address);
    for (const [index, command] of commands.entries()) {
      if (allowed[index] === true || (!mayUseKeys && isKeyed(command))) continue;
      findings.fault(`${user} may not run ${command.slice(0, 2).join(" ")} on {nodes}`, address);
    }
  } catch (error) {
    failed(error);
  }
}

const coverageQuestion = ["CONFIG", "GET", "cluster-require-full-coverage"];
const permissionScript = "return redis.acl_check_cmd(unpack(ARGV)) and 1 or 0";

/** Of each command, after its number of words, whether the user may run it. */
const permissionsScript = `local may, at = {}, 1
while at <= #ARGV do
  local last = at + tonumber(ARGV[at])
  may[#may + 1] = redis.acl_check_cmd(unpack(ARGV, at + 1, last)) and 1 or 0
  at = last + 1
end
return may`;

/** What is asked beside the commands of `demands`: a server says no to each by itself. */
const probes: readonly RespCommand[] = [
  ["CLUSTER", "NODES"],
  ["CLUSTER", "SLOTS"],
  ["CLUSTER", "INFO"],
  ["TIME"],
  ["SCRIPT", "LOAD", permissionScript],
  ["WAIT", 0, 1],
  ["EVAL", "return 1", 0],
];

/** Clocks: one node's that is off, or this machine's, when all differ alike. */
function judgeClocks(facts: readonly NodeFacts[], findings: Findings): void {
  const off = facts.filter(({ clockAheadMs }) => Math.abs(clockAheadMs) > limits.clusterClockOffMsMax);
  const seconds = (ms: number): string => `${(Math.abs(ms) / 1000).toFixed(1)} s ${ms > 0 ? "ahead of" : "behind"}`;
  const [first] = off;
  if (first === undefined) return;
  if (off.length === facts.length && facts.length > 1) {
    findings.fault(`this machine's clock is ${seconds(-first.clockAheadMs)} that of every node: synchronise it`);
    return;
  }
  for (const { address, clockAheadMs } of off) {
    findings.fault(`${address}: its clock is ${seconds(clockAheadMs)} this machine's: synchronise it`);
  }
}

/** Whether a fault passes by itself: the cluster comes back, its replicas do, or neither helps. */
type FaultKind = "away" | "replicas" | "lasting";

/** Sentences, those that say the same of several nodes as one. */
class Findings {
  readonly #faults = new Map<string, NodeAddress[]>();
  readonly #warnings = new Map<string, NodeAddress[]>();
  readonly #kinds = new Set<FaultKind>();
  isMixed = false;

  /** `text` is a sentence, or with `node` one as `NodeRule.says` gives it. */
  fault(text: string, node?: NodeAddress, kind: FaultKind = "lasting"): void {
    note(this.#faults, text, node);
    this.#kinds.add(kind);
  }

  warning(text: string, node?: NodeAddress): void {
    note(this.#warnings, text, node);
  }

  of(nodes: readonly NodeFacts[]): Inspection {
    const mayPass = this.#kinds.size > 0 && !this.#kinds.has("lasting");
    const lacksReplicas = mayPass && this.#kinds.has("replicas");
    const isAway = mayPass && !lacksReplicas;
    const faults = sentences(this.#faults);
    const warnings = sentences(this.#warnings);
    return { faults, warnings, nodes, isMixed: this.isMixed, isAway, lacksReplicas };
  }
}

function note(of: Map<string, NodeAddress[]>, text: string, node: NodeAddress | undefined): void {
  const nodes = of.get(text) ?? [];
  if (node !== undefined && !nodes.includes(node)) nodes.push(node);
  of.set(text, nodes);
}

function sentences(of: ReadonlyMap<string, readonly NodeAddress[]>): string[] {
  return [...of].map(([text, nodes]) => (nodes.length === 0 ? text : sentenceOf(text, nodes)));
}

/** The names in the place of `{nodes}`; of each `[one|several]` what suits their number. */
function sentenceOf(text: string, nodes: readonly NodeAddress[]): string {
  return text
    .replace(/\[([^|\]]*)\|([^\]]*)\]/g, nodes.length === 1 ? "$1" : "$2")
    .replace("{nodes}", () => listed(nodes));
}

function listed(nodes: readonly NodeAddress[]): string {
  const names = [...nodes].sort();
  const last = names.pop()!;
  return names.length === 0 ? last : `${names.join(", ")} and ${last}`;
}

/** What is wrong in one line: each fault set apart from the next. */
export function faultsLine(faults: readonly string[]): string {
  if (faults.length === 1) return faults[0]!;
  return `${faults.length} faults: ${faults.map((fault, index) => `(${index + 1}) ${fault}`).join("; ")}`;
}

function judgeNode(node: NodeFacts, demands: ClusterDemands, findings: Findings): void {
  for (const { isFault, kind, says } of rules) {
    const text = says(node, demands);
    if (text === undefined) continue;
    if (isFault) findings.fault(text, node.address, kind);
    else findings.warning(text, node.address);
    // Of a server without cluster mode nothing else matters.
    if (!node.isCluster) return;
  }
}

interface NodeRule {
  readonly isFault: boolean;
  /** Of a fault; absent: "lasting". */
  readonly kind?: FaultKind;
  /** The sentence, with `{nodes}` and `[one|several]` for `sentenceOf`; `undefined` when the node is as it should be. */
  says(node: NodeFacts, demands: ClusterDemands): string | undefined;
}

/** What each node must be. The first that a server breaks is the one that matters most. */
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
          "(--engine-durable for a managed service that keeps its data otherwise)",
  },
  {
    isFault: true,
    kind: "replicas",
    says: ({ role, replicas }, { acks }) =>
      role === "master" && replicas < acks
        ? `{nodes} [has|have] ${replicas === 0 ? "no replica" : replicasOf(replicas)}, but ${acks === 1 ? "one" : acks} must acknowledge ` +
          `each write (--engine-acks ${acks}): give [it|each of them] ${acks + 1}, so that one may fail`
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
