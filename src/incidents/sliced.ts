/** Work in slices: between two of them whoever does it may let others work. Each takes a millisecond or two at most. */
export type Sliced<T> = Generator<void, T>;

/** A thread's turns for one piece of long work (`runtime/long-work.ts`): `next` resolves when others have had theirs. */
export interface Turns {
  readonly isOver: boolean;
  next(): Promise<unknown>;
}
