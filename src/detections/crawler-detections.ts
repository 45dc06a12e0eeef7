/** Family 4: verified and spoofed bots. The verdict on a claim comes from the verified-bot catalogue, not from here. */
import { requestDetection, sharedDetection } from "./detection.js";

/** About sessions and requests: claims to be a known crawler, whether true, false or unconfirmed; signatures are about requests alone. */
export const crawlerDetections = [
  sharedDetection({
    id: 400101,
    slug: "spoofed-crawler",
    meaning: "The user agent claims to be a known crawler, but the address does not belong to its operator.",
    strength: "decisive",
    cause: "crawler_claim",
    reads: ["crawlerClaim", "userAgent"],
    when: (e) => e.crawlerClaim === 3,
    source: "the operators' published ranges and forward-confirmed host names",
    fires: { crawlerClaim: 3, userAgent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" },
    staysQuiet: {
      crawlerClaim: 1,
      userAgent: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    },
  }),
  sharedDetection({
    id: 400102,
    slug: "verified-crawler",
    meaning: "A crawler confirmed by its operator's addresses or host names.",
    strength: "none",
    cause: "crawler_claim",
    reads: ["crawlerClaim"],
    when: (e) => e.crawlerClaim === 2,
    source: "the verified-bot catalogue; the verdict is `verified`, whatever the score",
    fires: { crawlerClaim: 2 },
    staysQuiet: { crawlerClaim: 0 },
  }),
  sharedDetection({
    id: 400103,
    slug: "unconfirmed-crawler-claim",
    meaning: "The user agent claims to be a bot whose address can't be checked, or has not been checked yet.",
    strength: "moderate",
    cause: "crawler_claim",
    reads: ["crawlerClaim"],
    when: (e) => e.crawlerClaim === 1 || e.crawlerClaim === 4,
    source: "a claim to be a bot is evidence of one, true or not",
    fires: { crawlerClaim: 4 },
    staysQuiet: { crawlerClaim: 0 },
  }),
  requestDetection({
    id: 400104,
    slug: "invalid-signature",
    meaning: "The request is signed in the name of a known agent, but the signature is invalid.",
    strength: "decisive",
    cause: "signature",
    reads: ["signature"],
    when: (e) => e.signature === "invalid",
    source:
      "RFC 9421 with the tag web-bot-auth; an unknown agent, or one whose keys are not there, is `unverified` and no evidence",
    fires: { signature: "invalid" },
    staysQuiet: { signature: "unverified" },
  }),
];
