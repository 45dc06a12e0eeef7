/** Sessions of a real cluster as an HTTP thread changes and holds them, while replicas or answers are late. */
import t from "tap";
import { ClusterClient, type CommandOptions } from "../../../src/cluster/cluster-client.js";
import type { KeyedCommand, Outcome } from "../../../src/cluster/operation.js";
import { parseStoreUrl, type StoreUrl } from "../../../src/cluster/store-url.js";
import { markRow, sessionRow, shardOfSession } from "../../../src/cluster-store/keys.js";
import { ClusterSessionRows } from "../../../src/cluster-store/sessions/cluster-session-rows.js";
import { newScoredState } from "../../../src/contract/sessions/session.js";
import { mintSessionToken } from "../../../src/contract/sessions/session-token.js";
import { UnavailableError } from "../../../src/errors.js";
import { sessionKey } from "../../../src/store/keys.js";
import { encodeSession, loggedInAtMs, withLoggedInAt } from "../../../src/store/session-record.js";
import { startRedis } from "../../support/redis-cluster.js";
import { waitUntil } from "../../support/wait-until.js";

const redis = await startRedis(t, { masters: 1, replicas: 1 });
const [master] = await redis.masters();
const [replica] = await redis.replicasOf(master!);
const url = parseStoreUrl(redis.url) as StoreUrl;

/** Another session each time; its key. */
async function stored(number: number): Promise<Buffer> {
  const key = sessionKey(
    1,
    mintSessionToken(Date.now(), (into) => into.fill(number)),
  );
  const none = Buffer.alloc(0);
  const record = encodeSession({ state: newScoredState(Date.now()), seenIds: none, features: none });
  await master!.ask("SET", sessionRow(key), Buffer.concat([Buffer.alloc(8, number), record]), "PX", "600000");
  return key;
}

function rowsOf(client: ClusterClient): ClusterSessionRows {
  t.teardown(() => client.close());
  const times = { sessionMs: 3_600_000, deadlineMs: 5000, heldMs: 60_000, now: Date.now };
  return new ClusterSessionRows({ client, acks: 1, ...times });
}

t.test("a change that counts once may come again after a missing acknowledgement, until it has one", async (t) => {
  const rows = rowsOf(new ClusterClient({ url }));
  const key = await stored(1);
  const mark = { nonce: "0123456789abcdef".repeat(2), expiresAtMs: Date.now() + 600_000 };
  const pass = () => rows.change(key, (record) => withLoggedInAt(record, 777), mark);
  replica!.freeze();
  await t.rejects(pass(), UnavailableError);
  replica!.thaw();
  const outcome = await waitUntil(
    () => pass().catch((error: unknown) => error),
    (seen) => seen === "changed",
  );
  t.equal(outcome, "changed");
  t.same(await Promise.all([pass(), pass()]), ["used", "used"]);
  await rows.load([key], "now");
  t.equal(loggedInAtMs(rows.record(key)!), 777);
  const leftMs = Number(await master!.ask("PTTL", markRow(shardOfSession(key), mark.nonce)));
  t.ok(leftMs > 60_000, "it is known for as long as what it marks is valid");
});

/** Holds an answer back while something else is done, once. */
class LateClient extends ClusterClient {
  meanwhile: (() => Promise<unknown>) | null = null;

  override async pipeline(commands: readonly KeyedCommand[], options: CommandOptions): Promise<Outcome[]> {
    const { meanwhile } = this;
    this.meanwhile = null;
    // A copy, because the next answer may take its memory.
    const outcomes = (await super.pipeline(commands, options)).map((each) =>
      each instanceof Buffer ? Buffer.from(each) : each,
    );
    await meanwhile?.();
    return outcomes;
  }
}

t.test("an answer that was asked for before a change does not undo it", async (t) => {
  const client = new LateClient({ url });
  const rows = rowsOf(client);
  const key = await stored(2);
  await client.ready();
  const change = () => rows.change(key, (record) => withLoggedInAt(record, 778)).catch((error: unknown) => error);
  client.meanwhile = () => waitUntil(change, (outcome) => outcome === "changed");
  await rows.load([key]);
  t.equal(loggedInAtMs(rows.record(key)!), 778);
  t.equal(rows.load([key]), null, "it is held");
  await master!.ask("DEL", sessionRow(key));
  await rows.load([key], "now");
  t.equal(rows.record(key), undefined, "what is asked later is known");
});
