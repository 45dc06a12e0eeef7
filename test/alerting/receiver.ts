/** A receiver of alerts over a real socket, which answers as a test wants it to. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { Test } from "tap";
import { listening } from "../support/listening.js";

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Resolves with so many requests received. */
  until(count: number): Promise<void>;
}

/** Listens on a port of its own until the test is over. `answer`: default 204. */
export async function startReceiver(
  t: Test,
  answer: (reply: ServerResponse, count: number) => void = (reply) => reply.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer((request, reply) => {
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => {
      body += piece;
    });
    request.on("end", () => {
      received.push({ path: request.url ?? "", headers: request.headers, body });
      answer(reply, received.length);
      for (const each of waiting) if (received.length >= each.count) each.resolve();
    });
  });
  return {
    url: `http://${await listening(t, server)}/hook/secret-path`,
    received,
    until: (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}
