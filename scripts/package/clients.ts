/**
 * Puts the clients for other languages into `dist/clients`, with the version of this build and the words of its pages in them: a running server gives
 * them out.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { denialResponse, denialStyle } from "../../src/middleware/denial-page.js";
import { denialTexts } from "../../src/middleware/denial-texts.js";

/** By file: its folder below `src/client`. */
const folders = { "verdictd.py": "python", "verdictd.php": "php", "verdictd.go": "go" } as const;

/** In the sources, in English, as one line; JSON that every one of the three has between quotes in which nothing is escaped. */
const builtIn = /\{"style":.*\}/;

function builtInPages(): string {
  const { "Content-Security-Policy": policy } = denialResponse({ kind: "block", verdictId: "" }, "").headers;
  const pages = JSON.stringify({ style: denialStyle, policy, texts: denialTexts });
  if (/`|"""|\\/.test(pages)) throw new Error("a text of the pages can't stand in the clients as it is");
  return pages;
}

/** Throws when a client does not say which version it is, or has no place for the pages. */
export async function buildClients(root: string): Promise<void> {
  const { version }: { version: string } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const target = join(root, "dist/clients");
  await mkdir(target, { recursive: true });
  for (const [name, folder] of Object.entries(folders)) {
    const source = await readFile(join(root, "src/client", folder, name), "utf8");
    if (source.split('"0.0.0"').length !== 2) throw new Error(`${name}: expected the version "0.0.0", once`);
    if (!builtIn.test(source)) throw new Error(`${name}: expected the words of the pages`);
    const made = source.replace('"0.0.0"', JSON.stringify(version)).replace(builtIn, () => builtInPages());
    await writeFile(join(target, name), made);
  }
}
