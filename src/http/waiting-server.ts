/**
 * Answers for a server that still waits for its cluster, on both addresses: it is alive, it is not ready, and all else may be retried. It uses Node's
 * own server, because the API is not served here.
 */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { HealthAnswer } from "../contract/api/api-types.js";

/** Listens on the port that the server will use; close it before the server listens. */
interface WaitingServer {
  readonly port: number;
  /** Releases the port. */
  close(): Promise<void>;
}

/** Address and certificate of the waiting server, and its state. */
export interface WaitingOptions {
  readonly host: string;
  readonly port: number;
  /** PEM; absent without TLS. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
  /** Returns the current body of `/readyz`. */
  readonly readiness: () => HealthAnswer;
}

/** Rejects if it can't listen on the port. */
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
