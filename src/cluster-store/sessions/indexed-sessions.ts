/** Reads the index of a project's sessions in all shards at once, in pieces, for commands and sweeps that see all of them. */
import type { KeyedCommand } from "../../cluster/operation.js";
import { sessionKey } from "../../store/keys.js";
import { type BulkClient, buffersOf } from "../bulk-client.js";
import { indexRow, shardCount, shardSlots } from "../keys.js";

/** Tokens per shard in one piece: some 500 KB for all shards together. */
const pieceTokens = 100;

interface Cursor {
  readonly row: string;
  readonly slot: number;
  from: Buffer | string;
}

/**
 * The tokens of a project's sessions, each once, in no order; one piece may mix several shards. `before`: only tokens below these bytes, that is with
 * an earlier first contact. Throws `ClusterError`.
 */
export async function* indexedSessions(
  bulk: Pick<BulkClient, "read">,
  projectId: number,
  before: Buffer | null = null,
): AsyncGenerator<Buffer[]> {
  const end = before === null ? "+" : Buffer.concat([Buffer.from("("), before]);
  let cursors = Array.from({ length: shardCount }, (_, shard): Cursor => {
    return { row: indexRow(shard, projectId), slot: shardSlots[shard]!, from: "-" };
  });
  while (cursors.length > 0) {
    const replies = await bulk.read(
      cursors.map(({ row, slot, from }): KeyedCommand => {
        return { command: ["ZRANGE", row, from, end, "BYLEX", "LIMIT", 0, pieceTokens], slot };
      }),
    );
    const piece: Buffer[] = [];
    const open: Cursor[] = [];
    for (const [index, cursor] of cursors.entries()) {
      const tokens = buffersOf(replies[index]);
      piece.push(...tokens);
      if (tokens.length < pieceTokens) continue;
      cursor.from = Buffer.concat([Buffer.from("("), tokens.at(-1)!]);
      open.push(cursor);
    }
    cursors = open;
    if (piece.length > 0) yield piece;
  }
}

/** The keys (`sessionKey`) of a project's sessions with the oldest first contact, oldest first. Throws `ClusterError`. */
export async function oldestSessions(
  bulk: Pick<BulkClient, "read">,
  projectId: number,
  count: number,
): Promise<Buffer[]> {
  // Sessions are spread evenly: few shards have more of the oldest sessions than this.
  const piece = Math.max(4, Math.ceil((2 * count) / shardCount));
  const replies = await bulk.read(
    Array.from({ length: shardCount }, (_, shard): KeyedCommand => {
      const command = ["ZRANGE", indexRow(shard, projectId), "-", "+", "BYLEX", "LIMIT", 0, piece];
      return { command, slot: shardSlots[shard]! };
    }),
  );
  const tokens = replies.flatMap(buffersOf).sort(Buffer.compare);
  return tokens.slice(0, count).map((token) => sessionKey(projectId, token));
}
