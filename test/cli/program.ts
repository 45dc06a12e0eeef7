/** Runs the built program `verdictd` for tests: a command to its end, or a server until the test is over. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";

const program = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment without what would change the outcome. */
function environment(more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("VERDICTD_"));
  return { ...Object.fromEntries(kept), ...more };
}

/** Runs `verdictd` with these arguments to its end. */
export async function verdictd(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [program, ...args], {
    env: environment(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
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

/** Runs a command with `--json` that is expected to be done; the one value it printed. */
export async function json<T = Record<string, unknown>>(dataDir: string, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await verdictd([...args, "--json", "--data-dir", dataDir]);
  if (code !== 0 || stderr !== "") throw new Error(`verdictd ${args.join(" ")}: exit ${code}, ${stderr}`);
  return JSON.parse(stdout) as T;
}

export interface Serving {
  readonly address: string;
  readonly child: ChildProcess;
  /** Resolves with the next log line of this message. */
  line(message: string): Promise<void>;
}

/** `verdictd serve` on a free port, stopped when the test is over. */
export async function serve(t: Test, dataDir: string, ...args: string[]): Promise<Serving> {
  const all = ["serve", "--data-dir", dataDir, "--port", "0", "--admin-port", "0", "--scoring-threads", "1", ...args];
  const child = spawn(process.execPath, [program, ...all, "--http-threads", "1"], {
    env: environment({}),
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  const lines = createInterface({ input: child.stdout! });
  const waiting = new Map<string, (line: Record<string, unknown>) => void>();
  lines.on("line", (text) => {
    if (!text.startsWith("{")) return;
    const line = JSON.parse(text) as Record<string, unknown>;
    waiting.get(String(line["msg"]))?.(line);
  });
  const next = (message: string): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      waiting.set(message, resolve);
      child.once("exit", (code) => reject(new Error(`serve ended with ${code} before "${message}"`)));
    });
  const { port } = await next("listening");
  return {
    address: `http://127.0.0.1:${String(port)}`,
    child,
    line: async (message) => {
      await next(message);
    },
  };
}

/** Calls the API with a bearer credential; status and, where there is one, the JSON body. */
export async function call<T = Record<string, unknown>>(
  serving: Serving,
  method: string,
  path: string,
  bearer: string,
  body?: object,
): Promise<{ status: number; body: T }> {
  const response = await fetch(serving.address + path, {
    method,
    headers: { Authorization: `Bearer ${bearer}`, "Content-Type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as T };
}

/** Sends one batch of `count` heartbeats; the session's token. */
export async function ingest(
  serving: Serving,
  siteKey: string,
  count: number,
  token: string | null = null,
): Promise<string> {
  const events = Array.from({ length: count }, () => ({
    request_id: crypto.randomUUID(),
    type: "heartbeat",
    received_at: new Date().toISOString(),
    payload: {},
  }));
  const response = await fetch(`${serving.address}/v1/events`, {
    method: "POST",
    headers: {
      "X-Service-Site-Key": siteKey,
      "Idempotency-Key": crypto.randomUUID(),
      "Content-Type": "application/json",
    },
    body: JSON.stringify({ session_token: token, events }),
  });
  if (response.status !== 202) throw new Error(`ingest answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { session_token: string }).session_token;
}
