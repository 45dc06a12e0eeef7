/** The family that a user agent claims. Sessions can be counted by it and found again by a condition on the text. Pure. */
import type { Expression } from "./ast.js";

/** Families of user agents that begin as browsers do, by the names in them; if several fit, the first one. */
const browsers: readonly (readonly [name: string, token: string])[] = [
  ["Edge", "Edg"],
  ["Opera", "OPR/"],
  ["Samsung Internet", "SamsungBrowser/"],
  ["Headless Chrome", "HeadlessChrome/"],
  ["Chrome", "Chrome/"],
  ["Firefox", "Firefox/"],
  ["Firefox on iOS", "FxiOS/"],
  ["Chrome on iOS", "CriOS/"],
  ["Safari", "Safari/"],
];
const browserStart = "Mozilla/";
const otherBrowser = "Other browser or crawler";

/** Returns the browser, or the first named product, such as `curl`; "" for no user agent. */
export function userAgentFamily(userAgent: string): string {
  if (userAgent.startsWith(browserStart)) {
    return browsers.find(([, token]) => userAgent.includes(token))?.[0] ?? otherBrowser;
  }
  return /^[^/\s(;]*/.exec(userAgent)![0] || userAgent;
}

/** Returns the condition on the user agents of a family; for a product, it also matches names that begin with the product's. */
export function familyCondition(family: string): Expression {
  const index = browsers.findIndex(([name]) => name === family);
  if (index < 0 && family !== otherBrowser)
    return { type: "cmp", op: "starts_with", field: "user_agent", value: family };
  const isBrowser: Expression = { type: "cmp", op: "starts_with", field: "user_agent", value: browserStart };
  const before = (index < 0 ? browsers : browsers.slice(0, index)).map(([, token]) => token);
  // A text without `Chrome/` does not contain `HeadlessChrome/` either.
  const others = before.filter((token) => !before.some((other) => other !== token && token.includes(other)));
  const own = index < 0 ? [] : [names(browsers[index]![1])];
  const nodes = others.map(names);
  const without: Expression[] =
    nodes.length === 0 ? [] : [{ type: "not", node: nodes.length === 1 ? nodes[0]! : { type: "or", nodes } }];
  return { type: "and", nodes: [isBrowser, ...own, ...without] };
}

/** The families with conditions of several comparisons. */
export const userAgentFamilies: readonly string[] = [...browsers.map(([name]) => name), otherBrowser];

function names(token: string): Expression {
  return { type: "cmp", op: "contains", field: "user_agent", value: token };
}
