/** A server in place of verdictd, real but with answers of the test's own, and a client of it. */
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { Test } from "tap";
import { type ClientFailure, type ClientOptions, createClient } from "../../src/client/client.js";
import { listening } from "../support/listening.js";

export const privateKey = "sk_test";
export const good = { verdict: "definite", score: 3, action: "block", detection_ids: [100101], reason: "Bot." };
export const json = (value: unknown, status = 200): RequestListener => {
  return (_request, response) => response.writeHead(status, { "X-Request-Id": "id-1" }).end(JSON.stringify(value));
};

/** Sends as long as somebody reads. */
export const endless: RequestListener = (_request, response) => {
  const piece = "x".repeat(65_536);
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", write);
  write();
};

interface Site {
  readonly baseUrl: string;
  readonly requests: IncomingMessage[];
  connections: number;
  answer: RequestListener;
}

export async function site(t: Test, answer: RequestListener): Promise<Site> {
  const started: Site = { baseUrl: "", requests: [], connections: 0, answer };
  const server = createServer((request, response) => {
    started.requests.push(request);
    started.answer(request, response);
  });
  server.on("connection", () => started.connections++);
  return Object.assign(started, { baseUrl: `http://${await listening(t, server)}` });
}

export function clientOf(baseUrl: string, more: Partial<ClientOptions> = {}) {
  const failures: ClientFailure[] = [];
  // A busy machine must not look like a dead server.
  const patient = { timeoutMs: 10_000 };
  const client = createClient({
    baseUrl,
    privateKey,
    onError: (failure) => failures.push(failure),
    ...patient,
    ...more,
  });
  return { client, failures };
}
