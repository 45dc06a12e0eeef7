/** The one error of this folder: why a command has no answer, and whether it may have run. Never holds a password. */

/**
 * Why a command failed:
 * - `refused`: the server answered with an error that asking again does not cure; `serverCode` is its first word (`NOPERM`, `OOM`);
 * - `deadline`: no answer in time;
 * - `busy`: more waits for the cluster than may; nothing was sent;
 * - `unreachable`: no connection, or it was lost;
 * - `unacknowledged`: it was carried out, and too few replicas have it; or, with the outcome `refused`, the master has too few to carry it out;
 * - `unsettled`: the cluster went on redirecting, loading or being down until the attempts were used up;
 * - `protocol`: what came is not RESP, or is over a bound;
 * - `closed`: the client was closed.
 */
export type ClusterErrorReason =
  | "refused"
  | "deadline"
  | "busy"
  | "unreachable"
  | "unacknowledged"
  | "unsettled"
  | "protocol"
  | "closed";

/**
 * First words of errors that pass without help: the server is busy, starts, or is being replaced. Nothing was done. `true`: the slots may have another
 * master now.
 */
export const passingCodes: ReadonlyMap<string, boolean> = new Map([
  ["TRYAGAIN", false],
  ["BUSY", false],
  ["CLUSTERDOWN", true],
  ["LOADING", true],
  ["MASTERDOWN", true],
  ["READONLY", true],
]);

/**
 * What happened to the command: `not-sent` and `refused` changed nothing, so the caller may repeat it; `unknown` may have run with its answer lost.
 */
type CommandOutcome = "not-sent" | "refused" | "unknown";

/** A command without an answer. `message` is one line for operators. */
export class ClusterError extends Error {
  override readonly name = "ClusterError";

  constructor(
    readonly reason: ClusterErrorReason,
    readonly outcome: CommandOutcome,
    message: string,
    /** First word of the server's error, "" when it did not answer. */
    readonly serverCode = "",
  ) {
    super(message);
  }
}

/** Returns the error of a write that fewer replicas of this master have than the required `acks`. A failover may undo the write. */
export function unacknowledged(master: string, replicas: number, acks: number): ClusterError {
  const message = `${master}: ${replicas} of the ${acks} replicas that must acknowledge what is written have done so`;
  return new ClusterError("unacknowledged", "unknown", message);
}
