/** Lists the fenced samples of Markdown files. Runs nothing. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Sample {
  /** Path from the checkout's folder. */
  readonly file: string;
  /** The line of its fence, from 1. */
  readonly line: number;
  /** What the fence says: `sh`, `js`; "" for nothing. */
  readonly language: string;
  /** Of the comment on the line before: `run` of `<!-- run -->`; "" for none. */
  readonly mark: string;
  readonly source: string;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Every Markdown file that users read, by its path from the checkout's folder. */
export function documents(): Map<string, string> {
  const below = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  const names = ["README.md", ...below(".github"), ...below("src")].filter((name) => name.endsWith(".md"));
  return new Map(names.sort().map((name) => [name, readFileSync(join(root, name), "utf8")]));
}

/** The samples of a file. Throws for a fence that is not closed. */
export function samplesOf(file: string, markdown: string): Sample[] {
  const lines = markdown.split("\n");
  const samples: Sample[] = [];
  for (let index = 0; index < lines.length; index++) {
    const fence = /^ *(`{3,}|~{3,})([^`]*)$/.exec(lines[index]!);
    if (fence === null) continue;
    const end = lines.findIndex((line, at) => at > index && line.trim() === fence[1]);
    if (end === -1) throw new Error(`${file}:${index + 1}: the sample has no end`);
    const [, mark = ""] = /^ *<!-- (.+) -->$/.exec(lines[index - 1] ?? "") ?? [];
    const source = `${lines.slice(index + 1, end).join("\n")}\n`;
    samples.push({ file, line: index + 1, language: fence[2]!.trim(), mark, source });
    index = end;
  }
  return samples;
}

/** Those of all documents. */
export function allSamples(): Sample[] {
  return [...documents()].flatMap(([file, markdown]) => samplesOf(file, markdown));
}

/** `README.md:38`. */
export const placeOf = ({ file, line }: Sample): string => `${file}:${line}`;
