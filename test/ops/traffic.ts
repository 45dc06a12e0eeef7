/** A first account on a running process, and requests in its name. */
import type { Answer } from "../support/ask.js";
import { browserHeaders, event } from "../support/batches.js";
import { json, type Served } from "../support/process.js";

export interface Tenant {
  readonly accountId: number;
  readonly projectId: number;
  readonly token: string;
  readonly siteKey: string;
  readonly privateKey: string;
}

/** What `init` prints. */
interface Made {
  readonly account_id: number;
  readonly project_id: number;
  readonly account_token: string;
}

/** The first account, made by `init`, its project with scoring enabled. */
export async function tenantOf({ ask, dataDir }: Served): Promise<Tenant> {
  const made = await json<Made>(dataDir, "init");
  const enabled = await ask("POST", `/v1/projects/${made.project_id}/scoring`, { token: made.account_token });
  return {
    accountId: made.account_id,
    projectId: made.project_id,
    token: made.account_token,
    siteKey: enabled.json.site_key,
    privateKey: enabled.json.private_key,
  };
}

/** Requests to a process; `ingest` sends a batch as a usual browser would. */
export function client({ ask }: Served, { siteKey }: Tenant) {
  const ingest = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    ask("POST", "/v1/events", { body, headers: { ...browserHeaders, "x-service-site-key": siteKey, ...headers } });
  return { ask, ingest };
}

/** A first-contact batch of two events in which the browser says that it is driven. */
export function robotBatch(id: string): object {
  const driven = { ...event(`${id}-env-0000`, { webdriver: true }), type: "env" };
  return { session_token: null, events: [driven, event(`${id}-page-000`)] };
}
