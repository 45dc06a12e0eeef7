/** The one spelling in which a field's values are compared: getters return values in it, and compilation converts literals to it. */
import { canonicalHost, canonicalHostPart } from "../contract/values/host.js";
import { httpVersionOf } from "../contract/verdicts/judged-request.js";
import { rulePath, rulePathPart } from "../contract/verdicts/visitor-request.js";
import type { Operator } from "./ast.js";
import { literalStar } from "./glob.js";

/** Returns a literal as the operator compares it. Pure; never throws. */
export type Spelling = (literal: string, op: Operator) => string;

/** For values without regard to case that are kept in small letters. */
export const lowerCase: Spelling = (literal) => literal.toLowerCase();
/** The same in capitals. */
export const upperCase: Spelling = (literal) => literal.toUpperCase();

/**
 * As `rulePath`. Parts of a path are only decoded: to drop their empty segments or to resolve their dots could turn a comparison that never holds into
 * one that always does (`contains "//"`). A literal with a query stays as it is, since no path has one, for the same reason.
 */
export const pathSpelling: Spelling = (literal, op) => {
  switch (op) {
    case "==":
    case "!=":
    case "in":
      return /[?#]/.test(literal) ? literal : (rulePath(literal) ?? rulePathPart(literal));
    case "wildcard":
      return literal.split(/%2A/i).map(rulePathPart).join(literalStar);
    default:
      return rulePathPart(literal);
  }
};

/** As `canonicalHost`; of a part of a host as far as that goes. */
export const hostSpelling: Spelling = (literal, op) => {
  switch (op) {
    case "==":
    case "!=":
    case "in":
      return canonicalHost(literal);
    default:
      return canonicalHostPart(literal, op === "ends_with" || op === "wildcard");
  }
};

/** `HTTP/2` and `2.0` are `2`. */
export const httpVersionSpelling: Spelling = (literal, op) =>
  op === "==" || op === "!=" || op === "in" ? (httpVersionOf(literal) ?? literal) : literal;
