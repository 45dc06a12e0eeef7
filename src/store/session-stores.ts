/**
 * The environments that sessions are split over: the token says which one holds a session. Everything that has to look at all of them
 * goes through here, or walks `Store.sessionStores` itself; the first of them is the main environment.
 */
import { placeOfToken } from "../contract/session-token.js";
import { tokenAt } from "./keys.js";
import type { SessionStore } from "./session-store.js";
import type { Store } from "./store.js";

/** The environment that holds, or would hold, the session of a token, given as bytes. */
export function sessionStoreOf({ sessionStores }: Store, token: Uint8Array): SessionStore {
  return sessionStores[placeOfToken(token, sessionStores.length)]!;
}

/** The same for the key of a session (`sessionKey`). */
export function sessionStoreOfKey({ sessionStores }: Store, key: Uint8Array): SessionStore {
  return sessionStores[placeOfToken(key, sessionStores.length, tokenAt)]!;
}

/** The sum of a number over all environments. */
export function sumOver({ sessionStores }: Store, numberOf: (part: SessionStore) => number): number {
  let sum = 0;
  for (const part of sessionStores) sum += numberOf(part);
  return sum;
}

/** The same over the other environments of the same store: 0 where there is but one. Read as `freshenOthers` last left them. */
export function sumOverOthers({ others }: SessionStore, numberOf: (part: SessionStore) => number): number {
  let sum = 0;
  for (const part of others) sum += numberOf(part);
  return sum;
}

/** Lets a transaction in one environment read the others as they are now. Call at its start, inside of it. */
export function freshenOthers({ others }: SessionStore): void {
  for (const { root } of others) root.resetReadTxn();
}

/** Rows of a table, all environments together. Reads LMDB's own counts. */
export function rowsOf(store: Store, table: "sessions" | "trails"): number {
  return sumOver(store, (part) => (part[table].getStats() as { entryCount: number }).entryCount);
}

/** Bytes of all data files that are in use: pages up to the last one that was ever used. */
export function usedBytes(store: Store): number {
  return sumOver(store, usedBytesOf);
}

/** The same of one environment. */
export function usedBytesOf({ sessions }: SessionStore): number {
  const { lastPageNumber, pageSize } = sessions.getStats() as { lastPageNumber: number; pageSize: number };
  return (lastPageNumber + 1) * pageSize;
}
