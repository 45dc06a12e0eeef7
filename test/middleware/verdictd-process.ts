/**
 * A real verdictd in a process of its own, with a project, rules by path and a scored session, for tests of what asks it. It can be
 * stopped, frozen and started again on its port.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Test } from "tap";

const program = join(resolve(dirname(fileURLToPath(import.meta.url)), "../.."), "src/cli/main.js");

/** The rules of the project: every action has paths of its own. They match any scored session. */
const rules = [
  { name: "block", expression: 'path starts_with "/block"', action: "block" },
  { name: "challenge", expression: 'path starts_with "/challenge"', action: "challenge" },
  { name: "delay", expression: 'path starts_with "/delay"', action: "delay" },
  { name: "by address", expression: 'path == "/by-ip" AND ip in {"203.0.113.0/24"}', action: "block" },
  { name: "by host", expression: 'path == "/by-host" AND host == "shop.example"', action: "block" },
  { name: "by method", expression: 'path == "/by-method" AND method == "DELETE"', action: "block" },
  { name: "by agent", expression: 'path == "/by-agent" AND user_agent contains "curly"', action: "block" },
];

export interface VerdictdProcess {
  readonly baseUrl: string;
  readonly privateKey: string;
  /** A session that has been scored. */
  readonly sessionToken: string;
  /** Log lines so far. */
  readonly log: readonly string[];
  /** Resolves once a line with this text is logged. */
  logged(text: string): Promise<void>;
  /** A new session with a first report. */
  mintSession(): Promise<string>;
  /** Kills it at once, as a crash would. */
  kill(): Promise<void>;
  /** Stops its clock: connections stay open, nothing is answered. */
  freeze(): void;
  thaw(): void;
  /** Runs it again, on the same port and store. */
  restart(): Promise<void>;
  /** Runs a command of the command line against its store, for example `account set 1`. */
  command(...args: string[]): Promise<void>;
}

export async function startVerdictd(t: Test): Promise<VerdictdProcess> {
  const dataDir = join(t.testdir(), "data");
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [program, "init", "--data-dir", dataDir, "--json"]);
  const made = JSON.parse(stdout) as { account_token: string; project_id: number };
  const log = new Log();
  // A port of its own and not 0: Linux lets a listener come back to a port it named, not to one that the kernel chose.
  const port = await freePort();
  let child = await serve(dataDir, port, log);
  t.teardown(() => end(child, "SIGKILL"));
  const baseUrl = `http://127.0.0.1:${port}`;
  const configure = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${baseUrl}/v1/projects/${made.project_id}${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${made.account_token}`, "Content-Type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const keys = await configure("/scoring");
  for (const rule of rules) await configure("/rules", rule);
  const mintSession = (): Promise<string> => firstReport(baseUrl, String(keys["site_key"]));
  return {
    baseUrl,
    privateKey: String(keys["private_key"]),
    sessionToken: await mintSession(),
    log: log.lines,
    logged: (text) => log.has(text),
    mintSession,
    kill: () => end(child, "SIGKILL"),
    freeze: () => child.kill("SIGSTOP"),
    thaw: () => child.kill("SIGCONT"),
    restart: async () => {
      child = await serve(dataDir, port, log);
    },
    command: async (...args) => {
      await run(process.execPath, [program, ...args, "--data-dir", dataDir]);
    },
  };
}

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function serve(dataDir: string, port: number, log: Log): Promise<ChildProcess> {
  const args = ["serve", "--data-dir", dataDir, "--port", String(port), "--admin-port", "0", "--verdict-ttl", "0"];
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  await new Promise<void>((listening, failed) => {
    lines.on("line", (line) => {
      log.add(line);
      if ((JSON.parse(line) as { port?: number }).port !== undefined) listening();
    });
    lines.once("close", () => failed(new Error("verdictd ended before it listened")));
  });
  return child;
}

/** Log lines, and who waits for one. */
class Log {
  readonly lines: string[] = [];
  #waiting: { readonly text: string; readonly done: () => void }[] = [];

  add(line: string): void {
    this.lines.push(line);
    for (const { text, done } of this.#waiting) if (line.includes(text)) done();
    this.#waiting = this.#waiting.filter(({ text }) => !line.includes(text));
  }

  async has(text: string): Promise<void> {
    if (this.lines.some((line) => line.includes(text))) return;
    await new Promise<void>((done) => this.#waiting.push({ text, done }));
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

async function firstReport(baseUrl: string, siteKey: string): Promise<string> {
  const event = {
    request_id: "first-report-1",
    type: "page",
    received_at: new Date().toISOString(),
    payload: { path: "/" },
  };
  const response = await fetch(`${baseUrl}/v1/events`, {
    method: "POST",
    headers: { "X-Service-Site-Key": siteKey, "Content-Type": "application/json" },
    body: JSON.stringify({ session_token: null, events: [event] }),
  });
  if (response.status !== 202) throw new Error(`ingest: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { session_token: string }).session_token;
}
