/** Lua scripts that run in the cluster: each is one file of `scripts/`, with a name and a version. */
import { createHash } from "node:crypto";

/** A script as it is loaded into nodes and run by its hash. */
export interface Script {
  /** For logs and errors: name and version. */
  readonly name: string;
  readonly version: number;
  readonly source: string;
  /** What the server knows it by: SHA-1 of the source, in hex. */
  readonly sha: string;
  /** It only reads, so that it may run on replicas too. */
  readonly isReadOnly: boolean;
}

/** A script as the client runs it. Changing `source` needs a new `version`: servers keep both while nodes of two releases run. */
export function defineScript(script: {
  readonly name: string;
  readonly version: number;
  readonly source: string;
  readonly isReadOnly?: boolean;
  /** It may write when the memory is full: what it writes is little, or makes room. */
  readonly allowsFullMemory?: boolean;
}): Script {
  const { name, version, isReadOnly = false, allowsFullMemory = false } = script;
  const source = allowsFullMemory ? `#!lua flags=allow-oom\n${script.source}` : script.source;
  const sha = createHash("sha1").update(source).digest("hex");
  return { name, version, source, sha, isReadOnly };
}
