/**
 * What a verdict says, and its wording. The same combinations of band, score, detections and rule occur again and again, so `VerdictTexts` keeps the
 * words and the JSON text of recent ones. Pure.
 */
import type { BotCategory } from "../contract/bots/bot-categories.js";
import { fnv1a, spreadBits } from "../contract/values/hashes.js";
import type { Action, Band, Verdict } from "../contract/verdicts/verdict.js";
import { verdictReason } from "./reason.js";

/** A visitor's proven identity: a bot by its address, or an agent by its signature. */
export interface ProvedBot {
  readonly name: string;
  readonly category: BotCategory;
}

/** A computed verdict before it is worded. */
export interface UnwordedVerdict {
  readonly band: Exclude<Band, "not_computed">;
  /** 0 only for a verified bot that was not scored; else 1 to 99. */
  readonly score: number;
  /** The score's own band would be lower: see `bandOf`. */
  readonly isCapped: boolean;
  readonly action: Action;
  /** All detections, strongest first; the verdict lists them only if they explain something. */
  readonly detectionIds: readonly number[];
  readonly verifiedBot: ProvedBot | null;
  /** The sentence about what decided the action; "" when nothing did. */
  readonly because: string;
  /** An exception decided: the sentence about it is all that is said. */
  readonly isLetThrough?: boolean;
}

/** Returns the plain-English meaning of a detection, "" when unknown. */
export type MeaningOf = (detectionId: number) => string;

/** Returns the verdict in the form of the answer. */
export function describe(unworded: UnwordedVerdict, meaningOf: MeaningOf): Verdict {
  const { band, score, isCapped, action, verifiedBot, because } = unworded;
  const ids = showsDetections(unworded) ? unworded.detectionIds : [];
  const said = unworded.detectionIds.map(meaningOf).filter((meaning) => meaning !== "");
  const reason = verdictReason(band, score, verifiedBot === null ? said : [verifiedBot.name], isCapped);
  const verdict: Verdict = {
    verdict: band,
    score,
    action,
    detection_ids: [...ids],
    reason: unworded.isLetThrough === true ? because : because === "" ? reason : `${reason} ${because}`,
  };
  if (verifiedBot !== null) verdict.verified_bot_category = verifiedBot.category;
  return verdict;
}

/** A bot band or an enforced action is explained; a clean human needs no explanation. */
function showsDetections({ band, action }: UnwordedVerdict): boolean {
  const isBotBand = band === "definite" || band === "confident_automated" || band === "likely_automated";
  return isBotBand || action === "block" || action === "challenge" || action === "delay";
}

/** A worded verdict with the JSON text of its answer. Shared by all answers with the same content: do not change it. */
export interface VerdictText {
  readonly verdict: Verdict;
  readonly body: string;
}

/** A verdict with its text. */
export function verdictTextOf(verdict: Verdict): VerdictText {
  return { verdict, body: JSON.stringify(verdict) };
}

/** How many verdicts keep their words, a power of two: a few MB when all of them have long texts. */
const keptMax = 4096;

/** Keeps the words of recent verdicts. A verdict has one slot, and the next one in that slot replaces it: nothing grows, nothing is swept. */
export class VerdictTexts {
  readonly #meaningOf: MeaningOf;
  readonly #kept: ({ readonly unworded: UnwordedVerdict; readonly text: VerdictText } | undefined)[] = new Array(
    keptMax,
  ).fill(undefined);

  /** `meaningOf` must always return the same for a detection. */
  constructor(meaningOf: MeaningOf) {
    this.#meaningOf = meaningOf;
  }

  of(unworded: UnwordedVerdict): VerdictText {
    const slot = slotOf(unworded);
    const kept = this.#kept[slot];
    if (kept !== undefined && isSame(kept.unworded, unworded)) return kept.text;
    const text = verdictTextOf(describe(unworded, this.#meaningOf));
    this.#kept[slot] = { unworded, text };
    return text;
  }
}

function slotOf({ score, detectionIds, because, action }: UnwordedVerdict): number {
  let hash = score + 128 * because.length + 65_536 * action.length;
  for (let index = 0; index < detectionIds.length; index++) hash = fnv1a(hash, detectionIds[index]!);
  return (spreadBits(hash) >>> 16) & (keptMax - 1);
}

function isSame(one: UnwordedVerdict, other: UnwordedVerdict): boolean {
  return (
    one.score === other.score &&
    one.isCapped === other.isCapped &&
    one.band === other.band &&
    one.action === other.action &&
    one.because === other.because &&
    one.isLetThrough === other.isLetThrough &&
    one.verifiedBot?.name === other.verifiedBot?.name &&
    one.verifiedBot?.category === other.verifiedBot?.category &&
    isSameList(one.detectionIds, other.detectionIds)
  );
}

function isSameList(one: readonly number[], other: readonly number[]): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}
