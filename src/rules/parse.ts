/**
 * Second stage: turns tokens into a tree, and checks each comparison's types on the way (`check.ts`). Recursive descent, bounded by the depth limit.
 * Bad source returns a fault, and never throws. `compileRule` bounds the length of the source.
 *
 *   expr = and { OR and }   and = not { AND not }   not = NOT not | "(" expr ")" | cmp
 *   cmp  = field op literal | field in "{" literal { "," literal } "}" | boolean-field
 */
import { nearestWord } from "../contract/values/nearest-word.js";
import { limits } from "../limits.js";
import type { Comparison, Expression, Literal, Operator } from "./ast.js";
import { operators } from "./ast.js";
import { expectedLiteral, literalFor, operatorsOfType, takesAnyText } from "./check.js";
import { isRuleFault, RuleFault, shown } from "./fault.js";
import { type ExpressionUse, type Field, fieldOf, fieldsFor, isSearchField, knownValues } from "./fields.js";
import { lex, type Token } from "./lex.js";

const operatorNames: ReadonlyMap<string, Operator> = new Map(operators.map((each) => [each, each]));
const reserved: ReadonlySet<string> = new Set(["and", "or", "not", "true", "false", ...operators]);

/** Returns the operator of a token: symbols unchanged, words in any case. */
function operatorOf(token: Token): Operator | undefined {
  return token.kind === "symbol" || token.kind === "word" ? operatorNames.get(token.text.toLowerCase()) : undefined;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}

class Parser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  readonly #use: ExpressionUse;
  #index = 0;
  #nodes = 0;

  constructor(source: string, use: ExpressionUse) {
    this.#source = source;
    this.#use = use;
    this.#tokens = lex(source);
  }

  parse(): Expression | RuleFault {
    const expression = this.#chain("or", 0);
    if (isRuleFault(expression)) return expression;
    if (this.#token.kind !== "end") return this.#fault("AND, OR or the end of the expression");
    return expression;
  }

  get #token(): Token {
    return this.#tokens[this.#index]!;
  }

  /** Returns the fault at this token. A bad token's own message explains more than the grammar's expectation. */
  #fault(expected: string): RuleFault {
    const { kind, text, value, offset } = this.#token;
    if (kind === "bad") return new RuleFault(this.#source, offset, value, text);
    return new RuleFault(this.#source, offset, expected, kind === "end" ? "the end of the expression" : shown(text));
  }

  /** The same when another word was probably meant: `text` would replace the token. */
  #misspelt(expected: string, meant: string | undefined, text = meant): RuleFault {
    const { kind, text: found, offset } = this.#token;
    if (meant === undefined || text === undefined || kind === "bad") return this.#fault(expected);
    const fix = { from: offset, to: offset + found.length, text };
    return new RuleFault(this.#source, offset, `${expected} (did you mean ${text}?)`, shown(found), fix);
  }

  #take(kind: Token["kind"], text: string): boolean {
    const token = this.#token;
    if (token.kind !== kind || token.text.toLowerCase() !== text) return false;
    this.#index++;
    return true;
  }

  /** Counts one more node of the tree at the current token. */
  #countNode(): RuleFault | undefined {
    this.#nodes++;
    if (this.#nodes <= limits.ruleNodesMax) return undefined;
    return this.#fault(`at most ${limits.ruleNodesMax} comparisons, connectives and NOTs in total`);
  }

  #tooDeep(depth: number): RuleFault | undefined {
    if (depth < limits.ruleDepthMax) return undefined;
    return this.#fault(`at most ${limits.ruleDepthMax} levels of parentheses and NOT`);
  }

  #chain(type: "and" | "or", depth: number): Expression | RuleFault {
    const first = this.#link(type, depth);
    if (isRuleFault(first)) return first;
    if (this.#token.kind !== "word" || this.#token.text.toLowerCase() !== type) return first;
    const fault = this.#countNode();
    if (fault !== undefined) return fault;
    const nodes = [first];
    while (this.#take("word", type)) {
      const next = this.#link(type, depth);
      if (isRuleFault(next)) return next;
      nodes.push(next);
    }
    return { type, nodes };
  }

  #link(type: "and" | "or", depth: number): Expression | RuleFault {
    return type === "or" ? this.#chain("and", depth) : this.#operand(depth);
  }

  #operand(depth: number): Expression | RuleFault {
    const token = this.#token;
    if (token.kind === "word" && token.text.toLowerCase() === "not") return this.#negation(depth);
    if (token.kind === "symbol" && token.text === "(") return this.#group(depth);
    return this.#comparison();
  }

  #negation(depth: number): Expression | RuleFault {
    const fault = this.#tooDeep(depth) ?? this.#countNode();
    if (fault !== undefined) return fault;
    this.#index++;
    const node = this.#operand(depth + 1);
    return isRuleFault(node) ? node : { type: "not", node };
  }

  #group(depth: number): Expression | RuleFault {
    const fault = this.#tooDeep(depth);
    if (fault !== undefined) return fault;
    this.#index++;
    const inner = this.#chain("or", depth + 1);
    if (isRuleFault(inner)) return inner;
    return this.#take("symbol", ")") ? inner : this.#fault('AND, OR or ")"');
  }

  #comparison(): Comparison | RuleFault {
    const fault = this.#countNode();
    if (fault !== undefined) return fault;
    const { kind, text } = this.#token;
    if (kind !== "word" || reserved.has(text.toLowerCase())) return this.#fault('a field, NOT or "("');
    const field = fieldOf(text);
    if (field === undefined) return this.#unknownField(text);
    if (this.#use !== "search" && isSearchField(text)) {
      return this.#fault(`a field of rules (${text} is what rules decide: only searches have it)`);
    }
    this.#index++;
    return this.#condition(field);
  }

  #unknownField(text: string): RuleFault {
    const names = fieldsFor(this.#use).map(({ name }) => name);
    const meant = nearestWord(text, names);
    return meant === undefined
      ? this.#fault(`a known field (${names.join(", ")})`)
      : this.#misspelt("a known field", meant);
  }

  #condition(field: Field): Comparison | RuleFault {
    const op = operatorOf(this.#token);
    if (op === undefined && field.type === "boolean") {
      return { type: "cmp", op: "==", field: field.name, value: true };
    }
    const allowed = operatorsOfType[field.type];
    if (op === undefined || !allowed.includes(op)) {
      const expected = `an operator of ${field.name} (${quoted(allowed)})`;
      const { kind, text } = this.#token;
      return kind === "word" && op === undefined && !reserved.has(text.toLowerCase())
        ? this.#misspelt(expected, nearestWord(text, allowed))
        : this.#fault(expected);
    }
    this.#index++;
    const value = op === "in" ? this.#set(field) : this.#literal(field, op);
    return value instanceof RuleFault ? value : { type: "cmp", op, field: field.name, value };
  }

  #literal(field: Field, op: Operator): Literal | RuleFault {
    const value = literalFor(field, this.#token, op, this.#use);
    if (value === undefined) return this.#badLiteral(field, op);
    this.#index++;
    return value;
  }

  #badLiteral(field: Field, op: Operator): RuleFault {
    const { kind, value } = this.#token;
    const isText = kind === "word" || kind === "string";
    const isAny = takesAnyText(op);
    const meant = isText && !isAny ? nearestWord(value, knownValues(field)) : undefined;
    return this.#misspelt(expectedLiteral(field, isAny), meant, meant && `"${meant}"`);
  }

  #set(field: Field): Literal[] | RuleFault {
    if (!this.#take("symbol", "{")) return this.#fault('"{"');
    const members: Literal[] = [];
    do {
      if (members.length === limits.ruleSetMax) return this.#fault(`at most ${limits.ruleSetMax} members of a set`);
      const member = this.#literal(field, "in");
      if (member instanceof RuleFault) return member;
      members.push(member);
    } while (this.#take("symbol", ","));
    return this.#take("symbol", "}") ? members : this.#fault('"," or "}"');
  }
}

/**
 * Returns the tree of a well-formed, well-typed expression within the bounds of depth, nodes and sets, or the first fault; a search has more fields.
 * Never throws.
 */
export function parse(source: string, use: ExpressionUse = "rule"): Expression | RuleFault {
  return new Parser(source, use).parse();
}
