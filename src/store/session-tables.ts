/** The tables of sessions and of all else that ingest writes. */
import type { Database } from "lmdb";
import type { Traffic } from "../contract/entities.js";
import type { Timeline } from "../contract/timeline.js";
import type { Environment } from "./environment.js";
import { tableNames } from "./keys.js";

/** The tables that scoring threads write on a single host; layouts are in `keys.ts`. */
export interface SessionTables {
  readonly root: Environment;
  readonly meta: Database<number, string>;
  readonly usage: Database<number, [number, string]>;
  readonly traffic: Database<Traffic, [number, number]>;
  readonly sessions: Database<Buffer, Buffer>;
  readonly repeats: Database<Buffer, Buffer>;
  readonly idempotency: Database<Buffer, Buffer>;
  readonly namingRows: Database<Buffer, Buffer>;
  readonly crossSessionCounts: Database<Buffer, Buffer>;
  readonly pathReuse: Database<Buffer, Buffer>;
  readonly trails: Database<Timeline, Buffer>;
  readonly solvedChallenges: Database<Buffer, Buffer>;
}

/** A table of msgpackr records under ordered keys. */
export function recordTable<V, K extends string | number | (string | number)[]>(
  root: Environment,
  name: string,
): Database<V, K> {
  return root.openDB<V, K>({ name });
}

/** A table of packed values under binary keys. */
export function packedTable(root: Environment, name: string): Database<Buffer, Buffer> {
  return root.openDB<Buffer, Buffer>({ name, encoding: "binary", keyEncoding: "binary" });
}

/** These tables of an environment, made where they are missing. */
export function openSessionTables(root: Environment): SessionTables {
  return {
    root,
    meta: recordTable(root, tableNames.meta),
    usage: recordTable(root, tableNames.usage),
    traffic: recordTable(root, tableNames.traffic),
    sessions: packedTable(root, tableNames.sessions),
    repeats: packedTable(root, tableNames.repeats),
    idempotency: packedTable(root, tableNames.idempotency),
    namingRows: packedTable(root, tableNames.namingRows),
    crossSessionCounts: packedTable(root, tableNames.crossSessionCounts),
    pathReuse: packedTable(root, tableNames.pathReuse),
    trails: root.openDB<Timeline, Buffer>({ name: tableNames.trails, keyEncoding: "binary" }),
    solvedChallenges: packedTable(root, tableNames.solvedChallenges),
  };
}
