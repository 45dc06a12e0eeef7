/** The private memory that a server stays below, and how many threads its machine's memory and processors are enough for. */

/** The options of a server that its memory depends on. */
interface Sized {
  readonly httpThreads: number;
  readonly scoringThreads: number;
  readonly verdictCacheMb: number;
  readonly queueMb: number;
}

const baseMib = 64;
const httpThreadMib = 32;
const scoringThreadMib = 96;

/** MiB of private memory that a server with these options stays below, and the sum behind it; `src/docs/operations.md` explains it. */
export function memoryOf({ httpThreads, scoringThreads, verdictCacheMb, queueMb }: Sized): {
  readonly mib: number;
  readonly sum: string;
} {
  const mib = baseMib + httpThreads * (httpThreadMib + verdictCacheMb) + scoringThreads * scoringThreadMib + queueMb;
  const http = `${httpThreads} HTTP threads * (${httpThreadMib} + ${verdictCacheMb} of cache)`;
  return {
    mib,
    sum: `${baseMib} + ${http} + ${scoringThreads} scoring threads * ${scoringThreadMib} + ${queueMb} of queue`,
  };
}

/** The memory that a process is given should be this many times the sum: the rest is the cache of its store. */
const roomOfStore = 1.5;

/**
 * Default numbers of threads: a quarter and a half of the cores, at most 4 and 2, so that a larger machine alone makes no process larger; fewer where the
 * bytes of the control group, null for no bound, are not enough for them. At least one of each.
 */
export function threadsFor(
  cores: number,
  boundBytes: number | null,
  caches: Pick<Sized, "verdictCacheMb" | "queueMb">,
): Pick<Sized, "httpThreads" | "scoringThreads"> {
  const atMost = (wanted: number, max: number): number => Math.max(1, Math.min(max, Math.floor(wanted)));
  let httpThreads = atMost(cores / 4, 4);
  let scoringThreads = atMost(cores / 2, 2);
  const fits = (): boolean =>
    boundBytes === null ||
    roomOfStore * memoryOf({ httpThreads, scoringThreads, ...caches }).mib * 2 ** 20 <= boundBytes;
  while (!fits() && httpThreads + scoringThreads > 2) {
    if (httpThreads > scoringThreads) httpThreads--;
    else scoringThreads--;
  }
  return { httpThreads, scoringThreads };
}
