/**
 * Inspects a cluster before it is used: finds what is wrong with it as a store, one line each. It only gathers facts; `node-rules.ts` and
 * `permission-check.ts` judge them. It needs no more commands than the store uses.
 */
import { limits } from "../limits.js";
import { tlsOf } from "./cluster-client.js";
import { ClusterError } from "./cluster-error.js";
import { newClusterMeters } from "./cluster-meters.js";
import { ClusterNode } from "./cluster-node.js";
import type { ClusterTls } from "./cluster-tls.js";
import {
  blame,
  Findings,
  faultKindOf,
  isLoading,
  isOfUser,
  type Judgement,
  lineOf,
  listed,
  stillLoading,
} from "./inspection-findings.js";
import { type ClusterDemands, judgeClocks, judgeNode, type NodeFacts } from "./node-rules.js";
import { type Ask, judgePermissions, permissionScript } from "./permission-check.js";
import type { RespCommand } from "./resp-encoder.js";
import type { RespReply } from "./resp-parser.js";
import { type NodeAddress, parseEndpoints, slotsOfCluster } from "./slots.js";
import type { StoreUrl } from "./store-url.js";
import { askNode } from "./topology.js";

/** The result; the cluster can be used while `faults` is empty. */
export interface Inspection extends Judgement {
  /** For the first cluster, if the URL names nodes of two. */
  readonly nodes: readonly NodeFacts[];
  /** All nodes that the cluster lists, whether they answer or not. */
  readonly addresses: readonly NodeAddress[];
}

/** The cluster as seen by a seed. */
interface SeedView {
  readonly seed: NodeAddress;
  readonly ids: ReadonlySet<string>;
  readonly nodes: readonly ListedNode[];
  readonly isOk: boolean;
  readonly slotsOk: number;
  readonly facts: NodeFacts;
}

/** Why a seed gave no view. */
interface SeedFailure {
  readonly seed: NodeAddress;
  readonly error: unknown;
}

/** A node as another one lists it. */
interface ListedNode {
  readonly id: string;
  readonly address: NodeAddress;
  /** Whether it is a master with slots: without it, the cluster can't be used. */
  readonly isNeeded: boolean;
  readonly isFailing: boolean;
}

const askMs = 2000;
/** One setting each, because servers before Redis 7 took no more. */
const coverageQuestion = ["CONFIG", "GET", "cluster-require-full-coverage"];
const migrationQuestion = ["CONFIG", "GET", "cluster-allow-replica-migration"];
const noAcknowledgements =
  "no replica acknowledges writes (--store-acks 0): a failover may lose batches and changes that were answered";

/** How to reach the cluster, and where to report why it takes long. */
interface InspectionOptions {
  readonly tls?: ClusterTls;
  readonly onWait?: ((why: string) => void) | undefined;
}

/** Asks every seed, then every node of the cluster. Never throws: an unreachable node is a fault or a warning too. */
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
        passwordFile: url.passwordFile,
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
        // An error from the server is an answer too.
        if (isRefusal(error)) answered.add(address);
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

async function inspect(url: StoreUrl, demands: ClusterDemands, ask: Ask): Promise<Inspection> {
  const findings = new Findings();
  const views: SeedView[] = [];
  const unreachable: SeedFailure[] = [];
  const refusing: SeedFailure[] = [];
  const forbidden: NodeAddress[] = [];
  for (const [index, view] of (await Promise.allSettled(url.seeds.map((each) => viewOf(each, ask)))).entries()) {
    const seed = url.seeds[index]!;
    if (view.status === "fulfilled") views.push(view.value);
    else if (isRefusal(view.reason) && faultKindOf(view.reason) === "lasting") {
      refusing.push({ seed, error: view.reason });
      if (view.reason.serverCode === "NOPERM") forbidden.push(seed);
    } else unreachable.push({ seed, error: view.reason });
  }
  // With another's view, `everyNode` knows whether it is needed.
  for (const { seed, error } of refusing) blame(seed, error, url, findings, { isNeeded: views.length === 0 });
  for (const { seed, error } of unreachable) {
    // If other nodes answer, this one may be down only for a moment.
    if (views.length === 0) blame(seed, error, url, findings, { isNeeded: true });
    else if (!isLoading(error)) findings.warning(lineOf(error, url));
  }
  const clustered = views.filter(({ facts }) => facts.isCluster);
  for (const { facts } of views) if (!facts.isCluster) judgeNode(facts, demands, findings);
  // A node that is cut off from the others says that the cluster is down.
  const first = clustered.find(({ isOk }) => isOk) ?? clustered[0];
  // Reports at once what else the user may not do.
  const judgeEach = (nodes: readonly Pick<NodeFacts, "address" | "role">[]) =>
    Promise.all(nodes.map((node) => judgePermissions(node, url, demands, ask, findings)));
  if (first === undefined) await judgeEach(forbidden.map((address) => ({ address, role: "replica" })));
  if (first === undefined) {
    const nodes = views.map(({ facts }) => facts);
    return { ...findings.judgement(), nodes, addresses: nodes.map(({ address }) => address) };
  }
  for (const other of clustered) {
    if (other === first || [...other.ids].some((id) => first.ids.has(id))) continue;
    findings.fault(`${first.seed} and ${other.seed} are nodes of two clusters: name the nodes of one`);
    findings.isMixed = true;
  }
  findings.lacksShards = first.isOk && first.slotsOk > 0 && first.slotsOk < slotsOfCluster;
  if (!first.isOk || first.slotsOk < slotsOfCluster) {
    const why =
      first.slotsOk < slotsOfCluster
        ? `${first.slotsOk} of ${slotsOfCluster} slots are served (CLUSTER INFO on ${first.seed})`
        : `CLUSTER INFO on ${first.seed} says cluster_state:fail`;
    findings.fault(`the cluster is down: ${why}`, undefined, "away");
  }
  if (demands.acks === 0) findings.warning(noAcknowledgements);
  const facts = await everyNode(first, url, ask, findings);
  for (const each of facts) judgeNode(each, demands, findings);
  judgeClocks(facts, findings);
  await judgeEach(facts);
  return { ...findings.judgement(), nodes: facts, addresses: addressed(first).map(({ address }) => address) };
}

async function viewOf(seed: NodeAddress, ask: Ask): Promise<SeedView> {
  const facts = await factsOf(seed, ask);
  if (!facts.isCluster) return { seed, facts, ids: new Set(), nodes: [], isOk: false, slotsOk: 0 };
  const [rows, slots, info] = await Promise.all([
    ask(seed, ["CLUSTER", "NODES"]),
    ask(seed, ["CLUSTER", "SLOTS"]),
    ask(seed, ["CLUSTER", "INFO"]),
  ]);
  const endpoints = parseEndpoints(slots, seed);
  const nodes = String(rows)
    .split("\n")
    .filter((row) => row !== "")
    .map((row) => nodeOfRow(row, seed, endpoints));
  return {
    seed,
    facts,
    ids: new Set(nodes.map(({ id }) => id)),
    nodes,
    isOk: field(String(info), "cluster_state") === "ok",
    slotsOk: Number(field(String(info), "cluster_slots_ok")),
  };
}

/**
 * A row of `CLUSTER NODES`: `id host:port@busport,hostname flags master ping pong epoch link slots…`. Its address is the one that clients are told,
 * as far as they are told any: nodes without slots and replicas that are down have only the one by which nodes reach each other.
 */
function nodeOfRow(row: string, seed: NodeAddress, endpoints: ReadonlyMap<string, NodeAddress>): ListedNode {
  const [id = "", place = "", flags = "", , , , , , ...slots] = row.split(" ");
  const marks = flags.split(",");
  const address = marks.includes("myself") ? seed : (endpoints.get(id) ?? place.replace(/@.*$/, ""));
  const isFailing = marks.some((mark) => ["fail", "fail?", "handshake", "noaddr"].includes(mark));
  return { id, address, isNeeded: marks.includes("master") && slots.length > 0, isFailing };
}

/** Without nodes that have no address: they were forgotten, or have not been met yet. */
function addressed({ nodes }: SeedView): readonly ListedNode[] {
  return nodes.filter(({ address }) => !address.startsWith(":"));
}

/** Returns the facts of all nodes that can be asked and have their data. */
async function everyNode(view: SeedView, url: StoreUrl, ask: Ask, findings: Findings): Promise<NodeFacts[]> {
  const facts: NodeFacts[] = [];
  const nodes = addressed(view);
  const asked = await Promise.allSettled(nodes.map(({ address }) => factsOf(address, ask)));
  for (const [index, each] of asked.entries()) {
    const { address, isNeeded, isFailing } = nodes[index]!;
    if (each.status === "fulfilled") {
      if (!each.value.isLoading) facts.push(each.value);
      else if (isNeeded) findings.fault(stillLoading, address, "away");
      else findings.warning(stillLoading, address);
    } else if (isFailing) findings.warning(`${address} is down, as the other nodes see it too`);
    else if (isNeeded || isOfUser(each.reason)) blame(address, each.reason, url, findings, { isNeeded });
    else findings.warning(lineOf(each.reason, url));
  }
  return facts;
}

function isRefusal(error: unknown): error is ClusterError {
  return error instanceof ClusterError && error.reason === "refused";
}

async function factsOf(address: NodeAddress, ask: Ask): Promise<NodeFacts> {
  const info = String(await ask(address, ["INFO"]));
  const beforeMs = Date.now();
  const time = await ask(address, ["TIME"]);
  const hereMs = (beforeMs + Date.now()) / 2;
  // Few users may run this, because it also shows the server's passwords. Each refusal would add to the server's log of refusals at every start.
  const mayAsk = await ask(address, ["EVAL", permissionScript, 0, ...coverageQuestion]).catch(() => 0);
  const isYes = async (question: RespCommand): Promise<boolean | undefined> => {
    const reply = mayAsk === 1 ? await ask(address, question).catch(() => null) : null;
    return Array.isArray(reply) && reply.length > 1 ? String(reply[1]) === "yes" : undefined;
  };
  const [needsEverySlot, movesReplicas] = await Promise.all([isYes(coverageQuestion), isYes(migrationQuestion)]);
  const [seconds, micros] = Array.isArray(time) ? time.map(Number) : [];
  const valkey = field(info, "valkey_version");
  return {
    address,
    role: field(info, "role") === "slave" ? "replica" : "master",
    kind: valkey === "" ? "redis" : "valkey",
    version: valkey === "" ? field(info, "redis_version") : valkey,
    isCluster: field(info, "redis_mode") === "cluster" || field(info, "cluster_enabled") === "1",
    isLoading: field(info, "loading") === "1",
    replicas: (info.match(/^slave\d+:.*state=online/gm) ?? []).length,
    isAofOn: field(info, "aof_enabled") === "1",
    maxmemory: Number(field(info, "maxmemory")),
    usedMemory: Number(field(info, "used_memory")),
    isLinkUp: field(info, "master_link_status") !== "down",
    maxmemoryPolicy: field(info, "maxmemory_policy"),
    needsEverySlot,
    movesReplicas,
    clockAheadMs: Math.round((seconds ?? 0) * 1000 + (micros ?? 0) / 1000 - hereMs),
  };
}

/** Returns the value of a `name:value` line; "" when there is none. */
function field(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1] ?? "";
}
