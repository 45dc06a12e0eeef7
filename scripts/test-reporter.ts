/**
 * What tap shows of a run: a line for each file, whatever failed or was skipped with what tap says of it, and the counts. Works on lines as they
 * come: tap's own reporters draw the screen anew at each of some thirty thousand assertions, and take minutes over a long difference.
 */
import { Transform, type TransformCallback } from "node:stream";

/** Lines shown of what tap says of one failure. */
const linesMax = 120;

/** Reads TAP, writes text. */
// biome-ignore lint/style/noDefaultExport: tap takes a reporter's class from there
export default class TestReporter extends Transform {
  #rest = "";
  /** Names of the subtests that a line lies in, by depth. */
  #names: string[] = [];
  /** Set by a failure: the block of lines behind it is shown. */
  #hasFailed = false;
  /** The block that a line lies in: its last line, and how many are still shown. */
  #block: { readonly end: string; left: number } | null = null;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const lines = (this.#rest + chunk.toString("latin1")).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
    done();
  }

  override _flush(done: TransformCallback): void {
    this.#line(this.#rest);
    done();
  }

  #line(line: string): void {
    const text = line.trimStart();
    if (this.#block !== null) {
      if (line === this.#block.end) this.#block = null;
      else if (this.#block.left-- > 0) this.#say(line);
      return;
    }
    if (text === "---") {
      this.#block = { end: line.replace("---", "..."), left: this.#hasFailed ? linesMax : 0 };
      return;
    }
    const depth = Math.floor((line.length - text.length) / 4);
    const [isPoint, not, isSubtest] = /^(not )?ok \d+\b(?:.*(# time=))?/.exec(text) ?? [];
    // Of a subtest its own points have said what failed; of a file only tap knows that its process crashed.
    this.#hasFailed = not !== undefined && (isSubtest === undefined || depth === 0);
    if (text.startsWith("# Subtest: "))
      this.#names = [...this.#names.slice(0, depth), text.slice("# Subtest: ".length)];
    else if (isPoint && (not !== undefined || / # (?:SKIP|TODO)\b/i.test(text)))
      this.#say([...this.#names.slice(0, depth), text].join(" > "));
    else if (depth === 0 && (isPoint || /^(?:# |Bail out!)/.test(text))) this.#say(text);
  }

  #say(line: string): void {
    this.push(Buffer.from(`${line}\n`, "latin1"));
  }
}
