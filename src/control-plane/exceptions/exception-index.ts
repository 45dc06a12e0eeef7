/** The exceptions of a project in the form that verdicts ask: who of them is let through, at a few look-ups. Pure. */
import type {
  ExceptedVisitor,
  Exception,
  ExceptionLookup,
  LetThrough,
} from "../../contract/configuration/exceptions.js";
import { isCidrFault, parseCidr } from "../../net/cidr.js";
import { type CidrIndex, createCidrIndex } from "../../net/cidr-index.js";

/** Built once per change of the exceptions; never empty. */
export class ExceptionIndex implements ExceptionLookup {
  readonly #sessions = new Map<string, LetThrough>();
  readonly #userAgents = new Map<string, LetThrough>();
  readonly #agents = new Map<string, LetThrough>();
  readonly #networks: CidrIndex<LetThrough> | null;

  /** Of several for one subject, the one that lasts longest counts. */
  private constructor(exceptions: readonly Exception[]) {
    const networks: { readonly range: string; readonly through: LetThrough }[] = [];
    const maps = { session_token: this.#sessions, user_agent: this.#userAgents, agent: this.#agents };
    for (const { kind, value, expiresAt, note } of exceptions) {
      const reason = `Let through until ${expiresAt}${note === "" ? "." : `: ${note}`}`;
      const through = { expiresAtMs: Date.parse(expiresAt), reason };
      if (kind === "ip" || kind === "network") networks.push({ range: value, through });
      else if (through.expiresAtMs > (maps[kind].get(value)?.expiresAtMs ?? 0)) maps[kind].set(value, through);
    }
    const ranges = networks.flatMap(({ range, through }) => {
      const cidr = parseCidr(range, true);
      return isCidrFault(cidr) ? [] : [{ cidr, through }];
    });
    const index = createCidrIndex(ranges, ({ cidr }) => cidr);
    this.#networks =
      ranges.length === 0
        ? null
        : { all: (ip) => index.all(ip).map(({ through }) => through), lookup: (ip) => index.lookup(ip)?.through };
  }

  /** Null for no exceptions, so that projects without any pay nothing. */
  static of(exceptions: readonly Exception[]): ExceptionIndex | null {
    return exceptions.length === 0 ? null : new ExceptionIndex(exceptions);
  }

  find({ sessionToken, ip, userAgent, agents }: ExceptedVisitor, nowMs: number): LetThrough | null {
    const isValid = (found: LetThrough | undefined): found is LetThrough =>
      found !== undefined && found.expiresAtMs > nowMs;
    if (sessionToken !== undefined) {
      const found = this.#sessions.get(sessionToken);
      if (isValid(found)) return found;
    }
    if (ip !== undefined && this.#networks !== null) {
      for (const found of this.#networks.all(ip)) if (isValid(found)) return found;
    }
    if (userAgent !== undefined) {
      const found = this.#userAgents.get(userAgent);
      if (isValid(found)) return found;
    }
    for (const agent of this.#agents.size === 0 ? [] : agents) {
      const found = this.#agents.get(agent.toLowerCase());
      if (isValid(found)) return found;
    }
    return null;
  }
}
