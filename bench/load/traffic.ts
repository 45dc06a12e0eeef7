/**
 * What a load generator sends: whole HTTP requests, prebuilt and patched in place, so that building them costs next to nothing beside
 * sending them. A connection asks for its next request when the answer to the one before is complete.
 */

import { addressPlaceholder, navigationHeaders } from "../traffic/client-request.js";
import { batchText, idPlaceholder, idPlaces, jitter, jitterPlaces, tokenPlaceholder, UniqueIds } from "./batches.js";
import { visitTraffic } from "./crowd.js";
import { pageViewTraffic, readTraffic } from "./page-views.js";
import { Tokens, type TokensSpec } from "./tokens.js";
import type { Traffic, TrafficSpec } from "./traffic-spec.js";

/** Header lines of a current Chrome that reports to another origin. */
export const browserHeaders = [
  "User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
  "Accept: */*",
  "Accept-Language: en-US,en;q=0.9",
  "Accept-Encoding: gzip, deflate, br, zstd",
  "Origin: https://shop.example",
  "Referer: https://shop.example/",
  'Sec-CH-UA: "Chromium";v="156", "Google Chrome";v="156", "Not?A_Brand";v="99"',
  "Sec-CH-UA-Mobile: ?0",
  'Sec-CH-UA-Platform: "Windows"',
  "Sec-Fetch-Site: cross-site",
  "Sec-Fetch-Mode: cors",
  "Sec-Fetch-Dest: empty",
];

/** Different batches in circulation, each varied again per request. */
const seeds = 96;

export function createTraffic(spec: TrafficSpec, host: string): Traffic {
  switch (spec.kind) {
    case "verdict":
    case "request":
      return readTraffic(spec, host);
    case "page-views":
      return pageViewTraffic(spec, host);
    case "forward-auth":
      return forwardAuthTraffic(spec, host);
    case "visits":
      return visitTraffic(spec, host);
    case "ingest":
      return ingestTraffic(spec, host);
    case "challenge":
      return challengeTraffic(spec, host);
  }
}

function forwardAuthTraffic(
  { privateKey, tokens }: Extract<TrafficSpec, { kind: "forward-auth" }>,
  host: string,
): Traffic {
  const lines = navigationHeaders.filter(([name]) => name !== "Host" && name !== "Connection");
  const head = [
    "GET /v1/forward-auth HTTP/1.1",
    `Host: ${host}`,
    `X-Service-Private-Key: ${privateKey}`,
    "X-Forwarded-Method: GET",
    "X-Forwarded-Uri: /search?q=a",
    "X-Forwarded-Host: shop.example",
    "X-Forwarded-Proto: https",
    `X-Forwarded-For: ${addressPlaceholder}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    ...(tokens === null ? [] : [`Cookie: theme=dark; service_session=${tokenPlaceholder}`]),
  ];
  return readTraffic({ request: `${head.join("\r\n")}\r\n\r\n`, tokens, pages: 1 }, host);
}

/** What `challenge.js` asks for. */
function challengeTraffic({ siteKey, tokens }: Extract<TrafficSpec, { kind: "challenge" }>, host: string): Traffic {
  const body = JSON.stringify({ session_token: tokenPlaceholder });
  const head = [
    "POST /v1/challenges HTTP/1.1",
    `Host: ${host}`,
    ...browserHeaders,
    "Content-Type: application/json",
    `X-Service-Site-Key: ${siteKey}`,
    `Content-Length: ${body.length}`,
  ];
  return tokenTraffic(`${head.join("\r\n")}\r\n\r\n${body}`, tokens);
}

/** The same request with another token each time. */
function tokenTraffic(request: string, from: TokensSpec): Traffic {
  const tokens = new Tokens(from);
  const template = Buffer.from(request);
  const at = template.indexOf(tokenPlaceholder);
  return {
    connection: () => {
      const bytes = Buffer.from(template);
      const next = (): Buffer => {
        tokens.write(bytes, at);
        return bytes;
      };
      return { next };
    },
  };
}

interface IngestTemplate {
  readonly bytes: Buffer;
  readonly tokenAt: number;
  readonly idsAt: readonly number[];
  readonly jitterAt: readonly number[];
}

function ingestTraffic(spec: Extract<TrafficSpec, { kind: "ingest" }>, host: string): Traffic {
  const tokens = spec.tokens === null ? null : new Tokens(spec.tokens);
  const ids = new UniqueIds();
  const templates = Array.from({ length: seeds }, (_, seed) =>
    ingestTemplate(spec, host, spec.sizes[seed % spec.sizes.length]!, seed),
  );
  const bytesMax = Math.max(...templates.map(({ bytes }) => bytes.length));
  let made = 0;
  return {
    connection: () => {
      // A connection's own copy: a request may still be on its way when another connection builds its own.
      const own = Buffer.alloc(bytesMax);
      let request = own;
      let sent = 0;
      const next = (): Buffer => {
        if (sent++ % (spec.sends ?? 1) !== 0) return request;
        const { bytes, idsAt, jitterAt, tokenAt } = templates[made++ % seeds]!;
        bytes.copy(own);
        for (const at of idsAt) ids.write(own, at);
        jitter(own, jitterAt);
        tokens?.write(own, tokenAt);
        request = own.subarray(0, bytes.length);
        return request;
      };
      return { next };
    },
  };
}

function ingestTemplate(
  { siteKey, tokens }: Extract<TrafficSpec, { kind: "ingest" }>,
  host: string,
  size: number,
  seed: number,
): IngestTemplate {
  const body = batchText(size, seed, tokens === null);
  const head = [
    "POST /v1/events HTTP/1.1",
    `Host: ${host}`,
    ...browserHeaders,
    "Content-Type: application/json",
    `X-Service-Site-Key: ${siteKey}`,
    `Idempotency-Key: ${idPlaceholder}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  const bytes = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
  return {
    bytes,
    tokenAt: bytes.indexOf(tokenPlaceholder),
    idsAt: idPlaces(bytes),
    jitterAt: jitterPlaces(bytes),
  };
}
