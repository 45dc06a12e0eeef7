/** Reads what somebody asks to be let through: the subject in the form that is compared, and a time that an exception may have. Pure. */
import { type ExceptionBody, type ExceptionSubject, exceptionSubjects } from "../contract/exceptions.js";
import { isoTimeMs } from "../contract/iso-time.js";
import { Refusal, refuse } from "../errors.js";
import { limits } from "../limits.js";
import { isCidrFault, parseCidr } from "../net/cidr.js";
import type { NewException } from "./exceptions.js";

/** The exception, or an `invalidPayload` refusal that names the field. Whether there is such a session is not asked here. */
export function readException(body: ExceptionBody, nowMs: number): NewException | Refusal {
  const { subject, expires_at, note = "", reference } = body;
  const asked = subjectOf(subject);
  if (asked instanceof Refusal) return asked;
  const expiresAtMs = isoTimeMs(expires_at);
  if (!(expiresAtMs > nowMs && expiresAtMs <= nowMs + limits.exceptionMsMax)) {
    return refuse("invalidPayload", "expires_at must be an ISO 8601 time in the future, at most a year ahead");
  }
  const expiresAt = new Date(expiresAtMs).toISOString();
  return { ...asked, expiresAt, note, ...(reference !== undefined && { reference }) };
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
