/** A WebSocket as far as proxies know of it: the upgrade, then bytes. For applications that send back what they get. */
import { request } from "node:http";

/** What comes back for "hello", or the status of a refusal. */
export function socketEcho(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((done, failed) => {
    const asked = request(url, {
      headers: { ...headers, Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Key": "x" },
    });
    asked.on("response", (answer) => {
      answer.resume();
      done(String(answer.statusCode));
    });
    asked.on("upgrade", (_answer, socket) => {
      socket.once("data", (bytes: Buffer) => {
        socket.destroy();
        done(bytes.toString("latin1"));
      });
      socket.write("hello");
    });
    asked.on("error", failed);
    asked.end();
  });
}
