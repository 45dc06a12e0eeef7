/**
 * The log: pino, one JSON line an event, on stdout. What it writes is safe to keep: credentials and session tokens are cut from
 * errors wherever they come from, addresses shortened to their network.
 */
import { type Logger, type LoggerOptions, pino, stdTimeFunctions } from "pino";
import { limits } from "../limits.js";
import { canonicalAddress } from "../net/address-text.js";
import { isLoopbackHost } from "../net/loopback.js";
import { operatorNetwork } from "../net/network.js";
import { printableText } from "./printable.js";

/** From the most lines to none at all. */
type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "silent";

export type { Logger } from "pino";

/** A log of this level. `thread` names the thread on every line. */
export function createLog(level: LogLevel, thread = "http-0"): Logger {
  const stdout = pino.destination({ dest: process.stdout.fd || 1, sync: true });
  const options: LoggerOptions = {
    level,
    base: { pid: process.pid, thread },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: safeError, error: safeError },
  };
  // A log is read in terminals too; what the characters stand for stays in the JSON.
  return pino(options, { write: (line) => void stdout.write(printableText(line)) });
}

/** Site keys, private keys, account tokens and session tokens, see `auth/secrets.ts` and `contract/sessions/session-token.ts`. */
const credential = /\b(pk|sk|vat|sess)_[A-Za-z0-9_-]{4,}/g;
const bearerValue = /\b(bearer)\s+[^\s"',;]+/gi;
/** Whatever might be an address; the built-in parsers decide. */
const addressLike = /(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*)(?![\w])/g;

/** `text` without credentials, addresses shortened. */
export function scrubbed(text: string): string {
  return text
    .replace(bearerValue, "$1 [secret]")
    .replace(credential, "$1_[secret]")
    .replace(addressLike, (found) => loggedNetwork(found) || found);
}

/** The network of an address, for logs: /24 of IPv4, /48 of IPv6 (loopback stays as it is). "" for what is no address. */
export function loggedNetwork(address: string): string {
  const own = canonicalAddress(address);
  return isLoopbackHost(own) ? own : operatorNetwork(own);
}

interface SafeError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: SafeError;
}

/** An error as it is logged: scrubbed, and short enough that a line of one thread is not torn by another's. */
function safeError(error: unknown, depth = 0): SafeError {
  if (!(error instanceof Error))
    return { type: typeof error, message: scrubbed(String(error)).slice(0, limits.logTextMax) };
  const code = (error as NodeJS.ErrnoException).code;
  return {
    type: error.name,
    message: scrubbed(error.message).slice(0, limits.logTextMax),
    ...(code !== undefined && { code: String(code) }),
    ...(error.stack !== undefined && { stack: scrubbed(error.stack).slice(0, limits.logTextMax) }),
    ...(error.cause !== undefined && depth < 2 && { cause: safeError(error.cause, depth + 1) }),
  };
}
