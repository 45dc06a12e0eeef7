/** The compose file of a cluster and the files it names: valid, complete, and what they say is what runs, with servers of this machine. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { parse } from "yaml";
import { storeAclRules } from "../../src/cluster-store/permissions.js";
import { serveOptions } from "../../src/config/config.js";
import { deployedNginx } from "../support/deployed-nginx.js";
import { freePort } from "../support/free-port.js";
import { verdictd } from "../support/process.js";
import { waitUntil } from "../support/wait-until.js";

const folder = fileURLToPath(new URL("../../../scripts/deploy/cluster/", import.meta.url));
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

interface Service {
  readonly image: string;
  readonly labels?: { readonly zone: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly networks: Readonly<Record<string, { readonly ipv4_address?: string }>> | readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const compose = parse(read("compose.yaml"), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const addressOf = ({ networks }: Service): string =>
  (networks as Readonly<Record<string, { ipv4_address: string }>>)["cluster"]!.ipv4_address;

t.test("three nodes, nine engine processes in three zones, nginx; every file that is named is there", async (t) => {
  const engines = services.filter(([name]) => name.startsWith("engine-"));
  t.equal(engines.length, 9);
  t.equal(services.filter(([name]) => name.startsWith("node-")).length, 3);
  const zones = new Map(engines.map(([, service]) => [addressOf(service), service.labels!.zone]));
  t.equal(zones.size, 9, "addresses of their own");
  const shards = compose.services["form-cluster"]!.command!.map((shard) => shard.split(","));
  t.same(shards.flat().sort(), [...zones.keys()].map((address) => `${address}:6379`).sort());
  for (const shard of shards) {
    t.same(shard.map((node) => zones.get(node.replace(":6379", ""))).sort(), ["a", "b", "c"], "a copy in each zone");
  }
  t.equal(new Set(shards.map(([master]) => zones.get(master!.replace(":6379", "")))).size, 3, "a master in each zone");
  for (const [name, { volumes = [], secrets = [] }] of services) {
    for (const volume of volumes) {
      const [source = ""] = volume.split(":");
      if (source.startsWith("./")) t.ok(existsSync(join(folder, source)), `${name}: ${source}`);
      else t.ok(source in compose.volumes, `${name}: ${source}`);
    }
    for (const secret of secrets) t.ok(secret in compose.secrets, `${name}: ${secret}`);
  }
});

t.test("nodes are started with options that there are, on engine processes that there are", async (t) => {
  const variables = Object.keys(serveOptions).map((name) => `VERDICTD_${name.toUpperCase().replaceAll("-", "_")}`);
  const addresses = services.filter(([name]) => name.startsWith("engine-")).map(([, service]) => addressOf(service));
  for (const [, { environment = {} }] of services.filter(([name]) => name.startsWith("node-"))) {
    for (const name of Object.keys(environment)) t.ok(variables.includes(name.replace(/_FILE$/, "")), name);
    const hosts = environment["VERDICTD_STORE"]!.replace(/^.*@/, "").split(",");
    for (const host of hosts) t.ok(addresses.includes(host.replace(":6379", "")), host);
    t.equal(environment["VERDICTD_TRUSTED_PROXIES"], `${addressOf(compose.services["nginx"]!)}/32`);
  }
  t.ok(read("users.acl").includes(`\nuser verdictd on >ENGINE_PASSWORD ${storeAclRules.join(" ")}\n`));
});

/** The engine's scripts with `redis-server` and `redis-cli` on ports of this machine. */
async function startEngines(t: Test, count: number): Promise<{ nodes: string[]; env: NodeJS.ProcessEnv; at: string }> {
  const at = mkdtempSync(join(tmpdir(), "verdictd-compose-"));
  const secrets = join(at, "secrets");
  mkdirSync(secrets);
  writeFileSync(join(secrets, "admin-password"), "of-the-admin\n");
  writeFileSync(join(secrets, "engine-password"), "of-the-store\n");
  const env = {
    ...process.env,
    CONFIG_FOLDER: folder,
    SECRETS_FOLDER: secrets,
    SERVER: "redis-server",
    CLI: "redis-cli",
  };
  const nodes: string[] = [];
  const children = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const data = join(at, String(index));
      mkdirSync(data);
      const [port, bus] = [await freePort(), await freePort()];
      nodes.push(`127.0.0.1:${port}`);
      const args = [join(folder, "engine.sh"), "--port", String(port), "--cluster-port", String(bus)];
      return spawn("sh", [...args, "--bind", "127.0.0.1"], { env: { ...env, DATA_FOLDER: data }, stdio: "ignore" });
    }),
  );
  t.teardown(async () => {
    await Promise.all(
      children.map(async (child) => {
        if (child.exitCode !== null) return;
        child.kill("SIGKILL");
        await once(child, "exit");
      }),
    );
    rmSync(at, { recursive: true, force: true });
  });
  return { nodes, env, at };
}

t.test("the engine's files start a cluster that verdictd takes as it is, with the store's user", async (t) => {
  const { nodes, env, at } = await startEngines(t, 9);
  const shards = [0, 1, 2].map((shard) => nodes.filter((_, index) => index % 3 === shard).join(","));
  const form = () => {
    const child = spawn("sh", [join(folder, "form-cluster.sh"), ...shards], { env, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (more: string) => {
        text += more;
      });
    }
    return once(child, "close").then(([code]) => ({ code: code as number, text }));
  };
  const formed = await form();
  t.equal(formed.code, 0, formed.text.slice(-2000));
  t.match(await form(), { code: 0, text: /a cluster already/ }, "once");
  const password = join(at, "secrets", "engine-password");
  const flags = [
    "init",
    "--store",
    `valkey://verdictd@${nodes.slice(0, 3).join(",")}`,
    "--data-dir",
    join(at, "mirror"),
  ];
  const init = () => verdictd(flags, { VERDICTD_STORE_PASSWORD_FILE: password });
  // Replicas report for duty a moment later.
  const made = await waitUntil(init, ({ code }) => code === 0);
  t.equal(made.code, 0, made.stderr);
  const warnings = made.stderr.split("\n").filter((line) => line.startsWith("warning: "));
  t.match(
    warnings,
    [/^warning: the user may not ask for cluster-allow-replica-migration/],
    "nothing else that may hurt one day",
  );
  t.match(read("valkey.conf"), /^cluster-allow-replica-migration no$/m);
});

const nginx = "/usr/sbin/nginx";
t.test(
  "nginx takes the file, and a dead node costs nobody an answer",
  { skip: existsSync(nginx) ? false : "no nginx" },
  async (t) => {
    const at = mkdtempSync(join(tmpdir(), "verdictd-nginx-"));
    t.teardown(() => rmSync(at, { recursive: true, force: true }));
    const seen: (string | undefined)[] = [];
    const node = createServer((request, response) => {
      seen.push(String(request.headers["x-forwarded-for"]));
      response.end("answered");
    }).listen(0, "127.0.0.1");
    await once(node, "listening");
    t.teardown(() => node.close());
    const [port, gone] = [await freePort(), await freePort()];
    const addresses = [(node.address() as AddressInfo).port, gone, gone].map((each) => `127.0.0.1:${each}`);
    const file = deployedNginx(at, addresses, port);
    const tested = spawnSync(nginx, ["-t", "-c", file, "-p", at], { encoding: "utf8" });
    t.equal(tested.status, 0, tested.stderr);
    const running = spawn(nginx, ["-c", file, "-p", at], { stdio: "ignore" });
    t.teardown(async () => {
      running.kill("SIGTERM");
      await once(running, "exit");
    });
    const ask = () =>
      fetch(`http://127.0.0.1:${port}/v1/events`, {
        method: "POST",
        body: "{}",
        headers: { "x-forwarded-for": "192.0.2.1" },
      })
        .then((answer) => answer.text())
        .catch(() => "");
    await waitUntil(ask, (answer) => answer === "answered");
    for (let count = 0; count < 6; count++) t.equal(await ask(), "answered");
    t.notOk(seen.includes("192.0.2.1"), "what the client says of its address is dropped");
  },
);
