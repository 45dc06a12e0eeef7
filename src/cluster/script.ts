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
}): Script {
  const sha = createHash("sha1").update(script.source).digest("hex");
  return { ...script, sha, isReadOnly: script.isReadOnly ?? false };
}
