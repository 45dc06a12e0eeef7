/** Literals of texts that never, or always, compare true, and why: for the warnings of `warnings.ts`. Literals are in the spelling of values. */
import { contextValueMax } from "../limits.js";

/** How a literal is compared: as a whole value, or as a part by an operator. */
export type LiteralUse = "whole" | "contains" | "starts_with" | "ends_with" | "wildcard";

/** Of a path in the form of `rulePath`. */
export function neverPath(literal: string, use: LiteralUse): string | undefined {
  if (literal.includes("#") || (use !== "wildcard" && literal.includes("?")))
    return "a path has no query and no fragment";
  if (literal.includes("\\")) return "a path has / in place of \\";
  if (literal.includes("//")) return "a path has no empty segments";
  if (literal.replaceAll("*", "").length > contextValueMax) return `a path is cut to ${contextValueMax} characters`;
  const isStart = use === "whole" || use === "starts_with";
  const begins = use === "wildcard" ? /^[/*?]/ : /^\//;
  return (isStart || use === "wildcard") && !begins.test(literal) ? "a path begins with /" : undefined;
}

/** The same for what every path has. */
export function alwaysPath(literal: string, use: LiteralUse): string | undefined {
  const isAlways =
    use === "wildcard" ? /^\/?\*+$/.test(literal) : literal === "/" && (use === "starts_with" || use === "contains");
  return isAlways ? "every path begins with /" : undefined;
}

/** Of a host in the form of `canonicalHost`. */
export function neverHost(literal: string, use: LiteralUse): string | undefined {
  if ((use === "wildcard" ? /[\s/#@\\]/ : /[\s/?#@\\]/).test(literal))
    return "a host is a name alone, without scheme and path";
  if (/:\d*$/.test(literal) && !/[[\]]|:.*:/.test(literal)) return "a host has no port";
  const isEnd = use === "whole" || use === "ends_with" || use === "wildcard";
  return isEnd && /(?:^|[^.])\.$/.test(literal) ? "a host has no dot at its end" : undefined;
}

/** Of a method, in capitals. */
export function neverMethod(literal: string, use: LiteralUse): string | undefined {
  return use === "whole" && !/^[A-Z]{1,20}$/.test(literal) ? "a method is 1 to 20 letters" : undefined;
}
