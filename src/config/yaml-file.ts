/** YAML, and so JSON, read with line numbers for its mistakes. The only file that knows the package. Reads texts, opens no files. */
import { Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, Scalar, visit } from "yaml";
import { isPrintable, printableText } from "../runtime/printable.js";

/** What one key of a file's outermost map holds. */
export interface YamlEntry {
  readonly key: string;
  /** From 1. */
  readonly line: number;
  readonly value: unknown;
  /** How a single value is written: `012` where the value is the number 12. Null for a list or a map. */
  readonly written: string | null;
}

/** The text of a value as YAML. Characters that a terminal would obey are escapes in it. */
export function yamlText(value: unknown): string {
  const document = new Document(value);
  visit(document, {
    Scalar: (_, node) => {
      // Only between double quotes YAML has escapes. Line breaks it can lay out as lines.
      if (typeof node.value === "string" && !isPrintable(node.value.replaceAll("\n", "")))
        node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return printableText(document.toString());
}

/** What is wrong with a text: the line, from 1, and why. */
interface YamlMistake {
  readonly line: number;
  readonly why: string;
}

/** The value of a text, or the first reason why it has none, with its line. */
export function parseYaml(text: string): { readonly value: unknown } | YamlMistake {
  const { parsed, mistakes } = documentOf(text);
  return mistakes[0] ?? { value: parsed.toJS() as unknown };
}

/** The entries of a text that is a map; every mistake of one that is no YAML; null for one that is something else. */
export function yamlEntries(text: string): readonly YamlEntry[] | { readonly mistakes: readonly YamlMistake[] } | null {
  const { parsed, counter, mistakes } = documentOf(text);
  if (mistakes.length > 0) return { mistakes };
  const { contents } = parsed;
  // Nothing but comments: no options.
  if (contents === null && text.trim() !== "") return [];
  if (!isMap(contents)) return null;
  return contents.items.map(({ key, value }) => {
    const node = isAlias(value) ? value.resolve(parsed) : (value as Node | null | undefined);
    return {
      key: String(isScalar(key) ? key.value : key),
      line: counter.linePos((key as Node).range?.[0] ?? 0).line,
      value: plainValue(node),
      written: isScalar(node) && typeof node.value === "number" ? (node.source ?? String(node.value)) : textOf(node),
    };
  });
}

function documentOf(text: string) {
  const counter = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const mistakes = parsed.errors.map(({ pos, message }) => ({
    line: counter.linePos(pos[0]).line,
    why: message.split("\n")[0]!,
  }));
  return { parsed, counter, mistakes };
}

function plainValue(node: Node | null | undefined): unknown {
  if (isScalar(node)) return node.value;
  return isSeq(node) ? node.items.map((item) => (isScalar(item) ? item.value : null)) : null;
}

function textOf(node: Node | null | undefined): string | null {
  return isScalar(node) && node.value !== null ? String(node.value) : null;
}
