/** Ports for what is started under an address that is known before. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port of loopback that nobody listens on: one that several processes may share, unlike one that the system picks for a listener. It is below
 * those that Linux gives to outgoing connections: one of the many of other tests would keep a restarted server from its port.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const probe = createServer().listen(port, "127.0.0.1");
    const isFree = await once(probe, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}
