/** A project's rules as a file: YAML that people edit, keep in version control and apply again. */
import type { tags } from "typia";
import type { Action } from "../verdicts/verdict.js";

/** One rule. `apply` identifies rules by their names. */
export interface FiledRule {
  name: string & tags.MinLength<1> & tags.MaxLength<255>;
  expression: string;
  action: Action;
  /** Default true. */
  is_active?: boolean;
  /** ISO 8601: from then on the rule is inactive; absent: it never expires. */
  expires_at?: string;
}

/** In the order of evaluation. */
export interface RulesFile {
  rules: FiledRule[];
}
