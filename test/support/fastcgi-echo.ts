/** A FastCGI application that answers each request with its parameters, as JSON: what PHP would find in `$_SERVER`. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Test } from "tap";

const [begin, end, params, stdin, stdout] = [1, 3, 4, 5, 6];

/** Its address, `127.0.0.1:port`. It ends with the test. */
export async function fastcgiEcho(t: Test): Promise<string> {
  const server = createServer((socket) => serve(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function serve(socket: Socket): void {
  let bytes: Buffer = Buffer.alloc(0);
  let sent: Buffer = Buffer.alloc(0);
  socket.on("error", () => socket.destroy());
  socket.on("data", (more: Buffer) => {
    bytes = Buffer.concat([bytes, more]);
    for (;;) {
      const length = bytes.length < 8 ? Number.POSITIVE_INFINITY : 8 + bytes.readUInt16BE(4) + bytes[6]!;
      if (bytes.length < length) return;
      const [type, content] = [bytes[1], bytes.subarray(8, 8 + bytes.readUInt16BE(4))];
      bytes = bytes.subarray(length);
      if (type === begin) sent = Buffer.alloc(0);
      else if (type === params) sent = Buffer.concat([sent, content]);
      else if (type === stdin && content.length === 0) {
        const body = `Content-Type: application/json\r\n\r\n${JSON.stringify(pairsOf(sent))}`;
        socket.end(
          Buffer.concat([record(stdout!, Buffer.from(body)), record(stdout!, ""), record(end!, "\0".repeat(8))]),
        );
      }
    }
  });
}

function record(type: number, content: Buffer | string): Buffer {
  const body = Buffer.from(content);
  const head = Buffer.from([1, type, 0, 1, 0, 0, 0, 0]);
  head.writeUInt16BE(body.length, 4);
  return Buffer.concat([head, body]);
}

/** Lengths of up to 127 have one byte, others four. */
function pairsOf(bytes: Buffer): Record<string, string> {
  const pairs: Record<string, string> = {};
  let at = 0;
  const length = (): number => {
    const isShort = bytes[at]! < 128;
    const value = isShort ? bytes[at]! : bytes.readUInt32BE(at) & 0x7fffffff;
    at += isShort ? 1 : 4;
    return value;
  };
  const text = (count: number): string => {
    at += count;
    return bytes.toString("latin1", at - count, at);
  };
  while (at < bytes.length) {
    const [name, value] = [length(), length()];
    pairs[text(name)] = text(value);
  }
  return pairs;
}
