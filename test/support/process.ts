/**
 * The built program `verdictd` as a process of its own: a command to its end, or a server that tests ask, watch, kill, starve and stop.
 * Nothing of it is opened in the test's own process. The one place of the tests that starts the program.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Test } from "tap";
import { type Answer, type Ask, ask } from "./ask.js";
import { type Exposition, parseExposition } from "./exposition.js";
import { waitUntil } from "./wait-until.js";

/** The program as it is installed: scripts, see `scripts/package/scripts.ts`. */
export const program = fileURLToPath(new URL("../../program/verdictd.js", import.meta.url));
if (!existsSync(program))
  throw new Error(`${program} is missing: run npm run build, or node dist/scripts/bundle-program.js`);

/** Node as users start it. Without this tap's loader follows into every child, which takes it twice the processor time to start. */
const node = ["env", "-u", "NODE_OPTIONS", process.execPath];

/** The environment without what would change the outcome. */
function environment(more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("VERDICTD_"));
  return { ...Object.fromEntries(kept), ...more };
}

/** Variables that name the store of a folder, where the tests run on clusters: see `test-store.ts`. */
async function storeOf(dataDir: string | undefined): Promise<NodeJS.ProcessEnv> {
  if (dataDir === undefined || process.env["TEST_STORE"] !== "cluster") return {};
  const { storeUrlFor } = await import("./test-store.js");
  // No verdict is let through because the machine is busy.
  return { VERDICTD_STORE: await storeUrlFor(dataDir), VERDICTD_STORE_DEADLINE_MS: "5000" };
}

/** The same for the folder that a command names. */
function storeNamedIn(args: readonly string[]): Promise<NodeJS.ProcessEnv> {
  const at = args.indexOf("--data-dir");
  return storeOf(at === -1 ? undefined : args[at + 1]);
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `verdictd` with these arguments; who calls it reads its output and ends it. `under`: by this command. */
export function start(args: readonly string[], env: NodeJS.ProcessEnv = {}, under: readonly string[] = []) {
  const [command = "", ...words] = [...under, ...node, program, ...args];
  return spawn(command, words, { env: environment(env), stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs `verdictd` with these arguments to its end. */
export async function verdictd(...[args, env, under]: Parameters<typeof start>): Promise<Outcome> {
  const child = start(args, { ...(await storeNamedIn(args)), ...env }, under);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

/** A command for the host process. */
export interface CommandRun {
  readonly id: number;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

const hostEntry = fileURLToPath(new URL("./command-host.js", import.meta.url));

/** Starts a host process, which ends with this one; runs a command in it. */
function startHost(): (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<Outcome> {
  const [command = "", ...words] = [...node, hostEntry, pathToFileURL(program).href];
  const host = spawn(command, words, { env: environment({}), stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const waiting = new Map<number, { done: (outcome: Outcome) => void; failed: (error: Error) => void }>();
  let id = 0;
  host.on("message", ({ id, outcome }: { id: number; outcome: Outcome }) => {
    waiting.get(id)?.done(outcome);
    waiting.delete(id);
    if (waiting.size === 0) host.channel?.unref();
  });
  host.on("exit", (code) => {
    for (const { failed } of waiting.values()) failed(new Error(`the host of commands ended: ${code}`));
  });
  host.unref();
  return (args, env) =>
    new Promise((done, failed) => {
      waiting.set(++id, { done, failed });
      host.channel?.ref();
      host.send({ id, args, env } satisfies CommandRun);
    });
}

let host: ReturnType<typeof startHost> | undefined;

/**
 * Runs `verdictd` with these arguments to its end, beside others in a process that is kept for it: a process of its own takes half a
 * second of processor time to load what it needs. For commands only: what runs until it is told to stop is `serve` and `start`.
 */
export async function command(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  host ??= startHost();
  return host(args, { ...(await storeNamedIn(args)), ...env });
}

/** What `init --json` prints. */
export interface FirstKeys {
  readonly account_id: number;
  readonly user_id: number;
  readonly project_id: number;
  readonly account_token: string;
}

/** Runs a command with `--json` that is expected to be done; the one value it printed. */
export async function json<T = Record<string, unknown>>(dataDir: string, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await command([...args, "--json", "--data-dir", dataDir]);
  // A cluster of few processes is warned of, and waited for on a busy machine.
  const said = stderr.replaceAll(/^(warning: |waiting for the cluster ).*\n/gm, "");
  if (code !== 0 || said !== "") throw new Error(`verdictd ${args.join(" ")}: exit ${code}, ${stderr}`);
  return JSON.parse(stdout) as T;
}

export type LogLine = Readonly<Record<string, unknown>>;

/** How a process ended: its exit code, or the signal that ended it. */
type End = number | NodeJS.Signals | null;

export interface Served {
  /** The port of the line that was waited for. */
  readonly port: number;
  /** The admin port as last logged; 0 before it was. */
  readonly adminPort: number;
  readonly address: string;
  readonly dataDir: string;
  readonly child: ChildProcess;
  /** Every line so far, as it was written. */
  readonly lines: readonly string[];
  /** Those of them that are JSON. */
  readonly log: readonly LogLine[];
  /** The first log line with this message, already written or to come; rejects when the process ends without it. */
  logged(message: string): Promise<LogLine>;
  ask(method: string, path: string, what?: Ask): Promise<Answer>;
  /** A request to the admin address. */
  admin(path: string, init?: RequestInit): Promise<Response>;
  /** The metrics as they are now. */
  metrics(): Promise<Exposition>;
  /** The metrics once `isTrue` of them; as they are after a minute when it never is. */
  metricsOnce(isTrue: (metrics: Exposition) => boolean): Promise<Exposition>;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<End>;
  /** Waits for the end, and for the log to be read to its end. */
  ended(): Promise<End>;
}

interface ServeOptions {
  /** Flags of `serve`, or of what `entry` starts. */
  readonly flags?: readonly string[];
  /** Default: one that the system picks. */
  readonly port?: number;
  readonly env?: NodeJS.ProcessEnv;
  /** Another program than `verdictd`; gets `serve`, then the flags. */
  readonly entry?: string;
  /** A command that the process is run by: `prlimit …`. */
  readonly under?: readonly string[];
  /** The log line to wait for; default: that it listens. */
  readonly until?: string;
  /** Called with the process as soon as there is one. */
  readonly onSpawned?: (child: ChildProcess) => void;
}

/** Starts `verdictd serve` on `dataDir` and waits until it listens, or for the line asked for. Killed with the test. */
export async function serve(t: Test, dataDir: string, options: ServeOptions = {}): Promise<Served> {
  const { flags = [], port = 0, env = {}, entry = program, under = [], until = "listening" } = options;
  const store = await storeOf(dataDir);
  const [command = "", ...words] = [...under, ...node, entry, "serve", "--data-dir", dataDir, "--port", String(port)];
  const child = spawn(command, [...words, "--admin-port", "0", ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
    // A server that lives longer than ten seconds would ask strangers for the keys of their agents, and store what came of it.
    env: environment({ VERDICTD_NO_AGENT_FETCH: "true", ...store, ...env }),
  });
  options.onSpawned?.(child);
  const { lines, log, logged } = readLog(child);
  const over = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const ended = async (): Promise<End> => {
    const [code, signal] = await over;
    return signal ?? code;
  };
  const end = (signal: NodeJS.Signals): Promise<End> => {
    child.kill(signal);
    return ended();
  };
  t.teardown(() => end("SIGKILL"));
  const listening = Number((await logged(until))["port"]);
  const adminPort = (): number => Number(log.find(({ msg }) => msg === "admin listening")?.["port"] ?? 0);
  const admin = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${adminPort()}${path}`, init);
  const metrics = async (): Promise<Exposition> => {
    const answer = await admin("/metrics");
    if (answer.status !== 200) throw new Error(`the scrape was answered ${answer.status}: ${await answer.text()}`);
    return parseExposition(await answer.text());
  };
  return {
    port: listening,
    get adminPort() {
      return adminPort();
    },
    address: `http://127.0.0.1:${listening}`,
    dataDir,
    child,
    lines,
    log,
    logged,
    ask: (method, path, what) => ask(listening, method, path, what),
    admin,
    metrics,
    metricsOnce: (isTrue) => waitUntil(metrics, isTrue),
    end,
    ended,
  };
}

/** Keeps what the process writes, and tells those who wait for a line of it. */
function readLog(child: ChildProcess) {
  const lines: string[] = [];
  const log: LogLine[] = [];
  const waiting = new Set<{ message: string; done: (line: LogLine) => void; failed: (error: Error) => void }>();
  let isOver = false;
  const reader = createInterface({ input: child.stdout! });
  reader.on("line", (text) => {
    lines.push(text);
    if (!text.startsWith("{")) return;
    const line = JSON.parse(text) as LogLine;
    log.push(line);
    for (const each of waiting) {
      if (each.message !== line["msg"]) continue;
      waiting.delete(each);
      each.done(line);
    }
  });
  const without = (message: string): Error => new Error(`ended without logging "${message}": ${lines.join("\n")}`);
  reader.on("close", () => {
    isOver = true;
    for (const { message, failed } of waiting) failed(without(message));
  });
  const logged = (message: string): Promise<LogLine> =>
    new Promise((done, failed) => {
      const known = log.find(({ msg }) => msg === message);
      if (known !== undefined) done(known);
      else if (isOver) failed(without(message));
      else waiting.add({ message, done, failed });
    });
  return { lines, log, logged };
}
