/**
 * How a file that never changes while the server runs is answered: compressed as the client accepts it, and not at all when the
 * client has it already (RFC 9110, sections 8.8.3, 12.5.3 and 13.1.2).
 */
import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Reply } from "../../reply.js";

/** A file with its compressed forms, as the build made them. */
interface CompressedFile {
  readonly plain: Uint8Array;
  readonly br?: Uint8Array;
  readonly gzip?: Uint8Array;
}

/** A file as it is, or with the compressed forms that the build made; only a text is compressed here. */
export type FileBody = string | Uint8Array | CompressedFile;

/** Names of the request headers that choose the form, in the order in which `FileReply.to` takes them. */
export const fileHeaders = ["accept-encoding", "if-none-match"] as const;

/** Below this many bytes a text is sent as it is: it fits one packet anyway. */
const compressedBytesMin = 1024;

type Coding = "identity" | "br" | "gzip";

/** Two milliseconds for 100 KB, as gzip takes, for a tenth less of it; the best quality would hold the thread for 100 times as long. */
const quickBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Answers one file. A text without compressed forms gets each when it is first asked for: a few milliseconds. */
export class FileReply {
  /** Bytes, which all answers share, and not text, of which each would have its own. */
  readonly #forms: Partial<Record<Coding, Uint8Array>>;
  readonly #isText: boolean;
  readonly #cacheControl: string;
  readonly #contentType: string;
  readonly #headers: NonNullable<Reply["headers"]>;
  readonly #hash: string;

  constructor(body: FileBody, contentType: string, cacheControl: string, headers: Reply["headers"] = []) {
    const isBare = typeof body === "string" || body instanceof Uint8Array;
    const { plain: given, br, gzip } = isBare ? { plain: body, br: undefined, gzip: undefined } : body;
    const plain = typeof given === "string" ? Buffer.from(given) : given;
    this.#isText = typeof given === "string";
    this.#cacheControl = cacheControl;
    this.#forms = { identity: plain, ...(br !== undefined && { br }), ...(gzip !== undefined && { gzip }) };
    this.#contentType = contentType;
    this.#headers = headers;
    this.#hash = createHash("sha256").update(plain).digest("base64url").slice(0, 22);
  }

  /** The answer to a request with these headers; "" for one that it lacks. */
  to(acceptEncoding: string, ifNoneMatch: string): Reply {
    const coding = this.#coding(acceptEncoding);
    const tag = `"${this.#hash}${coding === "identity" ? "" : `-${coding}`}"`;
    const headers = [...this.#headers, ["ETag", tag], ["Vary", "Accept-Encoding"]] as const;
    const cacheControl = this.#cacheControl;
    if (knows(ifNoneMatch, tag)) return { status: 304, headers, cacheControl };
    const coded = coding === "identity" ? headers : ([...headers, ["Content-Encoding", coding]] as const);
    return { status: 200, body: this.#forms[coding]!, contentType: this.#contentType, headers: coded, cacheControl };
  }

  #coding(acceptEncoding: string): Coding {
    const accepted = acceptedCodings(acceptEncoding);
    const plain = this.#forms.identity!;
    const isMade = this.#isText && plain.length >= compressedBytesMin;
    if (accepted.has("br")) {
      if (isMade) this.#forms.br ??= brotliCompressSync(plain, quickBrotli);
      if (this.#forms.br !== undefined) return "br";
    }
    if (!accepted.has("gzip")) return "identity";
    if (isMade) this.#forms.gzip ??= gzipSync(plain);
    return this.#forms.gzip === undefined ? "identity" : "gzip";
  }
}

/** Codings that are named and not refused by `q=0`. */
function acceptedCodings(header: string): Set<string> {
  const accepted = header
    .toLowerCase()
    .split(",")
    .map((each) => each.split(";").map((part) => part.trim()))
    .filter(([, ...parameters]) => !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)));
  return new Set(accepted.map(([name]) => name!));
}

/** By weak comparison, as the header asks. */
function knows(ifNoneMatch: string, tag: string): boolean {
  const tags = ifNoneMatch.split(",").map((each) => each.trim().replace(/^W\//, ""));
  return tags.includes(tag) || tags.includes("*");
}
