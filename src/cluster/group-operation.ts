/**
 * Writes to several masters and asks each at the end how many replicas have them. `WAIT` counts what its own connection wrote, so it goes out on the
 * connection of the writes, right behind them. A connection that was lost in between has acknowledged nothing.
 */
import { type ClusterError, unacknowledged } from "./cluster-error.js";
import type { Connection } from "./connection.js";
import { Operation, type Request } from "./operation.js";
import type { RespReply } from "./resp-parser.js";

/** How many replicas to wait for, and how long, ms. */
export interface Acknowledging {
  /** Replicas that must acknowledge; 0 asks none. */
  readonly acks: number;
  /** How long a master waits for its replicas. */
  readonly ackMs: number;
  /** An earlier try of the same request was already counted as unacknowledged. */
  readonly isRepeat?: boolean;
}

/** An operation that also counts the replicas which have its writes; call `acknowledge` before `begin`. */
export class GroupOperation extends Operation {
  /** How many replicas have what each command wrote; also 0 if that is unknown. */
  readonly replicas: number[] = [];
  #acknowledging: Acknowledging = { acks: 0, ackMs: 0 };
  #unsealed = new Map<Connection, number[]>();
  /** The connection that each command last used: an acknowledgement on another connection says nothing about it. */
  readonly #givenTo: Connection[] = [];
  #waits = 0;
  #isSealing = false;

  /** Call before `begin`. */
  acknowledge(how: Acknowledging, commands: number): void {
    this.#acknowledging = how;
    for (let index = 0; index < commands; index++) this.replicas.push(0);
  }

  /** Why a command that ran is not acknowledged; `null` means that it is, or that it did not run. */
  missing(index: number): ClusterError | null {
    const { acks } = this.#acknowledging;
    const replicas = this.replicas[index]!;
    if (replicas >= acks || !this.hasAnswer(index)) return null;
    return unacknowledged(this.#givenTo[index]!.address, replicas, acks);
  }

  override placed(request: Request, connection: Connection): void {
    if (this.#acknowledging.acks === 0) return;
    this.#givenTo[request.index] = connection;
    const indices = this.#unsealed.get(connection);
    if (indices === undefined) this.#unsealed.set(connection, [request.index]);
    else indices.push(request.index);
    if (this.#isSealing) return;
    this.#isSealing = true;
    // After all commands of this tick, and before the connections write them.
    queueMicrotask(() => this.#seal());
  }

  protected override commandsDone(): void {
    if (this.#waits === 0 && !this.#isSealing) this.finish();
  }

  #seal(): void {
    this.#isSealing = false;
    const unsealed = this.#unsealed;
    this.#unsealed = new Map();
    for (const [connection, indices] of unsealed) this.#wait(connection, indices);
  }

  #wait(connection: Connection, indices: readonly number[]): void {
    const { acks, ackMs, isRepeat = false } = this.#acknowledging;
    const acknowledged = (replicas: number): void => {
      this.#waits--;
      const written = indices.filter((index) => this.#givenTo[index] === connection && this.hasAnswer(index));
      for (const index of written) this.replicas[index] = replicas;
      if (replicas < acks && written.length > 0 && !isRepeat) this.meters.acknowledgementsMissing++;
      this.considerDone();
    };
    this.#waits++;
    const isTaken = connection.send({
      // A whole number: servers refuse others, and 0 would wait for ever.
      command: ["WAIT", acks, Math.max(1, Math.ceil(ackMs))],
      bytes: 40,
      isCancelled: false,
      isSent: false,
      answered: (reply: RespReply) => acknowledged(typeof reply === "number" ? reply : 0),
      lost: () => acknowledged(0),
    });
    if (!isTaken) acknowledged(0);
  }
}
