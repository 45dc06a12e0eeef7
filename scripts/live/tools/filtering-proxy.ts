/** A privacy proxy between a browser and the site: takes headers off its requests. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** A running proxy. */
interface FilteringProxy {
  /** Chromium's switches to use it, for loopback too. */
  readonly args: readonly string[];
  close(): Promise<void>;
}

/** Takes off what begins with `sec-`, and `others`. */
export async function startFilteringProxy(others: readonly string[]): Promise<FilteringProxy> {
  const server = createServer((incoming, response) => {
    const kept = Object.entries(incoming.headers).filter(
      ([name]) => !name.startsWith("sec-") && !name.startsWith("proxy-") && !others.includes(name),
    );
    const outgoing = request(
      incoming.url!,
      { method: incoming.method, headers: Object.fromEntries(kept) as Record<string, string> },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    args: [`--proxy-server=http://127.0.0.1:${port}`, "--proxy-bypass-list=<-loopback>"],
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
