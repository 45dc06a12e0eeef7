/** Cursors of the logs: where a page ended, as an opaque text. A position, not a count: rows added meanwhile move nothing. */

/** One letter a log, so that a cursor of one is no cursor of another. */
export type CursorKind = "s" | "b" | "m" | "a";

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

/** One page of a log. */
export interface LogPage<Row> {
  readonly rows: readonly Row[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}
