/**
 * Where the files beside the code are found: what browsers load, the shipped catalogues, the entries of worker threads. The one
 * place that knows it, so that bundles of the code work wherever they are unpacked. Reads, never writes.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The compiled program's folder. This module, and every bundle that holds it, lies one folder below. */
const programFolder = new URL("../", import.meta.url);

/** Path of a file of the compiled program, named from its folder: `workers/http.js`. */
export function assetPath(name: string): string {
  return fileURLToPath(new URL(name, programFolder));
}

/** The bytes of a file of the compiled program. Throws when there is none. */
export function readAsset(name: string): Buffer {
  return readFileSync(assetPath(name));
}

/** A file with those of its compressed forms that the build has put beside it (`.br`, `.gz`). Throws when there is no such file. */
export function readCompressedAsset(name: string): { plain: Buffer; br?: Buffer; gzip?: Buffer } {
  const form = (suffix: string) => (existsSync(assetPath(name + suffix)) ? readAsset(name + suffix) : null);
  const [br, gzip] = [form(".br"), form(".gz")];
  return { plain: readAsset(name), ...(br !== null && { br }), ...(gzip !== null && { gzip }) };
}
