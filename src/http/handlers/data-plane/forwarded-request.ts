/** Turns a visitor's request, as a proxy passes it on to forward-auth, into the question for a verdict. */
import type { VerdictQuestion } from "../../../contract/verdicts/judged-request.js";
import type { RequestContext } from "../../../contract/verdicts/verdict.js";
import { boundedIn, collected, type HeaderLine, type Trimming } from "./header-lines.js";
import type { KnownLines } from "./known-headers.js";

/** Headers that the proxy creates itself, and headers with its key. */
const ofProxy: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "authorization",
  "x-service-private-key",
  "x-service-cookie-name",
  "x-service-cookie-domain",
  "x-service-asked-again",
  "forwarded",
  "via",
  "x-real-ip",
  "x-request-id",
  // ingress-nginx.
  "x-sent-from",
  "x-auth-request-redirect",
]);

/** A proxy's call before it becomes a question for a verdict. */
interface Forwarded {
  /** Lines as they came. */
  readonly lines: readonly (readonly [name: string, value: string])[];
  readonly context: RequestContext;
  readonly sessionToken: string | null;
  readonly wantsToken: boolean;
  readonly isAskedAgain: boolean;
  /** The request target with its query; "" if the proxy does not send it. */
  readonly target: string;
  /** The host as the visitor sent it, with its port; "" if the proxy does not send it. */
  readonly authority: string;
  /** Whether the visitor came over TLS, which decides what a browser sends: as `X-Forwarded-Proto` says it; "" if the proxy does not. */
  readonly scheme: string;
  /** Header of the visitor's JA4, "" for none; and whether the proxy is trusted. */
  readonly ja4Header: string;
  readonly isTrusted: boolean;
}

/**
 * Treats empty values as missing, because some proxies send a line for each header that they know. `known` saves what lines came to that came before;
 * absent: none are known.
 */
export function forwardedQuestion(forwarded: Forwarded, trimming: Trimming, known?: KnownLines): VerdictQuestion {
  const { lines, context, sessionToken, wantsToken, isAskedAgain, target, authority, scheme } = forwarded;
  const { ja4Header, isTrusted } = forwarded;
  const visitors: HeaderLine[] = [];
  if (authority !== "") visitors.push(["host", authority]);
  if (scheme !== "" && lines.length > 0) visitors.push(["x-forwarded-proto", scheme]);
  let ja4 = "";
  for (const line of lines) {
    const [name, value] = line;
    if (name === ja4Header) ja4 = value;
    else if (value !== "" && isVisitors(name)) visitors.push(line);
  }
  const { headers, memo } = known?.read(visitors, trimming) ?? collected(visitors, trimming);
  return {
    sessionToken,
    request: {
      context,
      headers,
      isAsReceived: false,
      httpVersion: undefined,
      memo,
      ja4: isTrusted && ja4 !== "" ? boundedIn(trimming, ja4) : undefined,
    },
    hasHeaders: true,
    wantsToken,
    isAskedAgain,
    target: target === "" ? undefined : target,
    authority: authority === "" ? undefined : boundedIn(trimming, authority),
  };
}

function isVisitors(name: string): boolean {
  return !ofProxy.has(name) && !(name.startsWith("x-") && /^x-(?:forwarded|original|envoy)-/.test(name));
}
