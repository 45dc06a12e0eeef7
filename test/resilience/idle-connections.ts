/** Holds many idle connections against a server and says what they cost it. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import type { Test } from "tap";
import { batch } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { makeOwner } from "../support/owner.js";
import { serve } from "../support/process.js";

/** Resident memory of a process, bytes (`/proc`, Linux). */
export function residentBytes(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) * 1024;
}

/** Opens `count` connections, half of them with the start of a request, and asks beside them; asserts on `t`. */
export async function holdIdle(t: Test, count: number): Promise<void> {
  const dataDir = t.testdir();
  const owner = await makeOwner(dataDir);
  const server = await serve(t, dataDir);
  const client = new Client(server.port, 4);
  for (let index = 0; index < 20; index++) await client.send(owner.siteKey, batch(`warm${index}-00`, 3));
  const before = residentBytes(server.child.pid!);
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let index = 0; index < count; index++) {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    sockets.push(socket);
    if (index % 200 === 199) await once(socket, "connect");
    if (index % 2 === 0) socket.write("POST /v1/events HTTP/1.1\r\nHost: x\r\nX-Service-Site-Key: ");
  }
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => client.send(owner.siteKey, batch(`beside${index}`, 3))),
  );
  t.same(new Set(answers.map(({ status }) => status)), new Set([202]), "others are served beside them");
  const perConnection = (residentBytes(server.child.pid!) - before) / count;
  t.comment(
    `${count} idle connections: ${Math.round(perConnection)} bytes each, ${Math.round(before / 2 ** 20)} MiB before`,
  );
  t.ok(perConnection < 16 * 1024, "an idle connection costs less than 16 KiB");
  client.close();
}
