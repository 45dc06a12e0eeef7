/** A server on loopback that answers as a test wants: for what a real one can't be made to do. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Test } from "tap";
import { RespParser, type RespReply } from "../../src/cluster/resp-parser.js";

/** A command that has arrived. */
interface FakeCommand {
  /** `GET key` */
  readonly text: string;
  /** Which connection it came on: 0, 1… in the order of their opening. */
  readonly connection: number;
  /** Sends a piece of an answer ahead. */
  send(text: string): void;
}

/** What is written to the connection, as RESP; `undefined` leaves it to the node. Commands behind it wait until it is there. */
type FakeAnswer = string | undefined | Promise<string | undefined>;

export interface FakeNode {
  readonly address: string;
  /** Commands that have come to their turn, greetings too. */
  readonly commands: readonly FakeCommand[];
}

/** Never: what follows on this connection is not answered either. */
export const noAnswer: Promise<never> = new Promise(() => {});

/** A simple string. */
export const ok = "+OK\r\n";

/** A bulk string. */
const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;

/** An answer to `CLUSTER SLOTS`: all slots are at the first node, the others are its replicas. */
export function slotsOf(...addresses: string[]): string {
  const nodes = addresses.map((address) => {
    const [host = "", port = ""] = address.split(":");
    return `*2\r\n${bulk(host)}:${port}\r\n`;
  });
  return `*1\r\n*${2 + nodes.length}\r\n:0\r\n:16383\r\n${nodes.join("")}`;
}

/** Starts a node that is a cluster of its own, and answers OK to everything else, as far as `answer` has no answer. */
export async function startFakeNode(
  t: Pick<Test, "teardown">,
  answer: (command: FakeCommand) => FakeAnswer = () => undefined,
): Promise<FakeNode> {
  const sockets = new Set<Socket>();
  const commands: FakeCommand[] = [];
  let address = "";
  const byItself = (text: string): string => {
    if (text === "CLUSTER SLOTS") return slotsOf(address);
    return text === "CLUSTER INFO" ? bulk("cluster_state:ok\r\n") : ok;
  };
  const server = createServer((socket) => {
    const connection = sockets.size;
    sockets.add(socket.on("error", () => {}));
    let before: Promise<unknown> = Promise.resolve();
    const parser = new RespParser((words) => {
      const text = (words as RespReply[]).map(String).join(" ");
      const command = { text, connection, send: (piece: string) => void socket.write(piece) };
      before = before.then(async () => {
        commands.push(command);
        socket.write((await answer(command)) ?? byItself(command.text));
      });
    });
    socket.on("data", (chunk: Buffer) => parser.write(chunk));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, commands };
}
