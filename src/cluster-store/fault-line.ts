/** Words a cluster fault for three readers: operators of commands, readers of the log, and HTTP clients. */
import { ClusterError } from "../cluster/cluster-error.js";
import { UnavailableError } from "../errors.js";

/** Our wording for the server's error codes, because it says more than the server's own text. */
const lines: Readonly<Record<string, (message: string) => string>> = {
  OOM: (message) => `the cluster has no memory left (${message}): raise maxmemory, then run this again`,
  NOPERM: (message) => `${message}: see the permissions of the store's user in the documentation`,
};

/** The same for clients, who can only ask again. */
const troubles: Readonly<Record<string, string>> = { OOM: "the memory of the cluster is full" };

/** What the log says instead, without the text of the server. */
const logged: Readonly<Record<string, (address: string) => string>> = {
  OOM: (address) => `the memory of ${address} is full: raise maxmemory, or add masters`,
};

/** Returns one line, which also says what became of a change; null for an error that is not the cluster's. */
export function faultLine(thrown: unknown): string | null {
  if (!(thrown instanceof UnavailableError)) return thrown instanceof ClusterError ? lineOf(thrown) : null;
  if (!(thrown.cause instanceof ClusterError)) return null;
  const line = lineOf(thrown.cause);
  return thrown.consequence === null ? line : `${line}; ${thrown.consequence}`;
}

function lineOf(error: ClusterError): string {
  const { message, serverCode, reason } = error;
  const line = lines[serverCode];
  if (line !== undefined) return line(message);
  if (reason === "unacknowledged") return `too few replicas of the cluster answer: ${message}`;
  return reason === "refused" ? message : `the cluster does not answer: ${message}`;
}

/** Says what is wrong with the cluster to clients, who can only ask again: without addresses and without the server's text. */
export function troubleOf(error: unknown): string {
  const { serverCode = "", reason = "" } = error instanceof ClusterError ? error : {};
  const known = troubles[serverCode];
  if (known !== undefined) return known;
  if (reason === "unacknowledged") return "too few replicas of the cluster acknowledge what is written";
  return reason === "refused" ? "the cluster refuses what it is asked" : "the cluster does not answer";
}

/** The error with which a request that needs the cluster is refused. */
export function unavailable(cause: unknown): UnavailableError {
  return new UnavailableError(`${troubleOf(cause)}: ask again`, { cause });
}

/** Why the cluster could not be used, for the log: one line, or the error itself if it is no fault of the cluster. */
export function loggedFault(error: unknown): { readonly reason: string } | { readonly err: unknown } {
  const cause = error instanceof UnavailableError ? error.cause : error;
  if (error instanceof UnavailableError && cause === undefined) return { reason: error.message };
  return cause instanceof ClusterError ? { reason: reasonOf(cause) } : { err: error };
}

/** Why the cluster failed, for the log. */
export function reasonOf({ message, serverCode }: ClusterError): string {
  const address = /^\S+(?=: )/.exec(message)?.[0] ?? "a master";
  return logged[serverCode]?.(address) ?? message;
}
