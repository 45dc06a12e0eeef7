/**
 * The real program for tests: `verdictd serve` as a child process on a folder of the test's own, set up through the real command
 * line, spoken to over real sockets. Everything is gone at the end of the test. It knows nothing of what the tests claim.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";
import type { Role } from "../../src/contract/entities.js";
import { Accounts } from "../../src/control-plane/accounts.js";
import { Projects } from "../../src/control-plane/projects.js";
import { Refusal } from "../../src/errors.js";
import { openStore, type Store } from "../../src/store/store.js";

const program = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));

/** An HTTP answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined for a body that is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers without a type for each
  readonly json: any;
}

export interface Ask {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, or as it is when it is text or bytes. */
  readonly body?: unknown;
}

/** A running `verdictd serve`. */
export interface TestServer {
  readonly port: number;
  readonly dataDir: string;
  /** The server's store, opened beside it as the command line does. */
  readonly store: Store;
  ask(method: string, path: string, ask?: Ask): Promise<Answer>;
  /** Runs a command of the command line on the same store; what it prints with `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: every command prints its own form
  command(...words: string[]): Promise<any>;
  /** Ends the process with this signal and waits until it is gone. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** An account with a project whose scoring is enabled, and all its credentials. */
export interface Tenant {
  readonly accountId: number;
  readonly userId: number;
  readonly projectId: number;
  readonly token: string;
  readonly siteKey: string;
  readonly privateKey: string;
}

/** Starts a server on `dataDir` (default: a new folder) with these flags of `serve`. Ended with the test. */
export async function startServer(t: Test, flags: readonly string[] = [], dataDir = t.testdir()): Promise<TestServer> {
  const child = spawn(
    process.execPath,
    [program, "serve", "--port", "0", "--admin-port", "0", "--data-dir", dataDir, ...flags],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  };
  t.teardown(() => end("SIGKILL"));
  const port = await portOf(child);
  const store = openStore(dataDir);
  t.teardown(() => store.close());
  return {
    port,
    dataDir,
    store,
    end,
    ask: (method, path, ask = {}) => askOver(`http://127.0.0.1:${port}${path}`, method, ask),
    command: (...words) => runCommand([...words, "--json", "--data-dir", dataDir]),
  };
}

/** The port of the log line that says the server listens. */
async function portOf(child: ChildProcess): Promise<number> {
  const lines = createInterface({ input: child.stdout! });
  for await (const line of lines) {
    const entry = line.startsWith("{") ? (JSON.parse(line) as { msg?: string; port?: number }) : {};
    if (entry.msg === "listening" && entry.port !== undefined) {
      // Nobody reads the rest of the log; a full pipe must not stop the server.
      lines.close();
      child.stdout!.resume();
      return entry.port;
    }
  }
  throw new Error("the server ended before it listened");
}

async function askOver(url: string, method: string, { token, headers = {}, body }: Ask): Promise<Answer> {
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const answer = await fetch(url, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && !isRaw && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a command prints; rejects with its stderr when it fails. */
async function runCommand(words: readonly string[]): Promise<unknown> {
  const child = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (piece) => {
    out += piece;
  });
  child.stderr.on("data", (piece) => {
    err += piece;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`verdictd ${words.join(" ")}: ${err}`);
  return JSON.parse(out);
}

/** The first account of the store, made by `init`, with scoring enabled over HTTP. */
export async function firstTenant(server: TestServer): Promise<Tenant> {
  const made = await server.command("init");
  return enabled(server, made.account_id, made.user_id, made.project_id, made.account_token);
}

export interface TenantOptions {
  readonly plan?: string;
  readonly role?: Role;
  readonly abilities?: readonly string[];
}

/** One more account, made on the store beside the server, with scoring enabled over HTTP. `slug` names account and user. */
export async function anotherTenant(server: TestServer, slug: string, options: TenantOptions = {}): Promise<Tenant> {
  const { plan = "pro", role = "owner", abilities = ["*"] } = options;
  const accounts = new Accounts(server.store, Date.now);
  const account = done(
    await accounts.createAccount({ name: slug, slug, plan, isPersonal: false, subscription: "active" }),
  );
  const user = done(await accounts.createUser(slug, `${slug}@example.com`));
  done(await accounts.setMember(account.id, user.id, role));
  const projectId = await newProject(server, account.id);
  const token = await newToken(server, account.id, user.id, abilities);
  return enabled(server, account.id, user.id, projectId, token);
}

/** The id of one more project of the account, its scoring not enabled. */
export async function newProject(server: TestServer, accountId: number): Promise<number> {
  return done(await new Projects(server.store, Date.now).create(accountId, "Another")).id;
}

/** The secret of one more account token. */
export async function newToken(
  server: TestServer,
  accountId: number,
  userId: number,
  abilities: readonly string[],
): Promise<string> {
  return done(await new Accounts(server.store, Date.now).createToken({ accountId, userId, abilities })).secret;
}

function done<T>(value: T | Refusal): T {
  if (value instanceof Refusal) throw new Error(value.message);
  return value;
}

async function enabled(
  server: TestServer,
  accountId: number,
  userId: number,
  projectId: number,
  token: string,
): Promise<Tenant> {
  const { json } = await server.ask("POST", `/v1/projects/${projectId}/scoring`, { token });
  return { accountId, userId, projectId, token, siteKey: json.site_key, privateKey: json.private_key };
}

/** Asks again until `isDone` says so, a bounded number of times; the last answer. */
export async function askUntil(ask: () => Promise<Answer>, isDone: (answer: Answer) => boolean): Promise<Answer> {
  let answer = await ask();
  for (let tries = 0; tries < 400 && !isDone(answer); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    answer = await ask();
  }
  return answer;
}
