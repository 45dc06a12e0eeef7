/** TLS of connections to a cluster: the files are read at each new connection, so that they can be replaced while the client runs. */
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureContext } from "node:tls";

/** PEM, besides the system's authorities, and the files that hold it. */
export interface ClusterTls {
  readonly ca?: string | Buffer;
  /** A file that holds `ca`. */
  readonly caFile?: string | undefined;
  /** What the client shows of itself, with its key. */
  readonly certificate?: string | Buffer;
  readonly key?: string | Buffer;
  /** Files that hold both. */
  readonly certificateFile?: string | undefined;
  readonly keyFile?: string | undefined;
  /** The name that certificates must have, if it is not the host. */
  readonly serverName?: string;
}

/** The last ones that could be used: half of a pair may be replaced, or a file half written. */
const held = new WeakMap<ClusterTls, SecureContext>();

/** Returns what the files hold now; what they held before while they are no use. Throws if they never were. */
export function secureContextOf(tls: ClusterTls): SecureContext {
  try {
    const context = createSecureContext({
      ca: textOfFile(tls.caFile) ?? tls.ca,
      cert: textOfFile(tls.certificateFile) ?? tls.certificate,
      key: textOfFile(tls.keyFile) ?? tls.key,
    });
    held.set(tls, context);
    return context;
  } catch (error) {
    const before = held.get(tls);
    if (before !== undefined) return before;
    if (tls.caFile === undefined && tls.certificateFile === undefined) throw error;
    const { ca, certificate: cert, key } = tls;
    return createSecureContext({ ca, cert, key });
  }
}

/** Returns a file's text without its last line break; `undefined` for a file that is empty or can't be read, and for none. */
export function textOfFile(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    const text = readFileSync(file, "utf8").replace(/\r?\n$/, "");
    return text === "" ? undefined : text;
  } catch {
    return undefined;
  }
}
