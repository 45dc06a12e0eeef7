/** The one error of this folder: why a command has no answer, and whether it may have been carried out. Never holds a password. */

/**
 * Why a command failed:
 * - `refused`: the server answered with an error that asking again does not cure; `serverCode` is its first word (`NOPERM`, `OOM`);
 * - `deadline`: no answer in time;
 * - `busy`: more waits for the cluster than may; nothing was sent;
 * - `unreachable`: no connection, or it was lost;
 * - `unacknowledged`: it was carried out, and too few replicas have it;
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
 * What became of the command: `not-sent` and `refused` changed nothing, so that it may be given again; `unknown` may have been carried out
 * and its answer lost.
 */
export type CommandOutcome = "not-sent" | "refused" | "unknown";

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

/** The error of a write to this master that so many replicas have, fewer than the `acks` that must. A failover may undo it. */
export function unacknowledged(master: string, replicas: number, acks: number): ClusterError {
  const message = `${master}: ${replicas} of the ${acks} replicas that must acknowledge what is written have done so`;
  return new ClusterError("unacknowledged", "unknown", message);
}
