/**
 * Reads the commands of a Markdown file that are marked `<!-- run -->`, and what the file promises of them: lines `# → …`, in which
 * `…` stands for anything. Runs nothing.
 */

interface Block {
  /** The line of its fence, from 1. */
  readonly line: number;
  readonly source: string;
}

const promiseMark = "# → ";

/** The fenced blocks after this mark, such as `run`. */
export function blocksMarked(markdown: string, mark: string): Block[] {
  const lines = markdown.split("\n");
  const blocks: Block[] = [];
  for (const [index, text] of lines.entries()) {
    if (text !== `<!-- ${mark} -->` || !lines[index + 1]?.startsWith("```")) continue;
    const end = lines.indexOf("```", index + 2);
    blocks.push({ line: index + 2, source: lines.slice(index + 2, end).join("\n") });
  }
  return blocks;
}

/** A piece of a block up to its next promise: the commands, and all that they must print (null: no matter what). */
interface Step {
  readonly source: string;
  readonly promise: string | null;
}

/** A block cut after each of its promises. */
export function stepsOf({ source }: Block): Step[] {
  const steps: Step[] = [];
  let lines: string[] = [];
  for (const line of source.split("\n")) {
    if (line.startsWith(promiseMark)) {
      steps.push({ source: lines.join("\n"), promise: line.slice(promiseMark.length) });
      lines = [];
    } else lines.push(line);
  }
  if (lines.some((line) => line.trim() !== "")) steps.push({ source: lines.join("\n"), promise: null });
  return steps;
}

/** Whether an output, from its first character to its last, is what was promised; white space at its ends aside. */
export function keeps(output: string, promise: string): boolean {
  const pieces = promise.split("…").map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${pieces.join("[^]*?")}$`).test(output.trim());
}
