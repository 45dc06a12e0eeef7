/** Commands to one Redis server over a plain socket, so that tests of the client do not depend on it. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { RespEncoder } from "../../src/cluster/resp-encoder.js";
import { ErrorReply, RespParser, type RespReply } from "../../src/cluster/resp-parser.js";

/** An error that the server answered. */
export class RedisFault extends Error {}

/** How a server is reached. */
interface AskedServer {
  readonly password?: string;
  readonly tls?: { readonly certificate: string };
}

/** One command; throws a `RedisFault` for an error that the server answered. */
export type Asker = (command: readonly (string | Uint8Array)[]) => Promise<RespReply>;

/** Connects, with a password where one is given. */
export async function openAsker(host: string, port: number, { tls, password }: AskedServer): Promise<Asker> {
  const waiting: { done: (reply: RespReply) => void; failed: (error: Error) => void }[] = [];
  const encoder = new RespEncoder();
  const socket: Socket =
    tls === undefined ? connectTcp({ host, port }) : connectTls({ host, port, ca: readFileSync(tls.certificate) });
  socket.unref();
  const parser = new RespParser((reply) => {
    const { done, failed } = waiting.shift()!;
    if (reply instanceof ErrorReply) failed(new RedisFault(reply.message));
    else done(reply);
  });
  socket.on("data", (chunk: Buffer) => parser.write(chunk));
  const lost = (error: Error): void => {
    for (const { failed } of waiting.splice(0)) failed(error);
  };
  socket.on("error", lost).on("close", () => lost(new Error("the node closed the connection")));
  await once(socket, tls === undefined ? "connect" : "secureConnect");
  const ask: Asker = (command) =>
    new Promise((done, failed) => {
      if (socket.destroyed) return failed(new Error("the node closed the connection"));
      waiting.push({ done, failed });
      encoder.add(command);
      socket.write(encoder.take());
      encoder.release(false);
    });
  if (password !== undefined) await ask(["AUTH", password]);
  return ask;
}
