/** Reads what somebody asks to be let through: the subject in the form that is compared, and a time that an exception may have. Pure. */
import {
  type ExceptionBody,
  type ExceptionSubject,
  exceptionSubjects,
} from "../../contract/configuration/exceptions.js";
import { isoTimeMs } from "../../contract/values/iso-time.js";
import { Refusal, refuse } from "../../errors.js";
import { isCidrFault, parseCidr } from "../../net/cidr.js";
import type { NewException } from "./exceptions.js";

/** The exception, or an `invalidPayload` refusal that names the field. Whether there is such a session is not asked here. */
export function readException(body: ExceptionBody, nowMs: number): NewException | Refusal {
  const { subject, expires_at, note = "", reference } = body;
  const asked = subjectOf(subject);
  if (asked instanceof Refusal) return asked;
  const expiresAtMs = isoTimeMs(expires_at);
  if (!(expiresAtMs > nowMs && expiresAtMs <= yearAfter(nowMs))) {
    return refuse("invalidPayload", "expires_at must be an ISO 8601 time in the future, at most a year ahead");
  }
  for (const [name, text] of Object.entries({ note, reference })) {
    if (text !== undefined && hiding.test(text)) {
      return refuse(
        "invalidPayload",
        `${name} must have no control characters and none that turn the direction of text`,
      );
    }
  }
  const expiresAt = new Date(expiresAtMs).toISOString();
  return { ...asked, expiresAt, note, ...(reference !== undefined && { reference }) };
}

/** Verdicts and logs quote these texts: what can hide or reorder a part of them is refused. */
const hiding = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** The same day and time of the next year; of 29 February the first of March. */
function yearAfter(nowMs: number): number {
  const date = new Date(nowMs);
  return date.setUTCFullYear(date.getUTCFullYear() + 1);
}

function subjectOf(subject: ExceptionSubject): Pick<NewException, "kind" | "value" | "shown"> | Refusal {
  const kinds = exceptionSubjects.filter((kind) => subject[kind] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1 || Object.keys(subject).length > 1) {
    return refuse("invalidPayload", `subject must have exactly one of ${exceptionSubjects.join(", ")}`);
  }
  const given = subject[kind]!;
  if (kind === "agent") return { kind, value: given.toLowerCase(), shown: given };
  if (kind !== "ip" && kind !== "network") return { kind, value: given };
  if (kind === "ip" && given.includes("/")) {
    return refuse("invalidPayload", "subject.ip must be one address: give a range as network");
  }
  const range = parseCidr(given, kind === "ip");
  if (isCidrFault(range)) {
    const reason = kind === "ip" ? "is no address" : range.reason;
    return refuse("invalidPayload", `subject.${kind} ${JSON.stringify(given)} ${reason}`);
  }
  return { kind, value: range.text, ...(range.text !== given && { shown: given }) };
}
