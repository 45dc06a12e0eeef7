/** The dimensions by which stored sessions are counted: each row has a session's values and the condition that finds them again. */

import type { ScoredState } from "../../contract/sessions/session.js";
import type { SessionDimension } from "../../contract/sessions/session-query.js";
import { canonicalHost } from "../../contract/values/host.js";
import type { Band } from "../../contract/verdicts/verdict.js";
import { rulePath } from "../../contract/verdicts/visitor-request.js";
import { operatorNetwork } from "../../net/network.js";
import type { Comparison, Expression } from "../../rules/ast.js";
import { familyCondition, userAgentFamily } from "../../rules/user-agent-family.js";
import type { SearchedSession } from "../sessions/session-search.js";

/** What is known of a session that is counted. */
export interface CountedSession extends SearchedSession {
  readonly state: ScoredState;
  readonly band: Band;
}

interface DimensionRow {
  /** The session's values; a missing one is "". */
  readonly valuesOf: (session: CountedSession) => string | readonly string[];
  /** `null` if the rule language can't express it. */
  readonly condition: (value: string) => Expression | null;
}

const equals =
  (field: string) =>
  (value: string): Comparison => ({ type: "cmp", op: "==", field, value });

/** One row for each dimension; `condition` gives the comparison that finds the sessions of a value again. */
export const dimensionRows: Readonly<Record<SessionDimension, DimensionRow>> = {
  band: {
    valuesOf: ({ band }) => band,
    condition: (value) => (value === "not_computed" ? null : equals("band")(value)),
  },
  action: { valuesOf: ({ outcome }) => outcome().action, condition: equals("action") },
  rule: {
    valuesOf: ({ outcome }) => {
      const { ruleId, ruleName } = outcome();
      return ruleId === null ? "" : `${ruleId} ${ruleName}`;
    },
    condition: (value) => ({ type: "cmp", op: "==", field: "rule_id", value: Number.parseInt(value, 10) }),
  },
  path: { valuesOf: ({ state }) => rulePath(state.last.path) ?? "", condition: equals("path") },
  host: { valuesOf: ({ state }) => canonicalHost(state.last.host), condition: equals("host") },
  user_agent: { valuesOf: ({ state }) => userAgentFamily(state.last.userAgent), condition: familyCondition },
  declared_bot: { valuesOf: ({ declaredBot }) => declaredBot()?.name ?? "", condition: equals("declared_bot") },
  agent: { valuesOf: ({ agent }) => agent()?.name ?? "", condition: equals("agent") },
  country: { valuesOf: ({ input }) => input?.network.country ?? "", condition: equals("country") },
  as: {
    valuesOf: ({ input }) => {
      const { asn, asName } = input?.network ?? {};
      return asn === undefined ? "" : asName === undefined ? `AS${asn}` : `AS${asn} ${asName}`;
    },
    condition: (value) => ({ type: "cmp", op: "==", field: "asn", value: Number.parseInt(value.slice(2), 10) }),
  },
  network: { valuesOf: ({ state }) => operatorNetwork(state.last.ip), condition: equals("ip") },
  address: { valuesOf: ({ state }) => state.last.ip, condition: equals("ip") },
  detection: {
    valuesOf: ({ state }) => state.detectionIds.map(String),
    condition: (value) => ({ type: "cmp", op: "contains", field: "detection_ids", value: Number(value) }),
  },
};
