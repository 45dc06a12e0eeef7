/** Thousands of pipelined requests in the buffers of a few connections cost their senders the connection, and not everybody else the server. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import t from "tap";
import { limits } from "../../src/limits.js";
import { RawClient } from "../support/raw-socket.js";
import { startServer, type TestServer } from "../support/server.js";

const connections = 20;
const requestsEach = 6600;

/** Requests that the server says it has answered. */
async function answered({ metrics }: TestServer): Promise<number> {
  const { samples } = await metrics();
  const counts = samples.filter(({ name }) => name === "verdictd_http_requests_total");
  return counts.reduce((sum, { value }) => sum + value, 0);
}

async function flood({ port, child }: TestServer, request: string): Promise<void> {
  const sockets = await Promise.all(
    Array.from({ length: connections }, async (): Promise<Socket> => {
      // From another address than everybody else: shares are an address's.
      const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" });
      await once(socket, "connect");
      socket.on("error", () => {});
      return socket;
    }),
  );
  const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
  // All of it is there when the server wakes up: the turns in which it would read a slower sender's are many.
  child.kill("SIGSTOP");
  // Read, so that a connection that is not read is not what ends them.
  for (const socket of sockets) socket.resume().end(request.repeat(requestsEach));
  child.kill("SIGCONT");
  await Promise.all(closed);
}

t.test("pipelined floods", async (t) => {
  const server = await startServer(t);
  for (const [name, request] of [
    ["unknown paths", "GET /nope HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["methods that a path does not take", "DELETE /readyz HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["verdicts without a key", "GET /v1/sessions/sess_a/verdict HTTP/1.1\r\nHost: x\r\n\r\n"],
  ] as const) {
    await t.test(name, async (t) => {
      const before = await answered(server);
      const flooded = flood(server, request);
      t.equal((await server.ask("GET", "/healthz")).status, 200, "others are served meanwhile");
      await flooded;
      const served = (await answered(server)) - before;
      t.ok(served < (connections * requestsEach) / 2, `${served} of ${connections * requestsEach} were answered`);
    });
  }

  await t.test("thousands of connections of one address, each with one request, lose none", async (t) => {
    // More than an address's share, all of it there when the server wakes up.
    const count = limits.socketsPerTick + limits.requestsPerTickMax + 500;
    const clients: RawClient[] = [];
    for (let each = 0; each < count; each++) clients.push(await RawClient.open(server.port));
    server.child.kill("SIGSTOP");
    for (const client of clients) client.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    server.child.kill("SIGCONT");
    const statuses = await Promise.all(clients.map(async (client) => (await client.answer())?.status));
    t.equal(statuses.filter((status) => status === 200).length, count);
    for (const client of clients) client.leave();
  });

  await t.test("a client that pipelines as many as a turn takes gets every answer", async (t) => {
    const client = await RawClient.open(server.port);
    const count = limits.socketsPerTick;
    client.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".repeat(count));
    for (let each = 0; each < count; each++) {
      const answer = await client.answer();
      if (answer?.status !== 200) return t.fail(`answer ${each} is ${answer?.status}`);
    }
    client.leave();
    return t.pass("all of them");
  });
});
