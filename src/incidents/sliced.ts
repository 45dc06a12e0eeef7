/** Work in slices: between two of them whoever does it may let others work. Each takes a millisecond or two at most. */
export type Sliced<T> = Generator<void, T>;
