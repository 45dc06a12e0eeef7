/**
 * Every error verdictd answers: status, title and stable code (`docs/api.md`). Bad input is a returned `Refusal`, never
 * a thrown error; clients and tests match the code (or, where the contract has none, the status), never the text.
 */

/** One row of the error table. `code` is absent where the contract says "no code". */
export interface ErrorKind {
  readonly status: number;
  readonly title: string;
  readonly code?: string;
}

/** One row for each error; `title` goes out with it, `code` only where the contract has one. */
export const errors = {
  unauthenticated: { status: 401, title: "Unauthenticated", code: "UNAUTHENTICATED" },
  noActiveSubscription: { status: 402, title: "No active subscription", code: "NO_ACTIVE_SUBSCRIPTION" },
  insufficientTokenAbility: { status: 403, title: "Insufficient token ability", code: "INSUFFICIENT_TOKEN_ABILITY" },
  featureNotAvailable: { status: 403, title: "Feature not available", code: "FEATURE_NOT_AVAILABLE" },
  forbidden: { status: 403, title: "Forbidden" },
  unknownSession: { status: 404, title: "Unknown session", code: "UNKNOWN_SESSION" },
  challengeRefused: { status: 403, title: "Challenge refused", code: "CHALLENGE_REFUSED" },
  notFound: { status: 404, title: "Not found" },
  methodNotAllowed: { status: 405, title: "Method not allowed" },
  conflict: { status: 409, title: "Conflict" },
  challengeUsed: { status: 409, title: "Challenge used", code: "CHALLENGE_USED" },
  invalidPayload: { status: 422, title: "Invalid payload", code: "INVALID_PAYLOAD" },
  internal: { status: 500, title: "Internal error" },
  unavailable: { status: 503, title: "Service unavailable" },
} as const satisfies Record<string, ErrorKind>;

/** The name by which code refuses; clients see status and code, never this name. */
export type ErrorName = keyof typeof errors;

/** Bad input as a value: which error, and a message that names the offending field and never echoes a secret. */
export class Refusal {
  readonly error: ErrorName;
  readonly message: string;

  constructor(error: ErrorName, message: string) {
    this.error = error;
    this.message = message;
  }
}

/** A refusal; a class of its own, so that no client's data can pass for one. */
export function refuse(error: ErrorName, message: string): Refusal {
  return new Refusal(error, message);
}

/** Thrown where what is asked can't be done now, and may be asked again: answered as `unavailable`. `message` is for who asks. */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
  /** What became of the change that was asked for, as the message says it too; `null` if none was. */
  readonly consequence: string | null;

  constructor(message: string, options: ErrorOptions & { readonly consequence?: string } = {}) {
    super(message, options);
    this.consequence = options.consequence ?? null;
  }
}

/** Thrown by a change whose actor may no longer make it: answered as its refusal. Nothing was changed. */
export class RevokedError extends Error {
  override readonly name = "RevokedError";

  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** The wire form of a refusal: `{error, message, code?}`. */
export function errorBody(refusal: Refusal): { error: string; message: string; code?: string } {
  const kind: ErrorKind = errors[refusal.error];
  const body = { error: kind.title, message: refusal.message };
  return kind.code === undefined ? body : { ...body, code: kind.code };
}
