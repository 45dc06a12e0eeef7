/** Who asks for a change of the configuration: handlers run as somebody, and what is recorded of the change names them. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Refusal } from "../errors.js";

/** A token and its user; null: the command line, so whoever may write the data folder. */
export interface Actor {
  readonly userId: number;
  readonly tokenId: number;
  /** Why they may not do what they asked for, or null. A change asks when it is made: that may be after the token was revoked. */
  readonly refused: () => Refusal | null;
}

const actors = new AsyncLocalStorage<Actor>();
/** Calls of `actAs` that have not ended. */
let acting = 0;

/**
 * Runs `work`, and what it starts and waits for, as this actor. Between such calls Node's hooks are off: with them every request of the
 * thread, verdict reads as well, passes through them (a tenth of a read's processor time, by the bench's scenario verdict-cached).
 */
export function actAs<T>(actor: Actor, work: () => T): T {
  acting++;
  const ended = (): void => {
    if (--acting === 0) actors.disable();
  };
  let isPending = false;
  try {
    const result = actors.run(actor, work);
    isPending = result instanceof Promise;
    if (result instanceof Promise) result.then(ended, ended);
    return result;
  } finally {
    if (!isPending) ended();
  }
}

/** Who runs this code; null outside of `actAs`, so from the command line. */
export function currentActor(): Actor | null {
  return actors.getStore() ?? null;
}
