/**
 * What the recipes ask verdictd has a request line of their own, whatever the visitor's URL is: no long URL decides where TCP splits it, and it begins
 * a write, so it fits one segment. In place of verdictd stands a socket that keeps what it gets. Skipped where the proxy is missing.
 */
import { createServer } from "node:net";
import t, { type Test } from "tap";
import { startCaddy, startNginx } from "../middleware/proxies.js";
import { missing, type StartProxy } from "../middleware/proxy.js";
import { freePort } from "../support/free-port.js";
import { listening } from "../support/listening.js";
import { RawClient } from "../support/raw-socket.js";

/** Listens, answers 200 to whatever ends a head, and keeps the first lines. */
async function listener(t: Test): Promise<{ address: string; lines: string[] }> {
  const lines: string[] = [];
  const server = createServer((socket) => {
    let received = "";
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
      for (let end = received.indexOf("\r\n\r\n"); end !== -1; end = received.indexOf("\r\n\r\n")) {
        lines.push(received.slice(0, received.indexOf("\r\n")));
        received = received.slice(end + 4);
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Verdict-Action: allow\r\n\r\n");
      }
    });
  });
  return { address: await listening(t, server), lines };
}

const longest = 7900;
const targets = [
  "/",
  "/shop?size=9",
  `/${"a".repeat(longest)}`,
  `/?${"q".repeat(longest)}`,
  "/v1/events?x",
  "/sdk.js?y=1",
];

async function check(t: Test, program: string, start: StartProxy): Promise<void> {
  const verdictd = await listener(t);
  const application = await listener(t);
  const sitePort = await freePort();
  const addresses = { verdictd: verdictd.address, application: application.address };
  await start(t, { ...addresses, privateKey: "sk_test", sitePort, folder: t.testdir(), answerMs: 10_000 });
  verdictd.lines.length = 0;
  for (const target of targets) {
    const client = await RawClient.open(sitePort);
    await client.write(`GET ${target} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n`);
    t.ok(await client.answer(), `${program} answers ${target.slice(0, 20)}`);
    client.leave();
  }
  const known = ["GET /v1/forward-auth HTTP/1.1", "GET /v1/events HTTP/1.1", "GET /sdk.js HTTP/1.1"];
  t.same([...new Set(verdictd.lines)].toSorted(), known.toSorted());
  t.equal(verdictd.lines.filter((line) => line === known[0]).length, 4, "a question for each page");
  t.ok(
    application.lines.some((line) => line.length > longest),
    "the application gets the visitor's own line",
  );
}

t.test("nginx", { skip: missing("nginx") ?? false }, (t) => check(t, "nginx", startNginx));
t.test("Caddy", { skip: missing("caddy") ?? false }, (t) => check(t, "Caddy", startCaddy));
