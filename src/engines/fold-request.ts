/** Folds the facts of one ingest request (headers, address, counts kept by the store) into the features. */
import { browserFamilies, claimedSystems } from "../contract/evidence/claimed-browser.js";
import { type CrossSessionCounts, ticketStates } from "../contract/evidence/evidence.js";
import type { RequestFacts } from "../contract/evidence/header-facts.js";
import { hashText } from "../contract/values/hashes.js";
import { isVisitorAddress } from "../net/visitor-address.js";
import { claimsOf } from "./agent-claims.js";
import { contradictsHints, contradictsPlatform } from "./client-hints.js";
import { F, type SessionFeatures } from "./session-features.js";

/** `pathPoints` is the number of pointer points in the batch: its shape only matters if it has a path. */
export function foldRequest(
  features: SessionFeatures,
  facts: RequestFacts,
  crossSession: CrossSessionCounts,
  pathPoints: number,
): void {
  const n = features.numbers;
  if (n[F.batches] === 0) n[F.firstSeenMs] = facts.nowMs;
  n[F.batches]! += 1;
  n[F.lastSeenMs] = Math.max(n[F.lastSeenMs]!, facts.nowMs);
  foldIdentity(n, facts);
  foldHeaders(n, facts);
  if (isVisitorAddress(facts.ip)) n[F.ipSessionsMax] = Math.max(n[F.ipSessionsMax]!, crossSession.sessionsFromIp);
  if (pathPoints >= shapePointsMin) {
    n[F.shapeSessionsMax] = Math.max(n[F.shapeSessionsMax]!, crossSession.sessionsWithShape);
  }
  n[F.environmentSessionsMax] = Math.max(n[F.environmentSessionsMax]!, crossSession.sessionsWithEnvironment);
  if (crossSession.startTicket !== null) {
    const state = ticketStates.indexOf(crossSession.startTicket);
    // A later better value does not undo what was seen once.
    if (!(n[F.startTicket]! >= state)) n[F.startTicket] = state;
  }
  n[F.shinglesReplayed]! += Math.max(0, crossSession.replayedShingles);
  n[F.turnHashesReplayed]! += Math.max(0, crossSession.replayedTurns);
}

/** A batch with fewer points (a first page view, one click) looks alike for many people. */
const shapePointsMin = 12;

function foldIdentity(n: number[], facts: RequestFacts): void {
  const agent = hashText(facts.userAgent) || 1;
  if (n[F.userAgentHash] !== agent) {
    if (n[F.userAgentHash] !== 0) foldAgentChange(n, agent, facts);
    foldAgent(n, facts.userAgent);
    n[F.userAgentBefore] = n[F.userAgentHash]!;
    n[F.userAgentHash] = agent;
  }
  const network = hashText(broadNetworkOf(facts.ip)) || 1;
  if (n[F.networkHash] !== 0 && n[F.networkHash] !== network) n[F.networkChanges]! += 1;
  n[F.networkHash] = network;
}

/** Changes further apart do not count together, ms. */
export const agentChangesWithinMs = 3_600_000;

/** An update is no change, nor is the way back to the agent before, as with a switch for desktop sites. */
function foldAgentChange(n: number[], agent: number, { userAgent, nowMs }: RequestFacts): void {
  if (agent === n[F.userAgentBefore] || isUpdate(n, userAgent)) return;
  if (nowMs - n[F.agentChangesSinceMs]! > agentChangesWithinMs) {
    n[F.userAgentChanges] = 0;
    n[F.agentChangesSinceMs] = nowMs;
  }
  n[F.userAgentChanges]! += 1;
}

/** The same browser and system with a higher version, or the same text but for its numbers, none of them a lower version. */
function isUpdate(n: readonly number[], userAgent: string): boolean {
  const { browser } = claimsOf(userAgent);
  if (shapeOf(userAgent) === n[F.userAgentShape]) return browser.version >= n[F.browserVersion]!;
  const isSame =
    browser.family !== "other" &&
    n[F.browserFamily] === 1 + browserFamilies.indexOf(browser.family) &&
    n[F.browserSystem] === 1 + claimedSystems.indexOf(browser.system) &&
    n[F.browserMobile] === (browser.isMobile ? 1 : 0);
  return isSame && browser.version > n[F.browserVersion]!;
}

function shapeOf(userAgent: string): number {
  return hashText(userAgent.replace(/\d+/g, "0"));
}

/** The claims of a new user agent: parsed once per agent, not once per batch. */
function foldAgent(n: number[], userAgent: string): void {
  const { tool, browser } = claimsOf(userAgent);
  n[F.toolAgent] = Math.max(n[F.toolAgent]!, tool);
  n[F.userAgentShape] = shapeOf(userAgent);
  n[F.browserFamily] = userAgent === "" ? 0 : 1 + browserFamilies.indexOf(browser.family);
  n[F.browserSystem] = 1 + claimedSystems.indexOf(browser.system);
  n[F.browserVersion] = browser.version;
  n[F.browserMobile] = browser.isMobile ? 1 : 0;
  n[F.browserEmbedded] = browser.isEmbedded ? 1 : 0;
}

/** The first half of an IPv4 address, the first two groups of an IPv6 one: the part that a phone keeps while its address changes. */
export function broadNetworkOf(ip: string): string {
  const separator = ip.includes(":") ? ":" : ".";
  const first = ip.indexOf(separator);
  const second = first < 0 ? -1 : ip.indexOf(separator, first + 1);
  return second < 0 ? ip : ip.slice(0, second);
}

function foldHeaders(n: number[], facts: RequestFacts): void {
  if (facts.userAgent === "") n[F.noUserAgent]! += 1;
  if (facts.acceptLanguage === "") n[F.noAcceptLanguage]! += 1;
  else if (facts.acceptLanguage === "*") n[F.anyAcceptLanguage]! += 1;
  if (facts.accept === "") n[F.noAccept]! += 1;
  else if (isLibraryAccept(facts.accept)) n[F.libraryAccept]! += 1;
  if (facts.acceptEncoding === "") n[F.noAcceptEncoding]! += 1;
  else if (!facts.acceptEncoding.includes("br")) n[F.noBrotli]! += 1;
  foldOrigin(n, facts.origin);
  foldFetchMetadata(n, facts);
  if (facts.secChUa === "") n[F.noClientHints]! += 1;
  else if (contradictsHints(facts.secChUa, facts.userAgent)) n[F.clientHintsForeign]! += 1;
  const system = claimedSystems[n[F.browserSystem]! - 1];
  if (contradictsPlatform(facts.secChUaPlatform, system)) n[F.platformForeign]! += 1;
}

function foldOrigin(n: number[], origin: string): void {
  if (origin.startsWith("https:")) return;
  n[F.otherOrigin]! += 1;
  if (origin === "") n[F.noOrigin]! += 1;
  else if (!isLoopbackOrigin(origin)) n[F.plainOrigin]! += 1;
}

function foldFetchMetadata(n: number[], facts: RequestFacts): void {
  const { secFetchSite: site, secFetchMode: mode, secFetchDest: dest } = facts;
  if (site === "" && mode === "" && dest === "") n[F.noFetchMetadata]! += 1;
  else if (site === "" || mode === "" || dest === "") n[F.partFetchMetadata]! += 1;
  else if (mode === "navigate" || (dest !== "empty" && dest !== "beacon")) n[F.navigationFetch]! += 1;
}

/** Every browser accepts any type for a script's request, and in-page libraries keep that wildcard in their list. */
function isLibraryAccept(accept: string): boolean {
  return !accept.includes("*/*");
}

/** An origin to which browsers send secure-context headers despite http; "null" (sandboxed) counts as unknown. */
function isLoopbackOrigin(origin: string): boolean {
  const host = origin.startsWith("http://") ? origin.slice(7) : "";
  return (
    host.startsWith("localhost") || host.startsWith("127.") || host.startsWith("[::1]") || host.includes(".localhost")
  );
}
