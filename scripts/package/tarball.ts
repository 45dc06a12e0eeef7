/**
 * Packs a folder as `npm pack` does: every file below `package/`, in the POSIX form `ustar`, gzipped. The same files make the same bytes, since
 * times, owners and modes are constants.
 */
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";

const blockBytes = 512;
/** npm's own: the time of every file that it packs, seconds. */
const modifiedAt = 499_162_500;

/** The packed file. Throws for a path over 100 bytes, which the plain form has no room for. */
export async function tarball(folder: string): Promise<Buffer> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const blocks: Buffer[] = [];
  for (const path of paths.sort()) {
    const bytes = await readFile(path);
    const padding = Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes);
    blocks.push(header(`package/${relative(folder, path).split(sep).join("/")}`, bytes.length), bytes, padding);
  }
  // Two empty blocks end an archive.
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]), { level: 9 });
}

/** A file's header block: fields at fixed places, numbers as octal text (IEEE Std 1003.1-2017, pax, "ustar Interchange Format"). */
function header(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`${name}: too long for a tar archive`);
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;
  block.write(name, 0);
  block.write(octal(0o644, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(modifiedAt, 11), 136);
  // The sum is over the block with spaces in its own place.
  block.write(" ".repeat(8), 148);
  block.write("0", 156);
  block.write("ustar\u000000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)} `, 148);
  return block;
}
