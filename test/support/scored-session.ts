/** A session with a score, made as a browser makes it: by its first batch. */
import { browserHeaders } from "./batches.js";
import { askUntil, type Tenant, type TestServer } from "./server.js";

/** Sends the batch with the headers of a browser, and waits for the score; the session's token. */
export async function scoredSession(
  server: TestServer,
  { siteKey, token, projectId }: Tenant,
  body: object,
): Promise<string> {
  const headers = { ...browserHeaders, "x-service-site-key": siteKey };
  const { session_token } = (await server.ask("POST", "/v1/events", { headers, body })).json;
  await askUntil(
    () => server.ask("GET", `/v1/projects/${projectId}/sessions/${session_token}`, { token }),
    ({ json }) => json.verdict !== "not_computed",
  );
  return session_token;
}
