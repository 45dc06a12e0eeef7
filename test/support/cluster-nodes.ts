/** Several `verdictd serve` on one cluster, with an account and a project: what tests of more than one machine kill and ask. */
import { join } from "node:path";
import type { Test } from "tap";
import { parseExposition } from "./exposition.js";
import { freePort } from "./free-port.js";
import { Client } from "./keep-alive-client.js";
import { ownFolder } from "./own-folder.js";
import type { Owner } from "./owner.js";
import { command, type Served, serve } from "./process.js";
import type { NodePlace, RedisCluster } from "./redis-cluster.js";

/** A node of verdictd that can die and come back under the same address. */
export interface VerdictdNode {
  readonly host: string;
  readonly port: number;
  /** Keeps its connections; asks whichever process has the address. */
  readonly client: Client;
  readonly served: Served;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** Starts it again with its folder. */
  restart(): Promise<void>;
  /** The sum of a counter; 0 before it was counted. */
  count(name: string): Promise<number>;
}

interface NodesOptions {
  readonly count: number;
  readonly flags?: readonly string[];
  /** Default: all on 127.0.0.1. */
  readonly places?: readonly NodePlace[];
  /** Connections to each. */
  readonly connections?: number;
}

export interface ClusterNodes {
  readonly nodes: readonly VerdictdNode[];
  readonly owner: Owner;
}

/** Makes the first account in the cluster, then starts the nodes, and enables scoring through one of them. All ends with the test. */
export async function startNodes(t: Test, cluster: RedisCluster, options: NodesOptions): Promise<ClusterNodes> {
  const folder = ownFolder(t);
  const made = await command(["init", "--store", cluster.url, "--data-dir", join(folder, "init"), "--json"]);
  if (made.code !== 0) throw new Error(`init: ${made.stderr}`);
  const { account_id, project_id, account_token } = JSON.parse(made.stdout);
  const nodes = await Promise.all(
    Array.from({ length: options.count }, (_, index) =>
      startNode(t, cluster, join(folder, String(index)), options, options.places?.[index]),
    ),
  );
  const { json } = await nodes[0]!.client.ask("POST", `/v1/projects/${project_id}/scoring`, {
    authorization: `Bearer ${account_token}`,
  });
  const owner: Owner = {
    accountId: account_id,
    projectId: project_id,
    token: account_token,
    siteKey: json.site_key,
    privateKey: json.private_key,
  };
  return { nodes, owner };
}

async function startNode(
  t: Test,
  cluster: RedisCluster,
  dataDir: string,
  { flags = [], connections = 64 }: NodesOptions,
  place?: NodePlace,
): Promise<VerdictdNode> {
  const host = place?.askedAt ?? "127.0.0.1";
  const port = await freePort();
  const hosts = place === undefined ? [] : ["--host", place.askedAt, "--admin-host", place.askedAt];
  const start = (): Promise<Served> =>
    serve(t, dataDir, {
      port,
      flags: ["--store", cluster.url, ...hosts, ...flags],
      ...(place !== undefined && { under: place.under }),
    });
  let served = await start();
  const client = new Client(port, connections, host);
  t.teardown(() => client.close());
  return {
    host,
    port,
    client,
    get served() {
      return served;
    },
    kill: async () => {
      await served.end("SIGKILL");
    },
    restart: async () => {
      served = await start();
    },
    count: async (name) => {
      const answer = await fetch(`http://${host}:${served.adminPort}/metrics`);
      return parseExposition(await answer.text()).sum(name);
    },
  };
}
