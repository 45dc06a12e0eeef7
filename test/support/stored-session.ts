/** A session put straight into a store, as one batch long ago would have left it: for tests of what reads sessions or refers to them. */
import type { VerdictPart } from "../../src/contract/session.js";
import { encodeSessionToken, mintSessionToken } from "../../src/contract/session-token.js";
import { sessionKey } from "../../src/store/keys.js";
import { encodeSession } from "../../src/store/session-record.js";
import type { Store } from "../../src/store/store.js";

const noBytes = Buffer.alloc(0);

/** Stores a session that began at `firstSeenMs`; its token. Tokens of one time differ by `number`, 0 to 255. */
export function putSession(store: Store, projectId: number, firstSeenMs: number, number = 0): string {
  const token = mintSessionToken(firstSeenMs, (into) => into.fill(number));
  const verdict: VerdictPart = {
    scored: false,
    engineScores: { heuristics: null, js_detection: null, behavioral: null },
    score: 0,
    detectionIds: [],
    verifiedBot: null,
    firstSeenMs,
    lastSeenMs: firstSeenMs,
    loggedInAtMs: 0,
    eventCount: 1,
    last: { ip: "", userAgent: "", path: "", host: "" },
  };
  store.sessions.putSync(sessionKey(projectId, token), encodeSession({ verdict, repeats: noBytes, features: noBytes }));
  return encodeSessionToken(token);
}
