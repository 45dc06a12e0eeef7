/** What stands between a client under test and a real verdictd: passes requests on, keeps what was asked, and fails as a scenario says. */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { Test } from "tap";
import { listening } from "../support/listening.js";

/** How the front answers in place of verdictd. `pass`: not at all, verdictd does. */
export type Fault =
  | "pass"
  /** Never answers. */
  | "hangs"
  /** Closes the connection without an answer. */
  | "closes"
  /** Sends bytes that are no HTTP. */
  | "babbles"
  /** Sends a body without end. */
  | "endless"
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };

/** A request as it arrived. */
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed; null for none. */
  readonly body: unknown;
  /** All that was sent, to look for what must not be. */
  readonly text: string;
}

export interface Front {
  readonly url: string;
  fault: Fault;
  /** Since it was last emptied. */
  readonly asked: Asked[];
}

/** A front of the server at `verdictd`; closed with the test. */
export async function startFront(t: Test, verdictd: string): Promise<Front> {
  const front: { url: string; fault: Fault; asked: Asked[] } = { url: "", fault: "pass", asked: [] };
  const server = createServer((incoming, response) => {
    const pieces: Buffer[] = [];
    incoming.on("error", () => {});
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    incoming.on("end", () => {
      const body = Buffer.concat(pieces);
      front.asked.push(askedOf(incoming, body));
      answer(front.fault, verdictd, incoming, body, response);
    });
  });
  return Object.assign(front, { url: `http://${await listening(t, server)}` });
}

function askedOf({ method = "", url = "", headers, rawHeaders }: IncomingMessage, body: Buffer): Asked {
  const parsed: unknown = body.length === 0 ? null : JSON.parse(body.toString());
  return { method, path: url, headers, body: parsed, text: `${url}\n${rawHeaders.join("\n")}\n${body.toString()}` };
}

function answer(
  fault: Fault,
  verdictd: string,
  incoming: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
): void {
  if (fault === "hangs") return;
  if (fault === "closes") incoming.socket.destroy();
  else if (fault === "babbles") incoming.socket.end("SSH-2.0-OpenSSH_9.2\r\n\r\n");
  else if (fault === "endless") sendWithoutEnd(response);
  else if (fault === "pass") passOn(verdictd, incoming, body, response);
  else {
    const { status, body: given = {}, headers = {} } = fault;
    response.writeHead(status, { "X-Request-Id": "front-1", ...headers });
    response.end(typeof given === "string" ? given : JSON.stringify(given));
  }
}

function sendWithoutEnd(response: ServerResponse): void {
  const piece = "x".repeat(65_536);
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", write);
  write();
}

function passOn(verdictd: string, incoming: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const { method, url, headers } = incoming;
  const passed = request(verdictd + url, { method, headers }, (answered) => {
    response.writeHead(answered.statusCode!, answered.headers);
    answered.pipe(response);
  });
  passed.on("error", () => response.destroy());
  passed.end(body);
}
