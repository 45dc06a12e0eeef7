/** A first account on a running process, and requests in its name. */
import { browserHeaders, event } from "../support/batches.js";
import { type Operated, run } from "./process.js";

export interface Tenant {
  readonly accountId: number;
  readonly projectId: number;
  readonly token: string;
  readonly siteKey: string;
  readonly privateKey: string;
}

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers without a type for each
  readonly json: any;
}

export interface Ask {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

async function send(port: number, method: string, path: string, { token, headers, body }: Ask = {}): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, json: text.startsWith("{") ? JSON.parse(text) : undefined };
}

/** The first account, made by `init`, its project with scoring enabled. */
export async function tenantOf({ port, dataDir }: Operated): Promise<Tenant> {
  const made = JSON.parse((await run(["init", "--json", "--data-dir", dataDir])).out);
  const enabled = await send(port, "POST", `/v1/projects/${made.project_id}/scoring`, { token: made.account_token });
  return {
    accountId: made.account_id,
    projectId: made.project_id,
    token: made.account_token,
    siteKey: enabled.json.site_key,
    privateKey: enabled.json.private_key,
  };
}

/** Requests to a process; `ingest` sends a batch as a usual browser would. */
export function client({ port }: Operated, { siteKey }: Tenant) {
  const ask = (method: string, path: string, options: Ask = {}): Promise<Answer> => send(port, method, path, options);
  const ingest = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    ask("POST", "/v1/events", { body, headers: { ...browserHeaders, "x-service-site-key": siteKey, ...headers } });
  return { ask, ingest };
}

/** A first-contact batch of two events in which the browser says that it is driven. */
export function robotBatch(id: string): object {
  const driven = { ...event(`${id}-env-0000`, { webdriver: true }), type: "env" };
  return { session_token: null, events: [driven, event(`${id}-page-000`)] };
}
