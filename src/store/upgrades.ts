/** The steps that bring an older store to the tables and records of this build, one for each schema version after the first. */
import { dirname } from "node:path";
import type { Database } from "lmdb";
import { indexAccountRows } from "./account-rows.js";
import { packCrossSessionCount } from "./cross-session-count.js";
import { crossSessionKey, idempotencyKey, pathReuseBucketSlots, pathReuseKeys } from "./keys.js";
import { nameRows } from "./naming-rows.js";
import type { Schema, Upgrade } from "./schema-version.js";
import { checkSessionFiles } from "./session-files.js";
import type { SessionTables } from "./session-tables.js";

/** Shingles of pointer paths, a row each until now, move into buckets. Both are in the order of project and slot. */
const bucketsOfShingles: Upgrade = {
  to: 2,
  apply: ({ shingles, pathReuse }) => {
    let open: { readonly projectId: number; readonly number: number; readonly bytes: Buffer } | null = null;
    const close = (): void => {
      if (open !== null) pathReuse.putSync(pathReuseKeys.bucket(open.projectId, open.number), open.bytes);
    };
    for (const { key, value } of shingles.getRange({})) {
      const projectId = key.readUInt32BE(0);
      const slot = key.readUInt32BE(4);
      const number = Math.floor(slot / pathReuseBucketSlots);
      if (open === null || open.projectId !== projectId || open.number !== number) {
        close();
        open = { projectId, number, bytes: Buffer.alloc(8 * pathReuseBucketSlots) };
      }
      open.bytes.set(value.subarray(0, 8), 8 * (slot % pathReuseBucketSlots));
    }
    close();
    shingles.clearSync();
  },
};

/**
 * Rows that each first contact brings become shorter. Until now idempotency had day u16, project u32 and 16 bytes of hash as key and
 * created f64, token as value; cross-session counts hour u32, kind u8, project u32 and 8 bytes of hash, and a count u32.
 */
function shortenContactRows({ idempotency, crossSessionCounts }: SessionTables): void {
  replaceRows(idempotency, 22, (key, value) => ({
    key: idempotencyKey(key.readUInt16BE(0), key.readUInt32BE(2), key.subarray(6, 22)),
    value: value.subarray(8, 29),
  }));
  replaceRows(crossSessionCounts, 17, (key, value) => ({
    key: crossSessionKey(key.readUInt32BE(0), key[4]!, key.readUInt32BE(5), [key.readInt32BE(9), key.readInt32BE(13)]),
    value: packCrossSessionCount(value.readUInt32LE(0)),
  }));
}

interface Row {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** Rows that are read before they are replaced, to hold no more than that many in memory. */
const rowsAtOnce = 1000;

/** Replaces each row whose key is of this length; `rowOf` gives keys of another length, so that none is taken twice. */
function replaceRows(
  table: Database<Buffer, Buffer>,
  keyBytes: number,
  rowOf: (key: Buffer, value: Buffer) => Row,
): void {
  let start = Buffer.alloc(1);
  for (;;) {
    const rows = [...table.getRange({ start, limit: rowsAtOnce })];
    if (rows.length === 0) return;
    start = Buffer.concat([rows.at(-1)!.key, Buffer.alloc(1)]);
    for (const { key, value } of rows) {
      if (key.length !== keyBytes) continue;
      const row = rowOf(key, value);
      table.removeSync(key);
      table.putSync(row.key, row.value);
    }
  }
}

const shortContactRows: Upgrade = { to: 3, apply: shortenContactRows, applyToSessions: shortenContactRows };

/** Sessions may hold a clearance, and features name their fields by number: what is there is read as it is, but an older build would misread new records. */
const clearances: Upgrade = { to: 4, apply: () => {} };

/** Sessions lie in one file. Where there are more, `openStore` merges them after this step: no version before this may write meanwhile. */
const oneFile: Upgrade = { to: 5, apply: (store) => checkSessionFiles(store, dirname(store.root.path)) };

/** Tokens and projects are found by their account. */
const rowsByAccount: Upgrade = { to: 6, apply: indexAccountRows };

/** What names a session is found by it. */
const rowsOfSessions: Upgrade = { to: 7, apply: nameRows };
/** Sessions may hold when a pass was refused and the networks of a clearance: as `clearances`. */
const challenged: Upgrade = { to: 8, apply: () => {} };

/** Sessions may hold marks of agents: as `clearances`. */
const agentMarks: Upgrade = { to: 9, apply: () => {} };

/** This build's. Raise the version together with a step in `upgrades`. */
export const currentSchema: Schema = {
  version: 9,
  upgrades: [
    bucketsOfShingles,
    shortContactRows,
    clearances,
    oneFile,
    rowsByAccount,
    rowsOfSessions,
    challenged,
    agentMarks,
  ],
};
