/** `verdictd session show` and `session delete`: what is stored about one visitor, for those who are asked for it or to forget it. */

import { wellFormedToken } from "../../contract/sessions/session-cookie.js";
import { eraseSession } from "../../control-plane/erasure/erase-session.js";
import { blockRow } from "../../control-plane/logs/block-row.js";
import { readStoredSession, type StoredSession } from "../../control-plane/sessions/stored-session.js";
import type { StoreCommand } from "../command.js";
import type { Given } from "../flag.js";
import { textOf } from "../given.js";
import { CommandFailure, UsageFailure } from "../output.js";

const positionals = [{ name: "TOKEN", help: "session token, sess_…" }] as const;

function tokenOf(given: Given): string {
  const token = textOf(given, "TOKEN");
  if (!wellFormedToken.test(token)) throw new UsageFailure("TOKEN: expected a session token, sess_…");
  return token;
}

function view(token: string, session: StoredSession): object {
  const { state } = session;
  return {
    session_token: token,
    project_id: session.projectId,
    scored: state.scored,
    score: state.score,
    engines: state.engineScores,
    detection_ids: state.detectionIds,
    verified_bot: state.verifiedBot,
    event_count: state.eventCount,
    first_seen_at: timestamp(session.beganMs),
    last_seen_at: timestamp(state.lastSeenMs),
    logged_in_at: state.loggedInAtMs === 0 ? null : timestamp(state.loggedInAtMs),
    path: state.last.path,
    host: state.last.host,
    ip: state.last.ip,
    user_agent: state.last.userAgent,
    request_ids: session.requestIds,
    idempotency_keys: session.idempotencyKeys,
    record_bytes: session.recordBytes,
    features: session.features,
    trail: session.timeline,
    ...session.further,
    mark: session.mark === null ? null : { as: session.mark.as, marked_at: session.mark.markedAt },
    blocks: session.blocks.map(blockRow),
  };
}

function timestamp(atMs: number): string {
  return new Date(atMs).toISOString();
}

const unknownSession = "no project has a session with this token";

/** Show and delete by token; an unknown token is a failure. */
export const sessionCommands: readonly StoreCommand[] = [
  {
    name: "session show",
    help: "show everything that is stored about a session",
    worksOnMigrated: true,
    positionals,
    onCluster: "same",
    run: async (store, given) => {
      const token = tokenOf(given);
      const session = await readStoredSession(store, token);
      if (session === null) throw new CommandFailure(unknownSession);
      return view(token, session);
    },
  },
  {
    name: "session delete",
    help: "delete a session, its blocks and every row that names it",
    positionals,
    onCluster: "same",
    run: async (store, given) => {
      const token = tokenOf(given);
      const erased = await eraseSession(store, token);
      if (erased === null) throw new CommandFailure(unknownSession);
      const { projectId, ...rows } = erased;
      return { session_token: token, project_id: projectId, erased: rows };
    },
  },
];
