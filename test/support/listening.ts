/** Lets a test's server listen, and ends it with the test. */
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import type { Test } from "tap";

/** Lets the server listen on a free port of the loopback address, until the end of the test; returns `127.0.0.1:port`. */
export async function listening(
  t: Test,
  server: Server & { readonly closeAllConnections?: () => void },
): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections?.();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
