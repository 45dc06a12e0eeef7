/** A disk that is full, and has room again: what is refused meanwhile, what goes on, and that nothing acknowledged is lost. */
import type { Test } from "tap";
import { limits } from "../../src/limits.js";
import { batch } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { verdictd } from "../support/process.js";
import { serveOnSmallDisk } from "./small-disk.js";

const mebibyte = 2 ** 20;

/** A server on a disk of its own that is filled and emptied. Asserts on `t`. */
export async function fillDisk(t: Test): Promise<void> {
  const flags = ["--verdict-ttl", "0", "--scoring-threads", "1", "--http-threads", "2"];
  const { server, owner, folder, leave, empty } = await serveOnSmallDisk(
    t,
    limits.diskReserveBytes + 8 * mebibyte,
    flags,
  );
  const client = new Client(server.port, 4);
  t.teardown(() => client.close());
  const told = new Map<string, string>();
  const send = async (name: string): Promise<number> => {
    const { status, json } = await client.send(owner.siteKey, batch(name, 100), name);
    if (status === 202) told.set(name, json.session_token);
    return status;
  };
  /** Both threads look at the disk again within a bounded time. */
  const untilAll = async (status: number): Promise<void> => {
    for (let inRow = 0, tries = 0; inRow < 8 && tries < 2000; tries++) {
      inRow = (await send(`until${status}x${tries}`)) === status ? inRow + 1 : 0;
    }
  };
  t.equal(await send("before00"), 202);
  leave(limits.diskReserveBytes - mebibyte);
  await untilAll(503);
  const before = told.size;
  const refused = await Promise.all(Array.from({ length: 40 }, (_, index) => send(`full${index}x00`)));
  t.same(new Set(refused), new Set([503]), "every batch is refused");
  t.equal(told.size, before);
  await server.logged("the disk is almost full: batches are refused until there is room");
  for (const token of [...told.values()].slice(0, 5)) {
    const { status, json } = await client.ask("GET", `/v1/sessions/${token}/verdict`, {
      authorization: `Bearer ${owner.privateKey}`,
    });
    t.ok(status === 200 && json.score > 0, "verdicts are read");
  }
  const authorization = { authorization: `Bearer ${owner.token}` };
  const rule = { name: "while full", expression: "score < 5", action: "block" };
  const rules = `/v1/projects/${owner.projectId}/rules`;
  t.equal((await client.ask("POST", rules, authorization, rule)).status, 201, "configuration changes");
  const rotate = `/v1/projects/${owner.projectId}/scoring/rotate`;
  t.equal((await client.ask("POST", rotate, authorization, { type: "private" })).status, 200, "keys are rotated");
  empty();
  await untilAll(202);
  await server.logged("the disk has room again: batches are accepted");
  t.equal(await send("full0x00"), 202, "what was refused is taken");
  for (const [name, token] of told) {
    const { json } = await client.send(owner.siteKey, batch(name, 100), name);
    if (json.session_token !== token || json.accepted !== 0) t.same(json, { session_token: token, accepted: 0 }, name);
  }
  const check = await verdictd(["check", "--json", "--data-dir", folder]);
  t.match(JSON.parse(check.stdout), { ok: true, fault_count: 0 });
  t.equal(await server.end("SIGTERM"), 0);
}
