/** Who asks for a change of the configuration: handlers run as somebody, and what is recorded of the change names them. */
import { AsyncLocalStorage } from "node:async_hooks";

/** A token and its user; null: the command line, so whoever may write the data folder. */
export interface Actor {
  readonly userId: number;
  readonly tokenId: number;
}

const actors = new AsyncLocalStorage<Actor>();

/** Runs `work`, and what it starts, as this actor. */
export function actAs<T>(actor: Actor, work: () => T): T {
  return actors.run(actor, work);
}

/** Who runs this code; null outside of `actAs`, so from the command line. */
export function currentActor(): Actor | null {
  return actors.getStore() ?? null;
}
