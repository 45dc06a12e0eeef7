/** A sample of a judged request without a session, as it is stored and answered: no query, no header's value but the user agent. */
import type { BotCategory } from "../bots/bot-categories.js";
import type { SignatureState } from "../bots/signed-agents.js";
import type { VisitFacts } from "../evidence/visit-facts.js";
import type { HttpVersion } from "../verdicts/judged-request.js";
import type { Action, Band } from "../verdicts/verdict.js";

/** What of a judged request is kept. "" for what is not known. */
export interface RequestSample {
  /** Drawn at random from 0 to 1 when it was judged: of an hour, those with the least are kept. */
  readonly draw: number;
  readonly atMs: number;
  readonly method: string;
  /** Without tokens and e-mail addresses. */
  readonly path: string;
  readonly host: string;
  /** As far as `--ip-storage` keeps it. */
  readonly ip: string;
  readonly country: string;
  readonly asn: number | null;
  readonly asName: string;
  readonly userAgent: string;
  readonly declaredBot: string;
  readonly declaredBotCategory: BotCategory | "";
  readonly verifiedBot: string;
  readonly verifiedBotCategory: BotCategory | "";
  readonly agent: string;
  readonly band: Band;
  readonly score: number;
  readonly action: Action;
  readonly ruleId: number | null;
  readonly detectionIds: readonly number[];
  readonly signature: SignatureState;
  readonly signedAgent: string;
  readonly httpVersion: HttpVersion | "";
  /** Null where the request had no address. */
  readonly requestsPerMinute: number | null;
  /** Null where no visit is known; absent from samples of earlier builds. */
  readonly visit?: Omit<VisitFacts, "evidence"> | null;
}

/** A sample with how many requests of its hour it stands for, 1 and more. */
export interface WeightedSample extends RequestSample {
  readonly weight: number;
}
