/**
 * Clients that pipeline requests and never read: what is held for them is bounded, whatever they ask for, and others are answered in the
 * meantime. Memory is that of the server's process; without the bounds each attack here costs it 100 MiB to 2 GiB.
 */
import t from "tap";
import { Rules } from "../../src/control-plane/rules/rules.js";
import { rawRequest } from "../support/raw-socket.js";
import { firstTenant, startServer } from "../support/server.js";
import { residentBytes } from "./idle-connections.js";
import { openUnread, pipeline } from "./never-reads.js";

const mebibyte = 2 ** 20;
const connections = 4;
const inactive = { isActive: false, sortOrder: 1 };
const growthMax = 64 * mebibyte;

t.test("a client that never reads costs a bounded amount", async (t) => {
  const server = await startServer(t);
  const tenant = await firstTenant(server);
  const rules = new Rules(server.store, Date.now);
  for (let index = 0; index < 150; index++) {
    const expressionSource = `path in {${Array.from({ length: 150 }, (_, each) => `"${each}"`).join(",")}}`;
    await rules.create(tenant.projectId, { name: `r${index}`, expressionSource, action: "log", ...inactive });
  }
  const token = { Authorization: `Bearer ${tenant.token}` };
  const key = { Authorization: `Bearer ${tenant.privateKey}` };
  // What is large: 365 KiB of requests would be answered by gigabytes.
  const large: Readonly<Record<string, string>> = {
    "the API's page": rawRequest("GET", "/docs/api"),
    "the OpenAPI document": rawRequest("GET", "/openapi.json"),
    "the console's script": rawRequest("GET", "/console/console.js"),
    "a list of rules": rawRequest("GET", `/v1/projects/${tenant.projectId}/rules`, token),
    "the export": rawRequest("GET", "/v1/verified-bots/export", token),
  };
  // What is small, with a body and without: eight MiB of requests would leave many times as much.
  const small: Readonly<Record<string, string>> = {
    "an unknown path": rawRequest("GET", "/x"),
    verdicts: rawRequest("GET", "/v1/sessions/x/verdict", key),
    HEAD: rawRequest("HEAD", "/x"),
    preflights: rawRequest("OPTIONS", "/v1/events"),
    "what it has": rawRequest("GET", "/sdk.js", { "If-None-Match": "*" }),
    "forward-auth": rawRequest("GET", "/v1/forward-auth"),
  };
  for (const path of ["/healthz", "/docs/api", "/openapi.json"]) t.equal((await server.ask("GET", path)).status, 200);
  const before = residentBytes(server.child.pid!);
  const attack = async (name: string, request: string, bytes: number): Promise<void> => {
    const sockets = await Promise.all(Array.from({ length: connections }, () => openUnread(t, server.port)));
    let isOver = false;
    const sent = Promise.all(sockets.map((socket) => pipeline(socket, request, bytes))).then(() => {
      isOver = true;
    });
    do t.equal((await server.ask("GET", "/healthz")).status, 200, `${name}: others are answered`);
    while (!isOver);
    await sent;
    // Whatever was sent before it has been read when this is answered.
    for (let index = 0; index < 3; index++) await server.ask("GET", "/healthz");
    const growth = residentBytes(server.child.pid!) - before;
    t.ok(growth < growthMax, `${name}: ${Math.round(growth / mebibyte)} MiB`);
    for (const socket of sockets) socket.destroy();
  };
  for (const [name, request] of Object.entries(large)) await attack(name, request, 365 * 1024);
  for (const [name, request] of Object.entries(small)) await attack(name, request, 8 * mebibyte);
});
