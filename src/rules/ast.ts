/**
 * The compiled form of a rule's expression, in the API's form (`docs/rules.md`): plain JSON, made by `parse.ts`, read by `compile.ts` and `print.ts`.
 * Values stay as the author wrote them; nothing here is normalised for comparing.
 */

/** Every operator by its name in the tree; a rule may write word operators in any case. */
export const operators = [
  "==",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "contains",
  "starts_with",
  "ends_with",
  "wildcard",
  "in",
] as const;
/** An operator by its name in the tree; `check.ts` says which fields take it. */
export type Operator = (typeof operators)[number];

/** A value as written. An integer is a number; an address or a member of a closed list is a text. */
export type Literal = string | number | boolean;

/** `field op value`; a list for `in`, otherwise one literal. A bare boolean field means `== true`. */
export interface Comparison {
  readonly type: "cmp";
  readonly op: Operator;
  readonly field: string;
  readonly value: Literal | readonly Literal[];
}

/**
 * An unparenthesised chain of one connective with at least two nodes. Parentheses are kept: `(a AND b) AND c` is an `and` inside an `and`. The
 * printed form then shows the author's groups, and every tree has exactly one text.
 */
interface Chain {
  readonly type: "and" | "or";
  readonly nodes: readonly Expression[];
}

/** `NOT` before one operand. */
interface Negation {
  readonly type: "not";
  readonly node: Expression;
}

/** A node of the tree, and the tree itself. */
export type Expression = Comparison | Chain | Negation;
