/**
 * Says which agent, crawler or library a visitor is, and how sure that is: apart from the question whether it is a bot. Pure; the lists are asked
 * through `AgentLists`.
 */
import { agentDetections, type KnownAgent, unknownAgent } from "../contract/bots/agents.js";
import type { DeclaredBot } from "../contract/bots/declared-bots.js";
import type { VerifiedBot } from "../contract/bots/verified-bots.js";
import type { ScoredState } from "../contract/sessions/session.js";
import type { ExaminedRequest } from "../contract/verdicts/judged-request.js";

/** The lists in force. */
export interface AgentLists {
  readonly declaredBot: (userAgent: string) => DeclaredBot | undefined;
  /** The agent that these marks, as `ScoredState.agentMarks` has them, are of. */
  readonly marked: (marks: string) => KnownAgent | undefined;
}

/** What a session and its asking request show of the visitor. */
interface ShownIdentity {
  readonly state: ScoredState | null;
  /** Absent where the session alone is judged. */
  readonly request?: ExaminedRequest | undefined;
  readonly verifiedBot: VerifiedBot | null;
}

/** The agent by the surest of what is shown; undefined for a person, and for a name that is spoofed. */
export function knownAgent(
  { state, request, verifiedBot }: ShownIdentity,
  lists: AgentLists | undefined,
): KnownAgent | undefined {
  const signed = request?.signedAgent;
  if (signed !== undefined) return { name: signed.name, category: signed.category, certainty: "signed" };
  const declared = declaredBot(state, request, lists);
  if (verifiedBot !== null) {
    // The address proves the operator, which of its bots it is the user agent says.
    const { name, category } = declared?.operator === verifiedBot.name ? declared : verifiedBot;
    return { name, category, certainty: "verified" };
  }
  if (declared !== undefined) return { name: declared.name, category: declared.category, certainty: "declared" };
  const marked = state?.agentMarks === undefined ? undefined : lists?.marked(state.agentMarks);
  return marked ?? (state?.detectionIds.includes(agentDetections.acting) === true ? unknownAgent : undefined);
}

/**
 * What shows the session's agent, for people: of its behavior the slugs of the signs that decided, then of what else `fired` in the family of detections that
 * the conclusion belongs to.
 */
export function agentEvidence(
  { certainty }: KnownAgent,
  { last, agentMarks = "", verifiedBot }: ScoredState,
  fired: readonly { readonly id: number; readonly slug: string; readonly decidedBy?: readonly string[] }[],
  lists: AgentLists,
): string[] {
  const { acting } = agentDetections;
  const signs = fired.find(({ id }) => id === acting)?.decidedBy ?? [];
  const others = fired.filter(({ id }) => id > acting && id < acting + 100);
  switch (certainty) {
    case "signed":
    case "verified":
      return [`address or host name of ${verifiedBot?.name}`, ...claimElsewhere(verifiedBot, last.userAgent, lists)];
    case "declared":
      return [`user agent: ${last.userAgent}`];
    case "marked":
      return agentMarks.split(",");
    case "behavior":
      return [...new Set([...signs, ...others.map(({ slug }) => slug)])];
  }
}

/** A user agent that names somebody else's bot than the operator whose address it comes from. */
function claimElsewhere(verifiedBot: VerifiedBot | null, userAgent: string, lists: AgentLists): string[] {
  const declared = lists.declaredBot(userAgent);
  if (declared === undefined || declared.category === "library" || declared.operator === verifiedBot?.name) return [];
  return [`user agent: ${userAgent}, which names ${declared.name} of ${declared.operator}`];
}

function declaredBot(
  state: ScoredState | null,
  request: ExaminedRequest | undefined,
  lists: AgentLists | undefined,
): DeclaredBot | undefined {
  if (state?.detectionIds.includes(agentDetections.spoofed) === true) return undefined;
  if (request === undefined) {
    const userAgent = state?.last.userAgent ?? "";
    return userAgent === "" ? undefined : lists?.declaredBot(userAgent);
  }
  const { declaredBot: declared, isSpoofed, hasHeaders, detectionIds } = request;
  if (declared === null || isSpoofed === true) return undefined;
  // Apps show pages to people under the same names: their headers tell, and then the request is no bot's.
  const isView = appCategories.has(declared.category) && hasHeaders && !detectionIds.includes(agentDetections.declared);
  return isView ? undefined : declared;
}

const appCategories: ReadonlySet<string> = new Set(["preview", "feed"]);
