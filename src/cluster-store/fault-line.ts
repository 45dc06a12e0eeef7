/** What a fault of the cluster says to the operator of a command. */
import { ClusterError } from "../cluster/cluster-error.js";

/** What the codes of the server mean here, more than what it says itself. */
const lines: Readonly<Record<string, (message: string) => string>> = {
  OOM: (message) => `the cluster has no memory left (${message}): raise maxmemory, then run this again`,
  NOPERM: (message) => `${message}: see the permissions of the store's user in the documentation`,
};

/** One line; null for an error that is not the cluster's. */
export function faultLine(error: unknown): string | null {
  if (!(error instanceof ClusterError)) return null;
  const { message, serverCode, reason } = error;
  const line = lines[serverCode];
  if (line !== undefined) return line(message);
  return reason === "refused" ? message : `the cluster does not answer: ${message}`;
}
