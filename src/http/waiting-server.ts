/**
 * Answers in the place of a server that is still waiting for its cluster, on its address and on the admin address: it lives, it is not ready, and everything else may be asked again. Node's
 * own server: nothing of the API is served here.
 */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { HealthAnswer } from "../contract/api-answers.js";

/** Listens on the port that the server will have; close it before that one listens. */
export interface WaitingServer {
  readonly port: number;
  /** Lets the port go. */
  close(): Promise<void>;
}

/** Address and certificate of the server that waits, and what it says of itself. */
export interface WaitingOptions {
  readonly host: string;
  readonly port: number;
  /** PEM; absent: without TLS. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** The body of `/readyz`, now. */
  readonly readiness: () => HealthAnswer;
}

/** Rejects when the port can't be had. */
export async function startWaitingServer({ host, port, tls, readiness }: WaitingOptions): Promise<WaitingServer> {
  const answer = answerOf(readiness);
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  await once(server.listen(port, host), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const unavailable = {
  error: "Service unavailable",
  message: "the store can't be reached yet: ask again",
  code: "UNAVAILABLE",
};

const answerOf =
  (readiness: WaitingOptions["readiness"]): RequestListener =>
  (request, response) => {
    const path = request.url?.replace(/\?.*$/s, "");
    const [status, body] =
      path === "/healthz" ? [200, { status: "ok" }] : path === "/readyz" ? [503, readiness()] : [503, unavailable];
    response
      .writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store", Connection: "close" })
      .end(JSON.stringify(body));
  };
