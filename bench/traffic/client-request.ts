/**
 * What verdictd's own client sends, byte by byte: each request is made once, by `src/client`, to a socket that only listens. So the bench asks as
 * the middlewares do, whatever headers they and `node:http` put in.
 */

import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { createClient, type VerdictClient } from "../../src/client/client.js";
import { tokenPlaceholder } from "../load/batches.js";

/** A request with placeholders for what differs from visitor to visitor; its `Host` line is that of the socket. */
export type ClientRequest = string;

/** In place of the path's part, of the address and of the user agent. */
export const pathPlaceholder = "/a-path-to-be-written/0000";
export const addressPlaceholder = "140.100.100.100";
export const agentPlaceholder = "a-user-agent-to-be-written";

/** The page that a visitor comes from; its number differs from page to page. */
export const pageBeforePlaceholder = "https://shop.example/the-page-before/0000";

/** A browser's fifteen lines of a navigation, as its server gets them. */
export const navigationHeaders = [
  ["Host", "shop.example"],
  ["Connection", "keep-alive"],
  ["sec-ch-ua", '"Chromium";v="156", "Google Chrome";v="156", "Not?A_Brand";v="99"'],
  ["sec-ch-ua-mobile", "?0"],
  ["sec-ch-ua-platform", '"Windows"'],
  ["Upgrade-Insecure-Requests", "1"],
  [
    "User-Agent",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
  ],
  [
    "Accept",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
  ],
  ["Sec-Fetch-Site", "same-origin"],
  ["Sec-Fetch-Mode", "navigate"],
  ["Sec-Fetch-User", "?1"],
  ["Sec-Fetch-Dest", "document"],
  ["Referer", pageBeforePlaceholder],
  ["Accept-Encoding", "gzip, deflate, br, zstd"],
  ["Accept-Language", "en-US,en;q=0.9"],
] as const;

/** What the middlewares know of a request. */
const context = {
  path: pathPlaceholder,
  method: "GET",
  host: "shop.example",
  ip: addressPlaceholder,
  userAgent: agentPlaceholder,
} as const;

/** `GET /v1/sessions/…/verdict`, as the middlewares ask by default. */
export function verdictRead(privateKey: string): Promise<ClientRequest> {
  return captured(privateKey, (client) => client.verdict(tokenPlaceholder, context));
}

/** `POST /v1/verdict`, as they ask with `requests: true`: about a visitor with a session, or without one. */
export function judgedRequest(privateKey: string, hasSession: boolean): Promise<ClientRequest> {
  const asked = { ...context, headers: navigationHeaders };
  return captured(privateKey, (client) => client.judge(hasSession ? tokenPlaceholder : null, asked));
}

/** As long as each other. */
const languages = ["en-US,en", "de-DE,de", "fr-FR,fr", "es-ES,es", "it-IT,it"];
/** Of Chromium, the newest ones. */
const versions = 8;

/** The same request from other browsers, as often as they differ, in as many bytes: a body's length is said in its head. */
export function fromBrowsers(request: ClientRequest): ClientRequest[] {
  return Array.from({ length: versions * languages.length }, (_, index) =>
    request
      .replaceAll(/(Chrome\/|v=\\?")156/g, (_all, before: string) => `${before}${156 - (index % versions)}`)
      .replace("en-US,en", languages[Math.floor(index / versions)]!),
  );
}

async function captured(privateKey: string, ask: (client: VerdictClient) => Promise<unknown>): Promise<ClientRequest> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    const request = new Promise<string>((resolve, reject) => {
      server.once("connection", (socket) => wholeRequest(socket).then(resolve, reject));
    });
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const asked = ask(createClient({ baseUrl, privateKey, timeoutMs: 10_000, onError: () => {} }));
    const text = await request;
    await asked;
    return text;
  } finally {
    server.close();
  }
}

/** Reads one request with its body, then closes the connection. */
function wholeRequest(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.setEncoding("latin1");
    socket.on("error", reject);
    socket.on("data", (piece: string) => {
      text += piece;
      const head = text.indexOf("\r\n\r\n");
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (head === -1 || text.length < head + 4 + length) return;
      socket.destroy();
      resolve(text);
    });
  });
}
