/**
 * Says which agent, crawler or library a visitor is, and how sure that is: apart from the question whether it is a bot. Pure; the lists are asked
 * through `AgentLists`.
 */
import { agentDetections, type KnownAgent, unknownAgent } from "../contract/agents.js";
import type { DeclaredBot } from "../contract/declared-bots.js";
import type { ExaminedRequest } from "../contract/judged-request.js";
import type { ScoredState } from "../contract/session.js";
import type { VerifiedBot } from "../contract/verified-bots.js";

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
  if (verifiedBot !== null) return { ...verifiedBot, certainty: "verified" };
  const declared = declaredBot(state, request, lists);
  if (declared !== undefined) return { name: declared.name, category: declared.category, certainty: "declared" };
  const marked = state?.agentMarks === undefined ? undefined : lists?.marked(state.agentMarks);
  return marked ?? (state?.detectionIds.includes(agentDetections.acting) === true ? unknownAgent : undefined);
}

/** What shows the session's agent, for people: of its behavior the slugs of what `fired` in the family of detections that the conclusion belongs to. */
export function agentEvidence(
  { name, certainty }: KnownAgent,
  { last, agentMarks = "" }: ScoredState,
  fired: readonly { readonly id: number; readonly slug: string }[],
): string[] {
  switch (certainty) {
    case "signed":
    case "verified":
      return [`address or host name of ${name}`];
    case "declared":
      return [`user agent: ${last.userAgent}`];
    case "marked":
      return agentMarks.split(",");
    case "behavior":
      return fired
        .filter(({ id }) => id > agentDetections.acting && id < agentDetections.acting + 100)
        .map(({ slug }) => slug);
  }
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
