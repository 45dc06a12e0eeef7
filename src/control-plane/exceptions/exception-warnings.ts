/** What to know about an exception before somebody relies on it: that it is for a definite bot, for a name that anybody can copy or that no list has, or for a part of the internet. Reads only. */
import type { Project } from "../../contract/configuration/entities.js";
import { isWideNetwork } from "../../contract/configuration/exceptions.js";
import { type Refusal, refuse } from "../../errors.js";
import { limits } from "../../limits.js";
import type { Slices } from "../../runtime/long-work.js";
import type { Store } from "../../store/store.js";
import { bandOfSession } from "../../verdict/bands.js";
import type { Sessions } from "../sessions/sessions.js";
import type { NewException } from "./exceptions.js";

/** What the warnings read. */
interface WarningSources {
  readonly store: Store;
  readonly sessions: Sessions;
  /** Whether a list knows an agent or a bot by this name, in lower case. */
  readonly isListed: (agent: string) => boolean;
  /** Whether only a signature or an address shows that somebody is this agent, by its name in lower case. */
  readonly isProved: (agent: string) => boolean;
  /** An address in the form in which it is stored; "" when it is not. */
  readonly storedForm: (address: string) => string;
}

const definiteSession = "The session is in the band definite: whoever it is acts as a program does.";
const definiteAddress = "The latest request from this address was in the band definite.";
const copied = "Anybody can take this name: it is known by a user agent, by marks in the page or by behavior alone.";
const unlisted =
  "No list of this server has an agent or a bot of this name: it lets nobody through as long as none has.";
const wide = "Very many visitors have addresses in this network: all of them are let through.";

/** One sentence at most for each exception. */
export class ExceptionWarnings {
  readonly #sources: WarningSources;

  constructor(sources: WarningSources) {
    this.#sources = sources;
  }

  /** Null for nothing to say; a refusal for a session that the project does not have; `aborted` when whoever asked has gone. */
  async of(
    project: Project,
    { kind, value }: Pick<NewException, "kind" | "value">,
    slices: Slices,
  ): Promise<string | null | Refusal | "aborted"> {
    if (kind === "agent") {
      const { isListed, isProved } = this.#sources;
      return isProved(value) ? null : isListed(value) ? copied : unlisted;
    }
    if (kind === "session_token") return this.#ofSession(project, value);
    if (kind === "network") return isWideNetwork(value) ? wide : null;
    return kind === "ip" ? this.#ofAddress(project, value.slice(0, value.indexOf("/")), slices) : null;
  }

  async #ofSession(project: Project, token: string): Promise<string | null | Refusal> {
    const { sessions } = this.#sources;
    await sessions.load(project.id, token, "certain");
    const state = sessions.scoredState(project.id, token);
    if (state === null) return refuse("invalidPayload", "subject.session_token: the project has no such session");
    return bandOfSession(state, project.likelyBotThreshold) === "definite" ? definiteSession : null;
  }

  /** Its latest request that is stored: a session's, or a block without one. */
  async #ofAddress(project: Project, address: string, slices: Slices): Promise<string | null | "aborted"> {
    const { store, sessions, storedForm } = this.#sources;
    const stored = storedForm(address);
    if (stored === "") return null;
    let latest = { atMs: 0, isDefinite: false };
    const visited = await sessions.visitLatest(project.id, limits.exceptionLookBack, slices, ({ state }) => {
      if (state.last.ip !== stored || state.lastSeenMs <= latest.atMs) return;
      const isDefinite = bandOfSession(state, project.likelyBotThreshold) === "definite";
      latest = { atMs: state.lastSeenMs, isDefinite };
    });
    if (visited === "aborted") return "aborted";
    const blocks = await store.recorded.blocks.before(project.id, Number.MAX_SAFE_INTEGER, limits.exceptionLookBack);
    const block = blocks.find(({ ip }) => ip === stored);
    if (block !== undefined && Date.parse(block.createdAt) > latest.atMs)
      return definiteIf(block.verdict === "definite");
    return definiteIf(latest.isDefinite);
  }
}

function definiteIf(isDefinite: boolean): string | null {
  return isDefinite ? definiteAddress : null;
}
