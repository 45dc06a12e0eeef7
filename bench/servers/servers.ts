/** Starts and stops what is measured, each server in processes of its own: verdictd, the bare server, the peer. */
import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/support/free-port.js";
import type { BareAnswers } from "./bare.js";
import type { PeerOptions } from "./peer/peer.js";

export interface Target {
  readonly name: string;
  readonly url: string;
  /** Where verdictd's metrics are; absent for others. */
  readonly adminUrl?: string;
  /** All whose CPU counts; empty for a server on another machine. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL("../../program/verdictd.js", import.meta.url));
/** The modules that it is bundled from: their names tell in a profile which part of the program is busy. */
const modules = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));

/** Runs a command of the program on a store and returns the one JSON value it prints. */
export function runCommand(dataDir: string, ...words: string[]): unknown {
  const text = execFileSync(process.execPath, [program, ...words, "--data-dir", dataDir, "--json"], {
    encoding: "utf8",
  });
  return JSON.parse(text);
}

/**
 * `verdictd serve` on a store, ready when `/readyz` answers 200. Returns the milliseconds from start to ready as well. With a folder for profiles, it
 * leaves one of each thread there.
 */
export async function startVerdictd(
  dataDir: string,
  flags: readonly string[],
  profiles: string | null = null,
): Promise<Target & { readyMs: number }> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const start = performance.now();
  const words = [
    "serve",
    "--data-dir",
    dataDir,
    "--port",
    String(port),
    "--admin-port",
    String(adminPort),
    "--log-level",
    "warn",
    "--no-agent-fetch",
    ...flags,
  ];
  const entry = profiles === null ? [program] : ["--cpu-prof", "--cpu-prof-dir", profiles, modules];
  const child = spawn(process.execPath, [...entry, ...words], { stdio: ["ignore", "inherit", "inherit"] });
  endsWithUs(child);
  const url = `http://127.0.0.1:${port}`;
  while (!(await isReady(url))) {
    if (child.exitCode !== null) throw new Error(`verdictd ended with exit code ${child.exitCode}`);
  }
  const readyMs = performance.now() - start;
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  return { name: "verdictd", url, adminUrl, pids: [child.pid!], readyMs, stop: () => stopped(child) };
}

/** The sum of a counter's samples that have this label, of verdictd's metrics. */
export async function counterOf({ adminUrl }: Target, name: string, label = ""): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line.startsWith(name) && line.includes(label));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).status === 200;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 5));
    return false;
  }
}

export function startBare(answers: BareAnswers): Promise<Target> {
  return startForked("bare", "bare.js", answers);
}

/** Where redis-server is, or null: the peer is then left out. */
export function redisServer(): string | null {
  const folders = (process.env["PATH"] ?? "").split(":");
  return folders.map((folder) => join(folder, "redis-server")).find((file) => existsSync(file)) ?? null;
}

/** Fastify with a Redis of its own, which appends to its file and syncs once a second: about what verdictd promises by default. */
export async function startPeer(redis: string, keys: Omit<PeerOptions, "redisSocket">): Promise<Target> {
  const folder = scratchFolder("redis");
  const redisSocket = join(folder, "redis.sock");
  const words = ["--port", "0", "--unixsocket", redisSocket, "--dir", folder, "--save", "", "--appendonly", "yes"];
  const child = spawn(redis, [...words, "--appendfsync", "everysec", "--loglevel", "warning"], { stdio: "ignore" });
  endsWithUs(child);
  while (!existsSync(redisSocket)) {
    if (child.exitCode !== null) throw new Error("redis-server did not start");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const server = await startForked("Fastify + Redis", "peer/peer.js", { redisSocket, ...keys } satisfies PeerOptions);
  return {
    ...server,
    pids: [...server.pids, child.pid!],
    stop: async () => {
      await server.stop();
      await stopped(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startForked(name: string, entry: string, options: object): Promise<Target> {
  const child = fork(fileURLToPath(new URL(entry, import.meta.url)), [JSON.stringify(options)]);
  endsWithUs(child);
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (message) => resolve(Number(message)));
    child.once("exit", (code) => reject(new Error(`the server "${name}" ended with exit code ${code}`)));
  });
  return { name, url: `http://127.0.0.1:${port}`, pids: [child.pid!], stop: () => stopped(child) };
}

/** No server outlives the bench, however it ends. */
function endsWithUs(child: ChildProcess): ChildProcess {
  const end = (): boolean => child.kill("SIGKILL");
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
  return child;
}

/** An empty folder below the system's for temporary files, erased when this process ends, if it is there still. */
export function scratchFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `verdictd-bench-${name}-`));
  scratchFolders.push(folder);
  return folder;
}

const scratchFolders: string[] = [];

process.once("exit", () => {
  for (const folder of scratchFolders) rmSync(folder, { recursive: true, force: true });
});

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
