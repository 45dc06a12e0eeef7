/**
 * Reads the commands of a Markdown file that are marked `<!-- run -->`, and what the file promises of them: lines `# → …`, in which
 * `…` stands for anything. Runs nothing.
 */

export interface Block {
  /** The line of its fence, from 1. */
  readonly line: number;
  readonly source: string;
  /** Promised answers, in order. */
  readonly promises: readonly string[];
}

/** The fenced blocks after this mark, such as `run`. */
export function blocksMarked(markdown: string, mark: string): Block[] {
  const lines = markdown.split("\n");
  const blocks: Block[] = [];
  for (const [index, text] of lines.entries()) {
    if (text !== `<!-- ${mark} -->` || !lines[index + 1]?.startsWith("```")) continue;
    const end = lines.indexOf("```", index + 2);
    const source = lines.slice(index + 2, end);
    const promises = source.filter((line) => line.startsWith("# → ")).map((line) => line.slice("# → ".length));
    blocks.push({ line: index + 2, source: source.join("\n"), promises });
  }
  return blocks;
}

/** Whether the output holds what was promised, in order; the first promise that it does not hold, or null. */
export function brokenPromise(output: string, promises: readonly string[]): string | null {
  let at = 0;
  for (const promise of promises) {
    const pieces = promise.split("…");
    for (const piece of pieces) {
      const found = output.indexOf(piece, at);
      if (found === -1) return promise;
      at = found + piece.length;
    }
  }
  return null;
}
