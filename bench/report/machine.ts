/** What the figures were measured on and with: without it they say nothing. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { redisServer } from "../servers/servers.js";

export interface Machine {
  readonly at: string;
  readonly commit: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly system: string;
  readonly node: string;
  readonly packages: Readonly<Record<string, string>>;
  /** Load average of the last minute before the first run: others at work make figures noisy. */
  readonly loadBefore: number;
}

const named = ["uWebSockets.js", "lmdb", "piscina", "msgpackr", "typia", "autocannon", "fastify", "ioredis"];

export function describeMachine(loadBefore: number): Machine {
  return {
    at: new Date().toISOString(),
    commit: commit(),
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 1024 ** 3),
    system: `${type()} ${release()}`,
    node: process.version,
    packages: { ...Object.fromEntries(named.map((name) => [name, version(name)])), Redis: redisVersion() },
    loadBefore,
  };
}

/** The commit measured, with a plus when files differ from it. */
function commit(): string {
  try {
    const git = (...words: string[]): string => execFileSync("git", words, { encoding: "utf8" }).trim();
    return (
      git("rev-parse", "--short=12", "HEAD") + (git("status", "--porcelain", "--", "src", "workers") === "" ? "" : "+")
    );
  } catch {
    return "unknown";
  }
}

function version(name: string): string {
  try {
    const text = readFileSync(new URL(`../../../node_modules/${name}/package.json`, import.meta.url), "utf8");
    return (JSON.parse(text) as { version: string }).version;
  } catch {
    return "not installed";
  }
}

function redisVersion(): string {
  const program = redisServer();
  if (program === null) return "not installed";
  return / v=(\S+)/.exec(execFileSync(program, ["--version"], { encoding: "utf8" }))?.[1] ?? "unknown";
}
