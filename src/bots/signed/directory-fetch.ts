/**
 * Fetches the key directory of a listed agent: https only, no redirects, bounded in bytes and time, and only from public addresses, which
 * holds for the address that is connected to and not for the name. Keys are public, so no proof beside TLS is asked for (the draft's
 * signature of the response is one for redistributed keys).
 */
import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { PublicJwk } from "../../contract/bots/signed-agents.js";
import { limits } from "../../limits.js";
import { isConnectableAddress } from "../../net/connectable-address.js";
import { directoryPath } from "./agents.js";
import { isKeySetFault, readKeySet } from "./jwks.js";

/** The keys, or why there are none: one line, with nothing of the answer's text in it. */
type FetchedDirectory = { readonly keys: readonly PublicJwk[] } | { readonly failure: string };
/** Fetches the directory at the origin of an agent. Never rejects. */
export type FetchDirectory = (origin: string) => Promise<FetchedDirectory>;

/** What a test may replace. */
export interface FetchParts {
  /** All addresses of a name. */
  readonly resolve?: (hostname: string) => Promise<readonly { address: string; family: number }[]>;
  readonly isAllowed?: (address: string) => boolean;
  /** PEM of further certificate authorities. */
  readonly ca?: string;
  /** Instead of `limits.agentFetchMsMax`. */
  readonly timeoutMs?: number;
}

const mediaTypes = [
  "application/http-message-signatures-directory+json",
  "application/json",
  "application/jwk-set+json",
];

class FetchFailure extends Error {
  override readonly name = "FetchFailure";
}

/** Never rejects. */
export function directoryFetcher(parts: FetchParts = {}): FetchDirectory {
  return async (origin) => {
    try {
      const keys = readKeySet(JSON.parse(await directoryText(new URL(directoryPath, origin), parts)));
      return isKeySetFault(keys) ? { failure: `the directory ${keys.message}` } : { keys };
    } catch (error) {
      return { failure: failureOf(error) };
    }
  };
}

function failureOf(error: unknown): string {
  if (error instanceof FetchFailure) return error.message;
  if (error instanceof SyntaxError) return "the directory is not JSON";
  const { name, code } = error as { name?: string; code?: string };
  if (name === "TimeoutError" || name === "AbortError") return "no answer in time";
  return `can't be reached (${code ?? name ?? "unknown"})`;
}

function directoryText(url: URL, parts: FetchParts): Promise<string> {
  const isAllowed = parts.isAllowed ?? isConnectableAddress;
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  // Of an address there is no look-up.
  if (isIP(hostname) !== 0 && !isAllowed(hostname))
    return Promise.reject(new FetchFailure("its address is not public"));
  return new Promise((done, failed) => {
    const asked = request(
      url,
      {
        agent: false,
        lookup: allowedLookup(parts.resolve ?? ((name) => lookup(name, { all: true })), isAllowed),
        signal: AbortSignal.timeout(parts.timeoutMs ?? limits.agentFetchMsMax),
        headers: { accept: mediaTypes[0], "accept-encoding": "identity", "user-agent": "verdictd" },
        ...(parts.ca !== undefined && { ca: parts.ca }),
      },
      (answer) => {
        readAnswer(answer, isAllowed).then(done, (error: unknown) => {
          asked.destroy();
          failed(error);
        });
      },
    );
    asked.on("error", failed);
    asked.end();
  });
}

/** Gives the connection only addresses that are allowed, so that it can't end up at another. */
function allowedLookup(
  resolve: NonNullable<FetchParts["resolve"]>,
  isAllowed: (address: string) => boolean,
): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname).then(
      (all) => {
        const allowed = all.filter(({ address }) => isAllowed(address));
        const [first] = allowed;
        if (first === undefined) done(new FetchFailure("its address is not public"), "", 0);
        else if (options.all === true) done(null, [...allowed]);
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, "", 0),
    );
  };
}

async function readAnswer(answer: IncomingMessage, isAllowed: (address: string) => boolean): Promise<string> {
  if (!isAllowed(answer.socket.remoteAddress ?? "")) throw new FetchFailure("its address is not public");
  if (answer.statusCode !== 200) throw new FetchFailure(`answers ${answer.statusCode}`);
  const encoding = answer.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") throw new FetchFailure("is compressed, which was not asked for");
  const type = (answer.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
  if (!mediaTypes.includes(type)) throw new FetchFailure("is not of the media type of a directory");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limits.agentDirectoryBytesMax) {
      throw new FetchFailure(`has more than ${limits.agentDirectoryBytesMax} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
