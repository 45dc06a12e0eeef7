/** Ingest batches for tests: events of people and of declared automation, with request ids that say where they come from. */

export interface EventBody {
  request_id: string;
  type: string;
  received_at: string;
  payload: Record<string, unknown>;
}

/** A well-formed event. `id` is its request id: at least 8 characters. */
export function event(id: string, payload: Record<string, unknown> = { path: "/", visible_ms: 400 }): EventBody {
  return { request_id: id, type: "page", received_at: new Date().toISOString(), payload };
}

/** `count` events whose ids begin with `prefix`: the same prefix makes the same ids. */
export function events(prefix: string, count: number): EventBody[] {
  return Array.from({ length: count }, (_, index) => event(`${prefix}-${String(index).padStart(8, "0")}`));
}

/** A first-contact batch. */
export function batch(prefix: string, count = 1, sessionToken: string | null = null): object {
  return { session_token: sessionToken, events: events(prefix, count) };
}

/** A first-contact batch of a browser that says it is automated: a bot band by heuristics. */
export function automatedBatch(prefix: string): object {
  return {
    session_token: null,
    events: [{ ...event(`${prefix}-00000000`, { webdriver: true }), type: "env" }, event(`${prefix}-00000001`)],
  };
}

/** Headers of a usual browser, so that nothing but the events speaks against a session. */
export const browserHeaders = {
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  accept: "*/*",
  "accept-language": "en-GB,en;q=0.9",
  "accept-encoding": "gzip, deflate, br, zstd",
  "sec-ch-ua": '"Chromium";v="140", "Not=A?Brand";v="24"',
  "sec-ch-ua-mobile": "?0",
  "sec-ch-ua-platform": '"Linux"',
  "sec-fetch-site": "cross-site",
  "sec-fetch-mode": "cors",
  "sec-fetch-dest": "empty",
  origin: "https://shop.example",
  referer: "https://shop.example/",
} as const;
