/** The rows of a session beside its record in a cluster: packed values as on one host, records as JSON behind a version. */
import { createHash } from "node:crypto";
import type { RespReply } from "../../cluster/resp-parser.js";
import { sessionKeyBytes } from "../../store/keys.js";
import {
  type BesideTable,
  besideNames,
  ofBeside,
  type ShownRows,
  shownOf,
  tableRows,
  tables,
} from "../../store/tables.js";
import { versionBytes } from "../ingest/cluster-unit-of-work.js";

const anyKey = Buffer.alloc(sessionKeyBytes);
/** In the order of `furtherRows`. */
const tablesOfRows = besideNames.flatMap((table) => tables[table].ofSession.own(anyKey).map(() => table));

/** Returns a row of one host in the cluster's form. The version of a record is a hash of it. */
export function toRowBeside(table: BesideTable, value: unknown): Buffer {
  if (isPacked(table)) return value as Buffer;
  const text = Buffer.from(JSON.stringify(value));
  return Buffer.concat([createHash("sha1").update(text).digest().subarray(0, versionBytes), text]);
}

/** What is shown of the rows in an answer to `readCommand`. */
export function shownIn(reply: RespReply): ShownRows {
  const rows = rowsIn(reply);
  return shownOf(ofBeside((table) => rows.flatMap((row) => (row.table === table ? [fromRow(table, row.value)] : []))));
}

/** How many there are in answers to `readCommand`, by table. */
export function countBeside(replies: readonly RespReply[]): Record<BesideTable, number> {
  const rows = replies.flatMap(rowsIn);
  return ofBeside((name) => rows.filter(({ table }) => table === name).length);
}

function rowsIn(reply: RespReply): { readonly table: BesideTable; readonly value: Buffer }[] {
  const values = Array.isArray(reply) ? reply.slice(3) : [];
  return tablesOfRows.flatMap((table, index) => {
    const value = values[index];
    return value instanceof Buffer ? [{ table, value }] : [];
  });
}

/** `undefined` for a damaged record. */
function fromRow(table: BesideTable, value: Buffer): unknown {
  if (isPacked(table)) return value;
  try {
    return JSON.parse(value.toString("utf8", versionBytes));
  } catch {
    return undefined;
  }
}

function isPacked(table: BesideTable): boolean {
  return tableRows[table].form.encoding === "binary";
}
