/** Rules as the API shows them. */
import type { Id, Integer, IsoTime } from "../values/answer-values.js";
import type { Action } from "../verdicts/verdict.js";

type RuleLiteral = string | number | boolean;

/** A leaf of the tree: one field compared with a literal. */
interface RuleComparison {
  type: "cmp";
  op: string;
  field: string;
  /** A list for `in`, one literal otherwise. */
  value: RuleLiteral | readonly RuleLiteral[];
}

/** Two or more expressions joined by one operator, in the order of the source. */
interface RuleChain {
  type: "and" | "or";
  nodes: readonly RuleExpression[];
}

/** True where its one node is false. */
interface RuleNegation {
  type: "not";
  node: RuleExpression;
}

/** A rule's compiled tree: derived from its source, never set directly. */
type RuleExpression = RuleComparison | RuleChain | RuleNegation;

/** A rule as the list shows it: without the compiled tree. */
export interface ListedRuleAnswer {
  id: Id;
  project_id: Id;
  name: string;
  expression_source: string;
  action: Action;
  /** False also for a rule that has expired. */
  is_active: boolean;
  sort_order: Integer;
  created_at: IsoTime;
  updated_at: IsoTime;
  /** From then on the rule is inactive; absent: it never expires. */
  expires_at?: IsoTime;
}

/** One rule with its compiled tree: the answer to creating and to changing it. */
export interface RuleAnswer extends ListedRuleAnswer {
  expression: RuleExpression;
  /** What never or always matches, and names of agents that nobody has: a sentence each; absent for nothing to say. */
  warnings?: string[];
}
