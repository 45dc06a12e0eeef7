/**
 * Scoring threads on more cores than the machine has: each repeats a task that it draws from measured ones, and tasks of one environment
 * wait for its lock in the order they came. A simulation of discrete events; it leaves out what cores do to each other (caches, memory).
 */

/** Milliseconds of one task by where they are spent. */
export interface SimulatedTask {
  /** Reading the frame, parsing, answering: no lock is held. */
  readonly outside: number;
  /** The transaction's work and the pages it writes: the lock is held. */
  readonly locked: number;
  /** The flush: others may write, this thread waits. */
  readonly flushing: number;
}

/** Tasks a second of so many threads over so many environments. The same in every run. */
export function simulatedRate(tasks: readonly SimulatedTask[], threads: number, stores: number): number {
  const random = generator(threads * 31 + stores);
  const draw = (): SimulatedTask => tasks[Math.floor(random() * tasks.length)]!;
  const freeAt = new Array<number>(stores).fill(0);
  /** When each thread has its next task, and is ready to ask for a lock with it. */
  const askAt = Array.from({ length: threads }, () => ({ at: random(), task: draw() }));
  const rounds = 4000 * threads;
  let end = 0;
  for (let round = 0; round < rounds; round++) {
    let next = askAt[0]!;
    for (const each of askAt) if (each.at < next.at) next = each;
    // The queue hands out tasks of the environment that has the fewest at work: here the one that is free first.
    let store = 0;
    for (let other = 1; other < stores; other++) if (freeAt[other]! < freeAt[store]!) store = other;
    const { locked, flushing } = next.task;
    const unlocked = Math.max(next.at, freeAt[store]!) + locked;
    freeAt[store] = unlocked;
    end = Math.max(end, unlocked);
    next.task = draw();
    next.at = unlocked + flushing + next.task.outside;
  }
  return (1000 * rounds) / end;
}

/** Park and Miller's generator, 0 to 1. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
