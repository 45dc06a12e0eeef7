/** The admin address while somebody holds its connections. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import t from "tap";
import { startAdmin } from "../../src/http/admin.js";

/** All that has no part in these tests. */
const options = {
  host: "127.0.0.1",
  token: "",
  metrics: async () => "",
  metricsType: "text/plain",
  readiness: () => ({}) as never,
  connectionsMax: 4,
  requestsOfConnection: 16,
  silenceMs: 600_000,
  headerMs: 500_000,
  lookMs: 100_000,
};

t.test("connections that send their request drop by drop do not keep the admin address", async (t) => {
  let port = 0;
  const admin = await startAdmin({
    ...options,
    port: 0,
    onFailure: (error) => t.fail(String(error)),
    onTaken: () => t.fail("taken"),
    onListening: (taken) => {
      port = taken;
    },
    retryMs: 1000,
  });
  t.teardown(() => admin.close());
  const drip = async () => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
    return socket;
  };
  const held = [await drip(), await drip(), await drip(), await drip()];
  const gone = once(held[0]!, "close");
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: "close" } });
  t.equal(answer.status, 200);
  await gone;
  t.same(
    held.slice(1).map(({ closed }) => closed),
    [false, false, false],
    "the oldest went",
  );
  for (const socket of held) socket.destroy();
});

t.test("an admin address that was taken is told of once when it is free, however often it was tried", async (t) => {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const { port } = holder.address() as AddressInfo;
  const told: string[] = [];
  let listens: (() => void) | null = null;
  const listening = new Promise<void>((resolve) => {
    listens = resolve;
  });
  let tries = 0;
  const warned = (warning: Error) => told.push(warning.name);
  process.on("warning", warned);
  t.teardown(() => process.off("warning", warned));
  const admin = await startAdmin({
    ...options,
    port,
    onFailure: (error) => t.fail(String(error)),
    onTaken: () => told.push("taken"),
    onListening: () => {
      told.push("listening");
      listens!();
    },
    get retryMs() {
      // Read before each try.
      if (++tries === 13) holder.close();
      return 1;
    },
  });
  t.teardown(() => admin.close());
  await listening;
  t.same(told, ["taken", "listening"]);
});
