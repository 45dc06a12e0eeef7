/** A first account on a running process, and requests in its name. */
import type { Answer } from "../support/ask.js";
import { browserHeaders, event } from "../support/batches.js";
import { makeOwner, type Owner } from "../support/owner.js";
import type { Served } from "../support/process.js";

/** The first account, made beside the process, its project with scoring enabled. */
export function tenantOf({ dataDir }: Served): Promise<Owner> {
  return makeOwner(dataDir);
}

/** Requests to a process; `ingest` sends a batch as a usual browser would. */
export function client({ ask }: Served, { siteKey }: Owner) {
  const ingest = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    ask("POST", "/v1/events", { body, headers: { ...browserHeaders, "x-service-site-key": siteKey, ...headers } });
  return { ask, ingest };
}

/** A first-contact batch of two events in which the browser says that it is driven. */
export function robotBatch(id: string): object {
  const driven = { ...event(`${id}-env-0000`, { webdriver: true }), type: "env" };
  return { session_token: null, events: [driven, event(`${id}-page-000`)] };
}
