/** Cursors of the logs: where a page ended, as an opaque text. A position, not a count: rows added meanwhile move nothing. */

/** One letter a log, so that a cursor of one is no cursor of another. */
type CursorKind = "s" | "b" | "m" | "a" | "i" | "r";

/** `position` in base64url behind its kind. */
export function encodeCursor(kind: CursorKind, position: Uint8Array): string {
  return Buffer.concat([Buffer.from(kind, "latin1"), position]).toString("base64url");
}

/** The position of `bytes` bytes, or null for text that `encodeCursor` never made for this log. */
export function decodeCursor(kind: CursorKind, text: string, bytes: number): Buffer | null {
  const decoded = Buffer.from(text, "base64url");
  if (decoded.length !== 1 + bytes || decoded.toString("base64url") !== text) return null;
  return decoded.toString("latin1", 0, 1) === kind ? decoded.subarray(1) : null;
}

const idBytes = 6;

/** Where a page of a list by id ended. */
export function encodeIdCursor(id: number): string {
  const position = Buffer.alloc(idBytes);
  position.writeUIntBE(id, 0, idBytes);
  return encodeCursor("i", position);
}

/** The id that a page ended with, 0 for no cursor; null for text that `encodeIdCursor` never made. */
export function decodeIdCursor(cursor: string | null): number | null {
  return cursor === null ? 0 : (decodeCursor("i", cursor, idBytes)?.readUIntBE(0, idBytes) ?? null);
}

/** One page of a log. */
export interface LogPage<Row> {
  readonly rows: readonly Row[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}
