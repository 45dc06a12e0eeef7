/** Puts the clients for other languages into `dist/clients`, with the version of this build in them: a running server gives them out. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** By file: its folder below `src/client`. */
const folders = { "verdictd.py": "python", "verdictd.php": "php", "verdictd.go": "go" } as const;

/** Throws when a client does not say which version it is. */
export async function buildClients(root: string): Promise<void> {
  const { version }: { version: string } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const target = join(root, "dist/clients");
  await mkdir(target, { recursive: true });
  for (const [name, folder] of Object.entries(folders)) {
    const source = await readFile(join(root, "src/client", folder, name), "utf8");
    if (source.split('"0.0.0"').length !== 2) throw new Error(`${name}: expected the version "0.0.0", once`);
    await writeFile(join(target, name), source.replace('"0.0.0"', JSON.stringify(version)));
  }
}
