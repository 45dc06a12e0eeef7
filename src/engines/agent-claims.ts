/** What a User-Agent claims, as far as detections need it. Each text is parsed once, because the same ones come again and again. */
import { automationUserAgents } from "../detections/automation-user-agents.js";
import { TextMemo } from "../runtime/text-memo.js";
import { type ClaimedBrowser, claimedBrowser } from "./claimed-browser.js";

/** Facts that are the same for every session and request with the user agent. */
interface AgentClaims {
  /** 2: it names a tool that no person uses as a browser; 1: one that ordinary apps use as well; 0: none. */
  readonly tool: number;
  readonly browser: ClaimedBrowser;
}

/** The claims of recent user agents: working them out takes four microseconds. */
const latestClaims = new TextMemo<AgentClaims>(1000);

/** Returns the claims of a user agent: 4 µs for a new one, next to nothing for one of the last thousand or so. */
export function claimsOf(userAgent: string): AgentClaims {
  let claims = latestClaims.get(userAgent);
  if (claims === undefined) {
    claims = { tool: toolStrength(userAgent), browser: claimedBrowser(userAgent) };
    latestClaims.set(userAgent, claims);
  }
  return claims;
}

/** The list is long. */
const toolTokens = automationUserAgents.map((each) => ({
  token: each.token.toLowerCase(),
  strength: each.strength === "strong" ? 2 : 1,
}));

function toolStrength(userAgent: string): number {
  const agent = userAgent.toLowerCase();
  let strength = agent === "node" || agent === "bun" || agent === "deno" ? 2 : 0;
  for (const each of toolTokens) {
    if (each.strength > strength && agent.includes(each.token)) strength = each.strength;
  }
  return strength;
}
