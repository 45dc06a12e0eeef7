/** Keys rotated under load: the old one is refused from the next request on, the valid one is never refused. */
import t from "tap";
import { batch } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { makeOwner } from "../support/owner.js";
import { serve } from "../support/process.js";

interface Key {
  readonly secret: string;
  /** Its replacement was asked for; only from here on may it be refused. */
  isEnding: boolean;
  /** Its replacement was answered; from here on it must be refused. */
  isOver: boolean;
}

const newKey = (secret: string): Key => ({ secret, isEnding: false, isOver: false });

t.test("no request with a valid key is refused, and none with an old one is served", async (t) => {
  const dataDir = t.testdir();
  const owner = await makeOwner(dataDir);
  const server = await serve(t, dataDir, { flags: ["--http-threads", "2"] });
  const client = new Client(server.port, 16);
  t.teardown(() => client.close());
  const keys = { site: [newKey(owner.siteKey)], private: [newKey(owner.privateKey)] };
  const counts = { served: 0, refused: 0, inBetween: 0 };
  const wrong: string[] = [];
  let isDone = false;
  const { json } = await client.send(owner.siteKey, batch("rotated0"), "rotated");
  const token: string = json.session_token;
  let sent = 0;
  const ask = {
    site: (secret: string) => client.send(secret, batch(`rotate${sent++}x0`)),
    private: (secret: string) =>
      client.ask("GET", `/v1/sessions/${token}/verdict?path=/${sent++}`, { authorization: `Bearer ${secret}` }),
  };
  const load = async (kind: "site" | "private", old: boolean): Promise<void> => {
    while (!isDone) {
      const key = old ? keys[kind].at(-2) : keys[kind].at(-1);
      const wasOver = key?.isOver === true;
      const { status } = await ask[kind](key?.secret ?? `${kind === "site" ? "pk" : "sk"}_none`);
      if (status !== 401 && (key === undefined || wasOver)) wrong.push(`an old ${kind} key was answered ${status}`);
      else if (status === 401 && key?.isEnding === false) wrong.push(`a valid ${kind} key was refused`);
      else if (status !== 401 && status >= 300) wrong.push(`a ${kind} key was answered ${status}`);
      counts[status === 401 ? (wasOver ? "refused" : "inBetween") : "served"]++;
    }
  };
  const loads = (["site", "private"] as const).flatMap((kind) => [
    ...Array.from({ length: 4 }, () => load(kind, false)),
    load(kind, true),
  ]);
  for (let turn = 0; turn < 20; turn++) {
    const kind = turn % 2 === 0 ? "site" : "private";
    const ending = keys[kind].at(-1)!;
    ending.isEnding = true;
    const path = `/v1/projects/${owner.projectId}/scoring/rotate`;
    const rotated = await client.ask("POST", path, { authorization: `Bearer ${owner.token}` }, { type: kind });
    ending.isOver = true;
    keys[kind].push(newKey(rotated.json.key));
    // Some answers to the new key before the next turn, so that turns do not outrun the load.
    await Promise.all(Array.from({ length: 3 }, () => ask[kind](rotated.json.key)));
  }
  isDone = true;
  await Promise.all(loads);
  t.same(wrong, []);
  t.ok(counts.served > 0 && counts.refused > 0);
  t.comment(`20 rotations under load: ${JSON.stringify(counts)}`);
  t.equal(await server.end("SIGTERM"), 0);
});
