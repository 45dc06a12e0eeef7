/** The steps that bring an older store to the tables and records of this build, one for each schema version after 5. */
import { indexAccountRows } from "./account-rows.js";
import { nameRows } from "./naming-rows.js";
import type { Schema, Upgrade } from "./schema-version.js";

/** Tokens and projects are found by their account. */
const rowsByAccount: Upgrade = { to: 6, apply: indexAccountRows };

/** What names a session is found by it. */
const rowsOfSessions: Upgrade = { to: 7, apply: nameRows };
/** Sessions may hold when a pass was refused and the networks of a clearance: read as it is, but an older build would misread new records. */
const challenged: Upgrade = { to: 8, apply: () => {} };

/** Sessions may hold marks of agents: as `challenged`. */
const agentMarks: Upgrade = { to: 9, apply: () => {} };

/** Records of sessions may pack their user agent: an older build would take such a session for a new one. */
const packedAgents: Upgrade = { to: 10, apply: () => {} };

/** This build's. Raise the version together with a step in `upgrades`. */
export const currentSchema: Schema = {
  version: 10,
  upgrades: [rowsByAccount, rowsOfSessions, challenged, agentMarks, packedAgents],
};
