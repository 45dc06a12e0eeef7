/** Who a visitor is by address and DNS, for each batch: at once as far as it is known, later if DNS has to be asked. */
import type { VerifiedBot } from "../contract/bots/verified-bots.js";
import type { CrawlerClaim, VisitorIdentity } from "../contract/evidence/visitor.js";
import { TextMemo } from "../runtime/text-memo.js";

/** The result for a claim to be a crawler; `undefined` means that DNS has to be asked. */
type ClaimAnswer =
  | { readonly outcome: "verified"; readonly bot: VerifiedBot }
  | { readonly outcome: "spoofed" }
  | { readonly outcome: "unknown" };

/** The verified bots in force, in the form that this module needs. */
interface BotLookup {
  lookup(ip: string): VerifiedBot | undefined;
  claim(userAgent: string): object | undefined;
  peekClaim(ip: string, userAgent: string): ClaimAnswer | undefined;
  resolveClaim(ip: string, userAgent: string): Promise<ClaimAnswer>;
}

/** How many user agents are remembered with whether they claim to be a crawler. */
const keptMax = 10_000;

const nobody: VisitorIdentity = Object.freeze({ verifiedBot: null, crawlerClaim: "none" });

/** One per HTTP thread; remembers which user agents claim to be a crawler, not who is at an address. */
export class VisitorIdentities {
  readonly #bots: () => BotLookup;
  /**
   * The answers of the bots in `#askedOf`; a full memo starts empty again. Who is at an address is not kept: DNS may prove it at any time, for a
   * limited time.
   */
  #askedOf: BotLookup | null = null;
  readonly #claims = new TextMemo<boolean>(keptMax);

  /** `bots` returns the bots in force now: the catalogue may be replaced while serving. */
  constructor(bots: () => BotLookup) {
    this.#bots = bots;
  }

  /** Returns what is known without waiting. Under a microsecond. */
  peek(ip: string, userAgent: string): VisitorIdentity {
    const bots = this.#bots();
    if (bots !== this.#askedOf) {
      this.#askedOf = bots;
      this.#claims.clear();
    }
    const verifiedBot = bots.lookup(ip) ?? null;
    let isClaim = this.#claims.get(userAgent);
    if (isClaim === undefined) {
      isClaim = bots.claim(userAgent) !== undefined;
      this.#claims.set(userAgent, isClaim);
    }
    if (!isClaim) return verifiedBot === null ? nobody : { verifiedBot, crawlerClaim: "none" };
    const answer = bots.peekClaim(ip, userAgent);
    return answer === undefined ? { verifiedBot, crawlerClaim: "pending" } : identityOf(answer, verifiedBot);
  }

  /** Returns what is known once DNS has answered or failed. Never rejects. */
  async resolve(ip: string, userAgent: string): Promise<VisitorIdentity> {
    const bots = this.#bots();
    return identityOf(await bots.resolveClaim(ip, userAgent), bots.lookup(ip) ?? null);
  }
}

const claimOf = { verified: "verified", spoofed: "spoofed", unknown: "unverifiable" } as const satisfies Record<
  ClaimAnswer["outcome"],
  CrawlerClaim
>;

function identityOf(answer: ClaimAnswer, verifiedBot: VerifiedBot | null): VisitorIdentity {
  return {
    verifiedBot: answer.outcome === "verified" ? answer.bot : verifiedBot,
    crawlerClaim: claimOf[answer.outcome],
  };
}
