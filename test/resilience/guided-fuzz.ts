/**
 * Coverage-guided fuzzing without a native fuzzer: V8 counts which blocks of our files an input runs, how often by powers of two, and
 * inputs that reach something new are kept and changed further.
 */
import { Session } from "node:inspector/promises";

interface Guided {
  /** Inputs to begin with. */
  readonly seeds: readonly Buffer[];
  /** Tokens of the input's language, put into inputs now and then. */
  readonly words: readonly string[];
  /** Addresses of the files whose blocks count. */
  readonly files: RegExp;
  readonly inputs: number;
  /** From 0 to 1, seeded. */
  readonly random: () => number;
  /** Runs one input; whether it was accepted. Throws when something is wrong. */
  readonly run: (input: Buffer) => boolean;
}

interface GuidedFigures {
  readonly inputs: number;
  /** Inputs that reached something new. */
  readonly kept: number;
  /** Blocks (with how often they ran) that were reached, by the seeds and in the end. */
  readonly reachedBySeeds: number;
  readonly reached: number;
}

/** Runs it; rejects with the input, as JSON text, that `run` threw for. */
export async function fuzzGuided(options: Guided): Promise<GuidedFigures> {
  const { seeds, inputs, random, run } = options;
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    const reached = new Set<string>();
    const kept: Buffer[] = [];
    const accepted: Buffer[] = [];
    const attempt = async (input: Buffer): Promise<void> => {
      let isAccepted: boolean;
      try {
        isAccepted = run(input);
      } catch (cause) {
        throw new Error(`fails for ${JSON.stringify(input.toString("latin1"))} (latin1)`, { cause });
      }
      const before = reached.size;
      await note(session, options.files, reached);
      if (reached.size === before) return;
      kept.push(input);
      if (isAccepted) accepted.push(input);
    };
    for (const seed of seeds) await attempt(seed);
    const reachedBySeeds = reached.size;
    for (let count = seeds.length; count < inputs; count++) {
      const from = random() < 0.6 ? accepted : kept;
      await attempt(changed(from[Math.floor(random() * from.length)] ?? seeds[0]!, kept, options));
    }
    return { inputs, kept: kept.length, reachedBySeeds, reached: reached.size };
  } finally {
    session.disconnect();
  }
}

async function note(session: Session, files: RegExp, reached: Set<string>): Promise<void> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  for (const { url, functions } of result) {
    if (!files.test(url)) continue;
    for (const { ranges } of functions) {
      for (const { startOffset, endOffset, count } of ranges) {
        if (count > 0) reached.add(`${url}:${startOffset}-${endOffset}*${Math.min(8, Math.ceil(Math.log2(count)))}`);
      }
    }
  }
}

/** One or two changes: a byte, a piece removed, repeated or taken from another input, or a word. */
function changed(from: Buffer, kept: readonly Buffer[], { random, words }: Guided): Buffer {
  const below = (limit: number): number => Math.floor(random() * limit);
  let bytes: Buffer = Buffer.from(from);
  for (let changes = 1 + below(2); changes > 0; changes--) {
    const at = below(bytes.length + 1);
    const piece = bytes.subarray(at, at + 1 + below(12));
    const rest = bytes.subarray(at + piece.length);
    const other = kept[below(kept.length)] ?? bytes;
    const start = below(other.length);
    const inserts: readonly (() => Buffer)[] = [
      () => Buffer.from([random() < 0.5 ? 48 + below(10) : below(256)]),
      () => Buffer.alloc(0),
      () => Buffer.concat([piece, piece]),
      () => Buffer.concat([piece, other.subarray(start, start + below(40))]),
      () => Buffer.from(words[below(words.length)]!),
      () => Buffer.concat([piece, Buffer.from(words[below(words.length)]!)]),
    ];
    bytes = Buffer.concat([bytes.subarray(0, at), inserts[below(inserts.length)]!(), rest]).subarray(0, 4000);
  }
  return bytes;
}
