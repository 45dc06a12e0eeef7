/** A client that keeps its connections and tells when one of them fails, for tests of load, crashes and stops. */
import { Agent, request } from "node:http";
import { parsedJson } from "./ask.js";

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers without a type for each
  readonly json: any;
}

/** A client that keeps its connections. Rejects when a connection fails; retries nothing by itself. */
export class Client {
  readonly #agent: Agent;
  readonly port: number;
  readonly #host: string;

  constructor(port: number, connectionsMax = 16, host = "127.0.0.1") {
    this.port = port;
    this.#host = host;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connectionsMax });
  }

  ask(method: string, path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Reply> {
    const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const asked = request(
        { host: this.#host, port: this.port, method, path, headers, agent: this.#agent },
        (answer) => {
          let all = "";
          answer.setEncoding("utf8").on("data", (piece: string) => {
            all += piece;
          });
          answer.on("end", () => {
            resolve({ status: answer.statusCode!, headers: answer.headers, json: parsedJson(all) });
          });
          answer.on("error", reject);
        },
      );
      asked.on("error", reject);
      asked.end(text);
    });
  }

  /** Sends a batch. */
  send(siteKey: string, body: unknown, idempotencyKey?: string): Promise<Reply> {
    return this.ask(
      "POST",
      "/v1/events",
      {
        "x-service-site-key": siteKey,
        "content-type": "application/json",
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
      body,
    );
  }

  close(): void {
    this.#agent.destroy();
  }
}
