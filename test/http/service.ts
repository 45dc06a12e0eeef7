/** A whole server in this process on a folder of the test's own, spoken to over real sockets. Gone at the end of the test. */
import type { Test } from "tap";
import { type GivenFlags, readServeConfig } from "../../src/config/config.js";
import type { Account, Project, Role } from "../../src/contract/configuration/entities.js";
import { Refusal } from "../../src/errors.js";
import { createLog, type RunningServer, startServer } from "../../src/server/http-thread.js";
import { browserHeaders } from "../support/batches.js";
import { storeUrlFor } from "../support/test-store.js";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as JSON; undefined for one that is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers without a type for each
  readonly json: any;
}

export interface Ask {
  /** Sent as `Authorization: Bearer`. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, or as it is when it is text. */
  readonly body?: unknown;
}

/** An account with a project whose scoring is enabled. */
export interface Tenant {
  readonly account: Account;
  readonly project: Project;
  readonly token: string;
  readonly siteKey: string;
  readonly privateKey: string;
}

interface TenantOptions {
  readonly plan?: string;
  readonly role?: Role;
  readonly abilities?: readonly string[];
}

/** Headers that say themselves that no person is there: sessions that send them are bots beyond doubt. */
export const toolHeaders = { "user-agent": "python-requests/2.31.0" } as const;

export class Service {
  readonly server: RunningServer;
  #tenants = 0;

  constructor(server: RunningServer) {
    this.server = server;
  }

  async ask(method: string, path: string, { as, headers = {}, body }: Ask = {}): Promise<Answer> {
    const answer = await fetch(`http://127.0.0.1:${this.server.port}${path}`, {
      method,
      redirect: "manual",
      headers: { ...(as !== undefined && { authorization: `Bearer ${as}` }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, json: text === "" ? undefined : parsed(text) };
  }

  /** One more account with a user and a project of this name. */
  async tenant(name: string, { plan = "business", role = "owner", abilities = ["*"] }: TenantOptions = {}) {
    const { accounts, projects } = this.server;
    const slug = `${name}-${++this.#tenants}`;
    const account = good(await accounts.createAccount({ name, slug, plan, isPersonal: false, subscription: "active" }));
    const user = good(await accounts.createUser(name, `${slug}@example.com`));
    good(await accounts.setMember(account.id, user.id, role));
    const made = good(await projects.create(account.id, name));
    const { project, siteKey, privateKey } = good(await projects.enableScoring(made.id));
    const { secret: token } = good(await accounts.createToken({ accountId: account.id, userId: user.id, abilities }));
    return { account, user, project, token, siteKey, privateKey: privateKey! };
  }

  /** Sends a batch of a usual browser; the session's token. */
  async ingest(tenant: Tenant, batch: object, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const answer = await this.ask("POST", "/v1/events", {
      headers: { ...browserHeaders, "x-service-site-key": tenant.siteKey, ...headers },
      body: batch,
    });
    if (answer.status !== 202) throw new Error(`ingest: ${answer.status} ${JSON.stringify(answer.json)}`);
    return answer.json.session_token;
  }

  /** Every row of a log, page by page; `between` runs after each page. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of any log
  async walk(path: string, as: string, limit: number, between: () => Promise<void> = async () => {}): Promise<any[]> {
    const rows: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const query: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { status, json } = await this.ask("GET", `${path}?limit=${limit}${query}`, { as });
      if (status !== 200) throw new Error(`${path}: ${status}`);
      rows.push(...json.data);
      cursor = json.meta.next_cursor;
      await between();
    }
    return rows;
  }
}

/** Starts a server with these flags of `serve`. */
export async function startService(t: Test, flags: GivenFlags = {}): Promise<Service> {
  const dataDir = t.testdir();
  const url = await storeUrlFor(dataDir);
  const store = url === "" ? {} : { store: url, "store-deadline-ms": "5000" };
  const read = readServeConfig(
    {
      "data-dir": dataDir,
      ...store,
      port: "0",
      "admin-port": "0",
      "http-threads": "1",
      "scoring-threads": "1",
      ...flags,
    },
    { VERDICTD_LOG_LEVEL: "error" },
  );
  if ("mistakes" in read) throw new Error(read.mistakes.join("; "));
  const server = await startServer(read.config, createLog(read.config.logLevel));
  t.teardown(() => server.stop());
  return new Service(server);
}

export function good<T>(outcome: T | Refusal): T {
  if (outcome instanceof Refusal) throw new Error(outcome.message);
  return outcome;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
