/** `verdictd` as operators see it, for tests: the real process with its admin address, its whole log, its signals and exit code. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";

const program = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));

export interface LogEntry {
  readonly level: string;
  readonly msg: string;
  readonly port?: number;
  readonly [key: string]: unknown;
}

export interface Operated {
  readonly port: number;
  readonly adminPort: number;
  readonly dataDir: string;
  /** Every line so far, as it was written. */
  readonly lines: readonly string[];
  /** The first entry with this message, now or later. */
  logged(msg: string): Promise<LogEntry>;
  admin(path: string, init?: RequestInit): Promise<Response>;
  /** The metrics as they are now. */
  metrics(): Promise<Exposition>;
  /** The metrics once `isTrue` of them; those of the last of a bounded number of tries when it never is. */
  metricsOnce(isTrue: (metrics: Exposition) => boolean): Promise<Exposition>;
  signal(name: NodeJS.Signals): void;
  /** Resolves when the process is gone and its log is read to the end; its exit code. */
  gone(): Promise<number | null>;
}

export interface Started {
  readonly dataDir?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Resolve once this is logged; default: that it listens. */
  readonly until?: string;
}

/** Starts `verdictd serve` with these flags. Killed with the test. */
export async function operate(t: Test, flags: readonly string[] = [], started: Started = {}): Promise<Operated> {
  const { dataDir = t.testdir(), env = {}, until = "listening" } = started;
  const child = spawn(
    process.execPath,
    [program, "serve", "--port", "0", "--admin-port", "0", "--data-dir", dataDir, ...flags],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } },
  );
  const log = readLog(child);
  const ended = once(child, "close");
  const gone = async (): Promise<number | null> => {
    await ended;
    return child.exitCode;
  };
  t.teardown(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await log.logged(until);
  const portOf = (msg: string): number => log.entries.find((entry) => entry.msg === msg)?.port ?? 0;
  const admin = (path: string, init?: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${portOf("admin listening")}${path}`, init);
  const metrics = async (): Promise<Exposition> => parseExposition(await (await admin("/metrics")).text());
  return {
    port: portOf("listening"),
    get adminPort() {
      return portOf("admin listening");
    },
    dataDir,
    lines: log.lines,
    logged: log.logged,
    admin,
    metrics,
    metricsOnce: async (isTrue) => {
      let now = await metrics();
      for (let tries = 0; tries < 200 && !isTrue(now); tries++) {
        await delay(10);
        now = await metrics();
      }
      return now;
    },
    signal: (name) => {
      child.kill(name);
    },
    gone,
  };
}

function readLog(child: ChildProcess) {
  const lines: string[] = [];
  const entries: LogEntry[] = [];
  const waiting: { msg: string; done: (entry: LogEntry) => void; failed: (error: Error) => void }[] = [];
  const reader = createInterface({ input: child.stdout! });
  reader.on("line", (line) => {
    lines.push(line);
    if (!line.startsWith("{")) return;
    const entry = JSON.parse(line) as LogEntry;
    entries.push(entry);
    for (const each of waiting) if (each.msg === entry.msg) each.done(entry);
  });
  reader.on("close", () => {
    for (const each of waiting) each.failed(new Error(`ended without logging "${each.msg}": ${lines.join("\n")}`));
  });
  const logged = (msg: string): Promise<LogEntry> =>
    new Promise((done, failed) => {
      const known = entries.find((entry) => entry.msg === msg);
      if (known === undefined) waiting.push({ msg, done, failed });
      else done(known);
    });
  return { lines, entries, logged };
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A parsed exposition; asking for what it does not hold gives 0 or none. */
export interface Exposition {
  readonly samples: readonly Sample[];
  /** Metric types by name, as the TYPE lines say. */
  readonly types: ReadonlyMap<string, string>;
  /** The sum over all series of a name that have these labels. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number;
}

/** Reads the text format 0.0.4; throws at a line that is none of it. */
export function parseExposition(text: string): Exposition {
  const samples: Sample[] = [];
  const types = new Map<string, string>();
  for (const line of text.split("\n")) {
    const type = /^# TYPE (\S+) (counter|gauge|histogram|summary|untyped)$/.exec(line);
    if (type !== null) types.set(type[1]!, type[2]!);
    if (line === "" || line.startsWith("#")) continue;
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (sample === null) throw new Error(`not a sample: ${line}`);
    const value = sample[3] === "Nan" ? Number.NaN : Number(sample[3]!.replace("+Inf", "Infinity"));
    samples.push({ name: sample[1]!, labels: parseLabels(sample[2] ?? ""), value });
  }
  const sum: Exposition["sum"] = (name, labels = {}) =>
    samples
      .filter(
        (each) => each.name === name && Object.entries(labels).every(([key, value]) => each.labels[key] === value),
      )
      .reduce((total, { value }) => total + value, 0);
  return { samples, types, sum };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const rest = text.replace(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?/g, (_, name: string, value: string) => {
    labels[name] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
    return "";
  });
  if (rest !== "") throw new Error(`not labels: ${text}`);
  return labels;
}

/** Runs a command to its end. */
export async function run(words: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [program, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (piece) => {
    out += piece;
  });
  child.stderr.on("data", (piece) => {
    err += piece;
  });
  const [code] = (await once(child, "close")) as [number];
  return { code, out, err };
}
