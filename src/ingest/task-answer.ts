/**
 * A scoring worker's answer to a task: the outcomes of its batches as bytes. They overwrite the frame that brought the batches, which thus travels
 * back without a copy or an allocation.
 *
 * An outcome is u8 kind, u16 accepted, u16 duplicates, u16 bytes of text, then the text: the session token; for a refusal its error and message with
 * a line feed between; for a contact that was shed nothing; for a postponed one its ticket. The token may be followed by a line feed and the
 * project's id.
 */
import { type ErrorName, Refusal } from "../errors.js";
import type { IngestOutcome, Recorded } from "./commit-batches.js";
import type { Standing } from "./steady.js";

/** A batch without an outcome yet: it comes later, in `PostponedOutcomes`, under its ticket. */
interface Postponed {
  /** Unique among the threads of a pool; never reused. */
  readonly ticket: string;
}

/** A task's answer for a batch. */
export type TaskOutcome = IngestOutcome | Postponed;

/** A worker's message with the outcomes of postponed batches. */
export interface PostponedOutcomes {
  readonly tickets: readonly string[];
  /** Their `encodeOutcomes`, in the same order. */
  readonly postponed: Uint8Array;
}

const headBytes = 7;
const kinds = { answer: 0, overQuota: 1, refusal: 2, shed: 3, postponed: 4 } as const;
/** Added to the kind of an answer, for how far its session's verdict stands. */
const standingBits: Readonly<Record<Standing, number>> = { firm: 0x80, likely: 0x40 };
const kindMask = 0x3f;
/** No text of an outcome is longer: tokens have 33 characters, messages of refusals some 200. */
const textCharactersMax = 4096;

/** Encodes the outcomes: in the memory of `frame`, which is overwritten, unless they need more. */
export function encodeOutcomes(
  frame: Uint8Array<ArrayBuffer>,
  outcomes: readonly TaskOutcome[],
): Uint8Array<ArrayBuffer> {
  let bytes: Buffer<ArrayBuffer> = Buffer.from(frame.buffer);
  let at = 0;
  for (const outcome of outcomes) {
    const text = textOf(outcome);
    const needed = at + headBytes + 3 * text.length;
    if (needed > bytes.length) {
      const larger = Buffer.from(new ArrayBuffer(2 * needed));
      larger.set(bytes.subarray(0, at));
      bytes = larger;
    }
    const length = bytes.write(text, at + headBytes, "utf8");
    bytes[at] = kindOf(outcome);
    const isAnswer = "session_token" in outcome;
    bytes.writeUInt16LE(isAnswer ? outcome.accepted : 0, at + 1);
    bytes.writeUInt16LE(isAnswer ? outcome.duplicates : 0, at + 3);
    bytes.writeUInt16LE(length, at + 5);
    at += headBytes + length;
  }
  return new Uint8Array(bytes.buffer, 0, at);
}

function kindOf(outcome: TaskOutcome): number {
  if (outcome instanceof Refusal) return kinds.refusal;
  if ("ticket" in outcome) return kinds.postponed;
  if ("isShed" in outcome) return kinds.shed;
  const kind = outcome.over_quota === true ? kinds.overQuota : kinds.answer;
  return outcome.standing === undefined ? kind : kind + standingBits[outcome.standing];
}

function textOf(outcome: TaskOutcome): string {
  if ("ticket" in outcome) return outcome.ticket;
  if (outcome instanceof Refusal) return `${outcome.error}\n${outcome.message}`.slice(0, textCharactersMax);
  if ("isShed" in outcome) return "";
  return outcome.projectId === undefined ? outcome.session_token : `${outcome.session_token}\n${outcome.projectId}`;
}

/** Decodes the outcomes in these bytes, in order. */
export function decodeOutcomes(answer: Uint8Array): TaskOutcome[] {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
  const outcomes: TaskOutcome[] = [];
  let at = 0;
  while (at < bytes.length) {
    const kind = bytes[at];
    const accepted = bytes.readUInt16LE(at + 1);
    const duplicates = bytes.readUInt16LE(at + 3);
    const textAt = at + headBytes;
    at = textAt + bytes.readUInt16LE(at + 5);
    const text = bytes.toString(kind === kinds.refusal ? "utf8" : "latin1", textAt, at);
    if (kind === kinds.refusal) {
      const end = text.indexOf("\n");
      outcomes.push(new Refusal(text.slice(0, end) as ErrorName, text.slice(end + 1)));
    } else if (kind === kinds.shed) {
      outcomes.push({ isShed: true });
    } else if (kind === kinds.postponed) {
      outcomes.push({ ticket: text });
    } else {
      outcomes.push(recordedOf(text, accepted, duplicates, kind!));
    }
  }
  return outcomes;
}

function recordedOf(text: string, accepted: number, duplicates: number, kind: number): Recorded {
  const end = text.indexOf("\n");
  const recorded: Recorded = { session_token: end === -1 ? text : text.slice(0, end), accepted, duplicates };
  if ((kind & kindMask) === kinds.overQuota) recorded.over_quota = true;
  if ((kind & standingBits.firm) !== 0) recorded.standing = "firm";
  else if ((kind & standingBits.likely) !== 0) recorded.standing = "likely";
  if (end !== -1) recorded.projectId = Number(text.slice(end + 1));
  return recorded;
}
