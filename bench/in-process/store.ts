/** The session record and its table: pack, unpack, read, write in groups. The store is a real one, in a temporary folder. */

import { randomFillSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mintSessionToken } from "../../src/contract/sessions/session-token.js";
import { sessionKey } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import { decodeScoredState, decodeSession, encodeSession, type SessionRecord } from "../../src/store/session-record.js";
import { type TimedRow, timed } from "./timed.js";

const held = 20_000;
const grouped = 64;

const record: SessionRecord = {
  state: {
    scored: true,
    engineScores: { heuristics: null, js_detection: null, behavioral: 72 },
    score: 72,
    detectionIds: [],
    verifiedBot: null,
    firstSeenMs: 1_795_000_000_000,
    lastSeenMs: 1_795_000_060_000,
    loggedInAtMs: 0,
    clearance: null,
    eventCount: 20,
    last: {
      ip: "203.0.113.9",
      userAgent: "Mozilla/5.0 Chrome/156.0.0.0 Safari/537.36",
      path: "/",
      host: "shop.example",
    },
  },
  seenIds: Buffer.alloc(20 * 8, 7),
  features: Buffer.alloc(400, 9),
};

export function storeBench(): TimedRow[] {
  const folder = mkdtempSync(join(tmpdir(), "verdictd-bench-store-"));
  const store = openStore(folder);
  try {
    const keys = Array.from({ length: held }, () => sessionKey(1, mintSessionToken(Date.now(), randomFillSync)));
    const packed = encodeSession(record);
    store.root.transactionSync(() => {
      for (const key of keys) store.sessions.putSync(key, packed);
    });
    if (decodeSession(store.sessions.getBinary(keys[0]!)!)?.state.score !== 72) throw new Error("not what was stored");
    let next = 0;
    const key = (): Buffer => keys[next++ % held]!;
    return [
      timed(`pack a session record, ${packed.length} bytes`, 50_000, () => encodeSession(record)),
      timed("unpack it wholly", 50_000, () => decodeSession(packed)),
      timed("unpack its scored state", 50_000, () => decodeScoredState(packed)),
      timed(`read a scored state, ${held} sessions`, 50_000, () => {
        decodeScoredState(store.sessions.getBinaryFast(key()) as Buffer);
      }),
      timed(`write ${grouped} sessions in one transaction, synced`, 20, () => {
        store.root.transactionSync(() => {
          for (let index = 0; index < grouped; index++) store.sessions.putSync(key(), packed);
        });
      }),
    ];
  } finally {
    void store.close().then(() => rmSync(folder, { recursive: true, force: true }));
  }
}
