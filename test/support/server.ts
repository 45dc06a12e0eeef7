/**
 * A running server with its store opened beside it, and tenants on it: what most tests that speak HTTP need. Everything is gone at the
 * end of the test. It knows nothing of what the tests claim.
 */
import type { Test } from "tap";
import type { Role } from "../../src/contract/configuration/entities.js";
import type { ScoredState } from "../../src/contract/sessions/session.js";
import { decodeSessionToken } from "../../src/contract/sessions/session-token.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { createFirstAccount } from "../../src/control-plane/accounts/first-account.js";
import { Projects } from "../../src/control-plane/accounts/projects.js";
import { Refusal } from "../../src/errors.js";
import { sessionKey } from "../../src/store/keys.js";
import type { Store } from "../../src/store/store.js";
import type { Answer } from "./ask.js";
import { json, type Served, serve } from "./process.js";
import { countRows, openTestStore, storeUrlFor } from "./test-store.js";
import { waitUntil } from "./wait-until.js";

export type { Answer } from "./ask.js";

/** A running `verdictd serve`. */
export interface TestServer extends Served {
  /** The server's store, opened beside it as the command line does. */
  readonly store: Store;
  /** Runs a command of the command line on the same store; what it prints with `--json`. */
  // biome-ignore lint/suspicious/noExplicitAny: every command prints its own form
  command(...words: string[]): Promise<any>;
  /** The flags of commands that name this store. */
  readonly where: readonly string[];
  /** What is stored of a session now; null: nothing. */
  scoredState(projectId: number, token: string): Promise<ScoredState | null>;
  /** How many sessions are stored. */
  sessionCount(): Promise<number>;
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
  const url = await storeUrlFor(dataDir);
  const where = url === "" ? [] : ["--store", url];
  const served = await serve(t, dataDir, { flags });
  const store = await openTestStore(dataDir);
  t.teardown(() => store.close());
  return Object.assign(served, {
    store,
    where: ["--data-dir", dataDir, ...where],
    command: (...words: string[]) => json(dataDir, ...words),
    scoredState: async (projectId: number, token: string) => {
      const bytes = decodeSessionToken(token);
      if (bytes !== null) await store.rows.load([sessionKey(projectId, bytes)], "certain");
      // Loads the engines, which most test files do without.
      const { Sessions } = await import("../../src/control-plane/sessions/sessions.js");
      return new Sessions(store).scoredState(projectId, token);
    },
    sessionCount: () => countRows(store, "sessions"),
  });
}

/** The first account of the store, made beside the server as `init` does, with scoring enabled over HTTP. */
export async function firstTenant(server: TestServer): Promise<Tenant> {
  const { store } = server;
  const made = done(await createFirstAccount(new Accounts(store, Date.now), new Projects(store, Date.now)));
  return enabled(server, made.accountId, made.userId, made.projectId, made.accountToken);
}

interface TenantOptions {
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

/** Asks as the owner of this token; paths are below `base`. */
export function askerAs(server: Pick<TestServer, "ask">, token: string, base = "") {
  return (method: string, path: string, body?: unknown): Promise<Answer> =>
    server.ask(method, base + path, { token, body });
}

/** Asks again until `isDone` says so; the last answer. Rejects after a minute. */
export const askUntil = waitUntil<Answer>;
