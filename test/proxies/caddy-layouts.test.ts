/**
 * The recipe for Caddy with what sites do besides pages: WebSockets, uploads, preflights. Skipped where Caddy is missing.
 */
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSocketServer } from "node:net";
import { join } from "node:path";
import t from "tap";
import { runCaddy, startCaddy } from "../middleware/proxies.js";
import { missing } from "../middleware/proxy.js";
import { startVerdictd } from "../middleware/verdictd-process.js";
import { freePort } from "../support/free-port.js";
import { listening } from "../support/listening.js";
import { socketEcho } from "../support/socket-echo.js";

t.test("Caddy in the usual layouts", { skip: missing("caddy") ?? false }, async (t) => {
  const verdictd = await startVerdictd(t, ["--trusted-proxies", "127.0.0.1"]);
  const app = createServer((incoming, response) => {
    let bytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    incoming.on("end", () => response.end(String(bytes)));
  });
  app.on("upgrade", (_request, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    socket.on("data", (bytes: Buffer) => socket.end(bytes));
    socket.on("error", () => socket.destroy());
  });
  const folder = join(t.testdirName, "caddy");
  mkdirSync(folder);
  const sitePort = await freePort();
  await startCaddy(t, {
    verdictd: verdictd.baseUrl.slice(7),
    privateKey: verdictd.privateKey,
    application: await listening(t, app),
    sitePort,
    folder,
    answerMs: 10_000,
  });
  const base = `http://127.0.0.1:${sitePort}`;
  const cookie = { Cookie: `service_session=${verdictd.sessionToken}` };
  const socketTo = (path: string) => socketEcho(base + path, cookie);
  t.equal(await socketTo("/socket"), "hello");
  t.equal(await socketTo("/block/socket"), "403");
  const upload = (path: string) => fetch(base + path, { method: "POST", headers: cookie, body: "x".repeat(1_500_000) });
  t.equal(await (await upload("/uploads")).text(), "1500000");
  t.equal((await upload("/block/uploads").catch(() => ({ status: 403 }))).status, 403);
  const preflight = { ...cookie, Origin: "https://app.example", "Access-Control-Request-Method": "POST" };
  t.equal((await fetch(`${base}/block/x`, { method: "OPTIONS", headers: preflight })).status, 200);
  t.equal((await fetch(`${base}/block/x`, { method: "OPTIONS", headers: cookie })).status, 403);
});

t.test(
  "whoever the inner site keeps waiting is let in, once and whole",
  { skip: missing("caddy") ?? false },
  async (t) => {
    const reached: string[] = [];
    const app = createServer((incoming, response) => {
      let bytes = 0;
      incoming.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      incoming.on("end", () => {
        reached.push(`${incoming.method} ${incoming.url} ${bytes} ${incoming.headers["x-verdict"] ?? "no verdict"}`);
        response.end();
      });
    });
    const silent = createSocketServer((socket) => socket.on("error", () => socket.destroy()));
    const [application, verdictd] = [await listening(t, app), await listening(t, silent)];
    const sitePort = await freePort();
    const addresses = { verdictd, privateKey: "sk_test", application, sitePort };
    await runCaddy(t, { ...addresses, folder: t.testdir(), answerMs: 60_000 }, 100);
    reached.length = 0;
    const headers = { "X-Verdict": "forged" };
    const page = await fetch(`http://127.0.0.1:${sitePort}/page?a=b`, { headers });
    const form = await fetch(`http://127.0.0.1:${sitePort}/form`, { method: "POST", headers, body: "the body" });
    t.same([page.status, form.status], [200, 200]);
    t.same(reached, ["GET /page?a=b 0 no verdict", "POST /form 8 no verdict"]);
  },
);
