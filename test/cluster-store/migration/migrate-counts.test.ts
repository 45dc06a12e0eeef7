/** What a migration writes into a real cluster besides sessions and configuration. */
import t from "tap";
import { ClusterClient } from "../../../src/cluster/cluster-client.js";
import type { KeyedCommand } from "../../../src/cluster/operation.js";
import { keySlot } from "../../../src/cluster/slots.js";
import { parseStoreUrl, type StoreUrl } from "../../../src/cluster/store-url.js";
import { BulkClient } from "../../../src/cluster-store/bulk-client.js";
import { idempotencyRow } from "../../../src/cluster-store/keys.js";
import { copyRows, type WantedRow, wantedIdempotency } from "../../../src/cluster-store/migration/migrate-counts.js";
import { mintSessionToken } from "../../../src/contract/sessions/session-token.js";
import { limits } from "../../../src/limits.js";
import { idempotencyDay, idempotencyKey } from "../../../src/store/keys.js";
import { openStore } from "../../../src/store/open-store.js";
import { startRedis } from "../../support/redis-cluster.js";

t.test("an `Idempotency-Key` is copied for the rest of its 24 hours", async (t) => {
  const redis = await startRedis(t, { masters: 1, replicas: 0 });
  const client = new ClusterClient({ url: parseStoreUrl(redis.url) as StoreUrl });
  t.teardown(() => client.close());
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const nowMs = Date.now();
  const keyOf = (number: number, atMs: number) => idempotencyKey(idempotencyDay(atMs), 1, Buffer.alloc(32, number));
  const hourMs = 3_600_000;
  const contacts = [23, 1, 25].map((hoursAgo, number) => ({
    key: keyOf(number, nowMs - hoursAgo * hourMs),
    token: mintSessionToken(nowMs - hoursAgo * hourMs, (into) => into.fill(number)),
  }));
  for (const { key, token } of contacts) await store.idempotency.put(key, token);
  t.same(await copyRows(new BulkClient(client, 0), wantedIdempotency(store), () => {}), { rows: 2, copied: 2 });
  const read = (name: string) =>
    client.pipeline(
      contacts.map(({ key }) => ({ command: [name, idempotencyRow(key)], slot: keySlot(idempotencyRow(key)) })),
      { deadlineMs: 5000 },
    );
  t.same(await read("GET"), [contacts[0]!.token, contacts[1]!.token, null], "the last one is too old to be found");
  const [almostOver, recent] = (await read("PTTL")).map(Number);
  t.ok(almostOver! > 0 && almostOver! <= hourMs);
  t.ok(recent! > hourMs && recent! <= limits.idempotencyKeptMs - hourMs);
});

t.test("a piece has bounded bytes, however large its rows are", async (t) => {
  const rowOf = (bytes: number): WantedRow => {
    const command = ["SET", "row", Buffer.alloc(bytes)];
    return { read: { command: ["GET", "row"], slot: 0 }, isThere: () => false, write: { command, slot: 0 } };
  };
  const pieces: number[] = [];
  const bulk = {
    read: async (commands: readonly KeyedCommand[]) => commands.map(() => null),
    write: async (commands: readonly KeyedCommand[]) => {
      pieces.push(commands.length);
      return commands.map(() => null);
    },
  };
  const { clusterPieceBytes: bytesMax, clusterPieceRows: rowsMax } = limits;
  const quarter = bytesMax / 4 - 10;
  const wanted = [...Array(8).fill(quarter), 2 * bytesMax, ...Array(rowsMax + 1).fill(10)].map(rowOf);
  t.same(await copyRows(bulk, wanted, () => {}), { rows: rowsMax + 10, copied: rowsMax + 10 });
  t.same(pieces, [4, 4, 1, rowsMax, 1]);
});
