/** Lua scripts that run in the cluster: each is one file of `scripts/`, with a name and a version. */
import { createHash } from "node:crypto";

/** A script in the form that nodes load and run by its hash. */
export interface Script {
  /** For logs and errors: name and version. */
  readonly name: string;
  readonly version: number;
  readonly source: string;
  /** The server's key for it: SHA-1 of the source, in hex. */
  readonly sha: string;
  /** It only reads, so it may also run on replicas. */
  readonly isReadOnly: boolean;
}

/** A script in the client's form. A changed `source` needs a new `version`: servers keep both while nodes of two releases run. */
export function defineScript(script: {
  readonly name: string;
  readonly version: number;
  readonly source: string;
  readonly isReadOnly?: boolean;
  /** It may write when the memory is full, because it writes little or makes room. */
  readonly allowsFullMemory?: boolean;
}): Script {
  const { name, version, isReadOnly = false, allowsFullMemory = false } = script;
  const source = allowsFullMemory ? `#!lua flags=allow-oom\n${script.source}` : script.source;
  const sha = createHash("sha1").update(source).digest("hex");
  return { name, version, source, sha, isReadOnly };
}
