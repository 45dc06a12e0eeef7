/** Who a visitor is by address and DNS, for each batch: at once as far as it is known, later where DNS has to be asked. */
import type { VerifiedBot } from "../contract/verified-bots.js";
import type { CrawlerClaim, VisitorIdentity } from "../contract/visitor.js";
import { TextMemo } from "../text-memo.js";

/** What became of a claim to be a crawler; undefined: DNS has to be asked. */
export type ClaimAnswer =
  | { readonly outcome: "verified"; readonly bot: VerifiedBot }
  | { readonly outcome: "spoofed" }
  | { readonly outcome: "unknown" };

/** The verified bots in force, as this module asks them. */
export interface BotLookup {
  lookup(ip: string): VerifiedBot | undefined;
  claim(userAgent: string): object | undefined;
  peekClaim(ip: string, userAgent: string): ClaimAnswer | undefined;
  resolveClaim(ip: string, userAgent: string): Promise<ClaimAnswer>;
}

/** Addresses and user agents whose answers are kept. */
const keptMax = 10_000;

export class VisitorIdentities {
  readonly #bots: () => BotLookup;
  /** What the bots of `#askedOf` said; a full one starts anew. Neither answer depends on DNS. */
  #askedOf: BotLookup | null = null;
  readonly #atAddress = new TextMemo<VisitorIdentity>(keptMax);
  readonly #claims = new TextMemo<boolean>(keptMax);

  /** `bots` returns those in force now: the catalogue may be replaced while serving. */
  constructor(bots: () => BotLookup) {
    this.#bots = bots;
  }

  /** What is known without waiting. Under a microsecond. */
  peek(ip: string, userAgent: string): VisitorIdentity {
    const bots = this.#bots();
    if (bots !== this.#askedOf) {
      this.#askedOf = bots;
      this.#atAddress.clear();
      this.#claims.clear();
    }
    const unclaimed = this.#at(bots, ip);
    let isClaim = this.#claims.get(userAgent);
    if (isClaim === undefined) {
      isClaim = bots.claim(userAgent) !== undefined;
      this.#claims.set(userAgent, isClaim);
    }
    if (!isClaim) return unclaimed;
    const { verifiedBot } = unclaimed;
    const answer = bots.peekClaim(ip, userAgent);
    return answer === undefined ? { verifiedBot, crawlerClaim: "pending" } : identityOf(answer, verifiedBot);
  }

  /** Who is at the address, for a user agent that claims nothing. */
  #at(bots: BotLookup, ip: string): VisitorIdentity {
    let identity = this.#atAddress.get(ip);
    if (identity === undefined) {
      identity = { verifiedBot: bots.lookup(ip) ?? null, crawlerClaim: "none" };
      this.#atAddress.set(ip, identity);
    }
    return identity;
  }

  /** What is known once DNS has answered or failed to. Never rejects. */
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
