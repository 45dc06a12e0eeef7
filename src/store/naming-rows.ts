/**
 * Which rows of other tables name a session, so that nobody walks those tables to erase it: its recorded blocks, and the `Idempotency-Key` rows of before
 * schema 7 (later sessions have the key of theirs in the record). Whoever writes blocks writes here, in the same transaction.
 */
import type { Database } from "lmdb";
import type { Block } from "../contract/configuration/entities.js";
import { decodeSessionToken, tokenBytes } from "../contract/sessions/session-token.js";
import { limits } from "../limits.js";
import {
  idempotencyKeyBytes,
  namingKinds as kinds,
  namingRowKey,
  sessionKey,
  sessionKeyBytes,
  tokenAt,
} from "./keys.js";

/** An `Idempotency-Key` row does not say of which project it is; no project has this number. */
const noProject = 0;
const kindAt = sessionKeyBytes;
const rowAt = kindAt + 1;
const idBytes = 6;
const present = Buffer.of(1);

interface Tables {
  readonly blocks: Database<Block, [number, number]>;
  readonly namingRows: Database<Buffer, Buffer>;
}
type BlockKey = [projectId: number, id: number];

/** Puts a block, new or changed, and names it to its session. Call inside a write transaction. */
export function putBlock(tables: Tables, projectId: number, block: Block): void {
  tables.blocks.putSync([projectId, block.id], block);
  const key = keyOfBlock(projectId, block);
  if (key !== null) tables.namingRows.putSync(key, present);
}

/** Removes blocks. Call inside a write transaction. */
export function removeBlocks(tables: Tables, rows: Iterable<{ readonly key: BlockKey; readonly value: Block }>): void {
  for (const { key, value } of rows) {
    tables.blocks.removeSync(key);
    const name = keyOfBlock(key[0], value);
    if (name !== null) tables.namingRows.removeSync(name);
  }
}

/** Keys of the blocks of a session (`sessionKey`), the first one first. */
export function blockKeysOf({ namingRows }: Pick<Tables, "namingRows">, session: Buffer): BlockKey[] {
  return keysOf(namingRows, session, kinds.block).map((key) => [key.readUInt32BE(0), key.readUIntBE(rowAt, idBytes)]);
}

/** Keys of the `Idempotency-Key` rows of before schema 7 that lead to this token. */
export function earlierContacts({ namingRows }: Pick<Tables, "namingRows">, token: Uint8Array): Buffer[] {
  return keysOf(namingRows, sessionKey(noProject, token), kinds.contact).map((key) => Buffer.from(key.subarray(rowAt)));
}

/** Removes all that is kept here of a session. Call inside a write transaction. */
export function unname({ namingRows }: Pick<Tables, "namingRows">, session: Buffer): void {
  const unknown = sessionKey(noProject, session.subarray(tokenAt));
  const own = [...keysOf(namingRows, session, kinds.block), ...keysOf(namingRows, unknown, kinds.contact)];
  for (const key of own) namingRows.removeSync(key);
}

/** Upper bound of the rows about `Idempotency-Key`s that are gone by now: these begin with 0, then the time of the session. */
export function contactsUntil(nowMs: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeUInt32BE(Math.max(0, Math.floor((nowMs - 2 * limits.idempotencyKeptMs) / 1000)), tokenAt);
  return key;
}

/** Names an `Idempotency-Key` row of before schema 7. Call inside a write transaction. */
function nameContact({ namingRows }: Pick<Tables, "namingRows">, row: Uint8Array, token: Uint8Array): void {
  if (row.length !== idempotencyKeyBytes || token.length !== tokenBytes) return;
  namingRows.putSync(namingRowKey(sessionKey(noProject, token), kinds.contact, row), present);
}

/** Names all blocks and `Idempotency-Key` rows that are there. Call inside a write transaction. Takes about 3 us of processor time a row. */
export function nameRows(store: Tables & { readonly idempotency: Database<Buffer, Buffer> }): void {
  for (const { key, value } of store.idempotency.getRange({})) nameContact(store, key, value);
  for (const { key, value } of store.blocks.getRange({})) {
    const name = keyOfBlock(key[0], value);
    if (name !== null) store.namingRows.putSync(name, present);
  }
}

/** What a row here is about, for the check; null when it has no such form. */
export function namedRow(
  key: Buffer,
): { readonly block: BlockKey; readonly token: Buffer } | { readonly contact: Buffer } | null {
  const bytes = key.length - rowAt;
  const isContact = key[kindAt] === kinds.contact;
  if (isContact) return bytes === idempotencyKeyBytes ? { contact: key.subarray(rowAt) } : null;
  if (key[kindAt] !== kinds.block || bytes !== idBytes) return null;
  const token = Buffer.from(key.subarray(tokenAt, kindAt));
  return { block: [key.readUInt32BE(0), key.readUIntBE(rowAt, idBytes)], token };
}

/** The row here that names a block to its session; null for a block without one, and for a damaged one, which the sweep must be able to remove. */
export function keyOfBlock(projectId: number, { id, sessionToken }: Pick<Block, "id" | "sessionToken">): Buffer | null {
  const token = typeof sessionToken === "string" ? decodeSessionToken(sessionToken) : null;
  if (token === null) return null;
  const number = Buffer.alloc(idBytes);
  number.writeUIntBE(id, 0, idBytes);
  return namingRowKey(sessionKey(projectId, token), kinds.block, number);
}

function keysOf(namingRows: Database<Buffer, Buffer>, session: Uint8Array, kind: number): Buffer[] {
  const range = namingRows.getKeys({ start: namingRowKey(session, kind), end: namingRowKey(session, kind + 1) });
  return [...range].map((key) => Buffer.from(key));
}
