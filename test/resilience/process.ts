/**
 * `verdictd serve` as a process that tests kill, starve and stop: unlike `support/server.ts` nothing of it is opened in the test's own
 * process, its log is kept, and another entry than the command line can be started.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";

const program = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));

export type LogLine = Readonly<Record<string, unknown>>;

export interface Served {
  readonly port: number;
  readonly child: ChildProcess;
  readonly log: readonly LogLine[];
  /** The first log line with this message, already written or to come; rejects when the process ends without it. */
  line(message: string): Promise<LogLine>;
  /** Sends the signal and waits for the end; the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
  /** Waits for the end. */
  ended(): Promise<number | NodeJS.Signals | null>;
}

export interface ServeOptions {
  /** Flags of `serve`, or of what `entry` starts. */
  readonly flags?: readonly string[];
  /** Another program than `verdictd`; gets `serve`, then the flags. */
  readonly entry?: string;
  /** A command that the process is run by: `prlimit …`. */
  readonly under?: readonly string[];
  readonly port?: number;
}

/** Starts a server on `dataDir` and waits until it listens. Killed with the test. */
export async function serve(t: Test, dataDir: string, options: ServeOptions = {}): Promise<Served> {
  const { flags = [], entry = program, under = [], port = 0 } = options;
  const words = [...under, process.execPath, entry, "serve", "--data-dir", dataDir, "--port", String(port)];
  const child = spawn(words[0]!, [...words.slice(1), "--admin-port", "0", ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const log: LogLine[] = [];
  const waiting = new Set<() => void>();
  const over = once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
  const wake = (): void => {
    for (const each of waiting) each();
  };
  const closed = once(child.stdout!, "close");
  createInterface({ input: child.stdout! }).on("line", (text) => {
    if (text.startsWith("{")) log.push(JSON.parse(text) as LogLine);
    wake();
  });
  const ended = async (): Promise<number | NodeJS.Signals | null> => {
    const [code, signal] = await over;
    return signal ?? code;
  };
  const end = (signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> => {
    child.kill(signal);
    return ended();
  };
  const line = (message: string): Promise<LogLine> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = log.find(({ msg }) => msg === message);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      void Promise.all([over, closed]).then(([[code, signal]]) => {
        look();
        reject(new Error(`the server ended (${String(signal ?? code)}) before "${message}"`));
      });
      look();
    });
  t.teardown(() => end("SIGKILL"));
  const { port: listening } = await line("listening");
  return { port: Number(listening), child, log, line, end, ended };
}

/** Runs a command of `verdictd` to its end. */
export async function verdictd(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
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

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers without a type for each
  readonly json: any;
}

/** A client that keeps its connections. Rejects when a connection fails; retries nothing by itself. */
export class Client {
  readonly #agent: Agent;
  readonly port: number;

  constructor(port: number, connectionsMax = 16) {
    this.port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });
  }

  ask(method: string, path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Reply> {
    const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const asked = request(
        { host: "127.0.0.1", port: this.port, method, path, headers, agent: this.#agent },
        (answer) => {
          let all = "";
          answer.setEncoding("utf8").on("data", (piece: string) => {
            all += piece;
          });
          answer.on("end", () => {
            resolve({ status: answer.statusCode!, headers: answer.headers, json: parsed(all) });
          });
          answer.on("error", reject);
        },
      );
      asked.on("error", reject);
      asked.end(text);
    });
  }

  /** Sends a batch. */
  send(siteKey: string, body: unknown, idempotencyKey?: string): Promise<Reply> {
    return this.ask(
      "POST",
      "/v1/events",
      {
        "x-service-site-key": siteKey,
        "content-type": "application/json",
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
      body,
    );
  }

  close(): void {
    this.#agent.destroy();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
