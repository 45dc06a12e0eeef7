/** One request to a server on loopback, and its answer read to the end; for tests that look at answers and not at connections. */

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
  /** Sent as bearer. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, or as it is when it is text or bytes. */
  readonly body?: unknown;
}

/** Asks the server that listens on this port. */
export async function ask(
  port: number,
  method: string,
  path: string,
  { token, headers = {}, body }: Ask = {},
): Promise<Answer> {
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    // Where an answer leads to is for the test to see.
    redirect: "manual",
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && !isRaw && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: parsedJson(text) };
}

/** The text as JSON; undefined when it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
