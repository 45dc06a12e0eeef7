/** Changes the records of all sessions of a cluster, in pieces, while nodes run. It reads and changes a record again if a node wrote it meanwhile. */
import { type ClusterClient, scriptCommand } from "../../cluster/cluster-client.js";
import { limits } from "../../limits.js";
import { sessionKey, tokenAt } from "../../store/keys.js";
import { BulkClient } from "../bulk-client.js";
import { newVersion, versionBytes } from "../ingest/cluster-unit-of-work.js";
import { sessionRow, shardOfSession, shardSlots } from "../keys.js";
import { saveSession } from "../scripts.js";
import { indexedSessions } from "./indexed-sessions.js";

/** Which sessions to change, and how. */
interface RewriteOptions {
  readonly client: ClusterClient;
  /** Replicas that must have a changed record. */
  readonly acks: number;
  readonly projectIds: readonly number[];
  /** Returns the new record; "same" when it stays, "left" when it can't be changed. May be called again for a session. */
  readonly change: (record: Buffer) => Buffer | "same" | "left";
  /** Called with how many sessions were looked at, and of about how many. */
  readonly onProgress: (done: number, total: number) => void;
  /** About how many there are. */
  readonly total: number;
}

/** How many sessions were looked at, how many of them changed, and how many can't be changed. */
interface Rewritten {
  sessions: number;
  changed: number;
  left: number;
}

/** Resolves once all are written; their expiries stay the same. Throws `ClusterError`. */
export async function rewriteSessions(options: RewriteOptions): Promise<Rewritten> {
  const bulk = new BulkClient(options.client, options.acks);
  const result: Rewritten = { sessions: 0, changed: 0, left: 0 };
  for (const projectId of options.projectIds) {
    for await (const tokens of indexedSessions(bulk, projectId)) {
      const keys = tokens.map((token) => sessionKey(projectId, token));
      for (let from = 0; from < keys.length; from += limits.clusterPieceRows) {
        await rewrite(bulk, keys.slice(from, from + limits.clusterPieceRows), options.change, result);
        options.onProgress(Math.min(result.sessions, options.total), options.total);
      }
    }
  }
  return result;
}

async function rewrite(
  bulk: BulkClient,
  keys: readonly Buffer[],
  change: RewriteOptions["change"],
  result: Rewritten,
): Promise<void> {
  let open = keys;
  for (let round = 0; open.length > 0; round++) {
    const replies = await bulk.read(
      open.flatMap((key) => {
        const [row, slot] = [sessionRow(key), shardSlots[shardOfSession(key)]!];
        return [
          { command: ["GET", row], slot },
          { command: ["PTTL", row], slot },
        ];
      }),
    );
    const written: Buffer[] = [];
    const commands = [];
    for (const [index, key] of open.entries()) {
      const [stored, leftMs] = [replies[2 * index], Number(replies[2 * index + 1])];
      if (!(stored instanceof Buffer) || leftMs <= 0) continue;
      const record = change(Buffer.from(stored.subarray(versionBytes)));
      if (record instanceof Buffer && round <= limits.clusterConflictRounds) {
        const [row, slot] = [sessionRow(key), shardSlots[shardOfSession(key)]!];
        const args = [stored.subarray(0, versionBytes), newVersion(), record, leftMs, key.subarray(tokenAt), 0];
        commands.push(scriptCommand(saveSession, [row, row, row], args, slot));
        written.push(key);
        continue;
      }
      result.sessions++;
      if (record !== "same") result.left++;
    }
    const outcomes = await bulk.write(commands);
    const done = outcomes.filter((outcome) => outcome === 1).length;
    result.sessions += done;
    result.changed += done;
    open = written.filter((_, index) => outcomes[index] !== 1);
  }
}
