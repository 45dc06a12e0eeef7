/** Batches sent to a server that commands run beside. */
import { event } from "../support/batches.js";
import type { Served } from "../support/process.js";

/** Flags of a server that serves one test at a time. */
export const threads = ["--scoring-threads", "1", "--http-threads", "1"] as const;

const heartbeat = () => ({ ...event(crypto.randomUUID(), {}), type: "heartbeat" });

/** Sends one batch of `count` heartbeats; the session's token. Rejects with the status of a refusal. */
export async function ingest(
  server: Served,
  siteKey: string,
  count: number,
  token: string | null = null,
): Promise<string> {
  const { status, json, text } = await server.ask("POST", "/v1/events", {
    headers: { "x-service-site-key": siteKey, "idempotency-key": crypto.randomUUID() },
    body: { session_token: token, events: Array.from({ length: count }, heartbeat) },
  });
  if (status !== 202) throw new Error(`ingest answered ${status}: ${text}`);
  return json.session_token;
}
