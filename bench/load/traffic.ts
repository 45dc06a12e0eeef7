/**
 * What a load generator sends: whole HTTP requests, prebuilt and patched in place, so that building them costs next to nothing beside
 * sending them. A connection asks for its next request when the answer to the one before is complete.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { batchText, idPlaceholder, idPlaces, jitterPlaces, tokenPlaceholder, UniqueIds } from "./batches.js";

/** Traffic by name and numbers: it travels to the generator's process. */
export type TrafficSpec =
  | { readonly kind: "verdict"; readonly privateKey: string; readonly tokens: TokensSpec; readonly query?: string }
  | {
      readonly kind: "ingest";
      readonly siteKey: string;
      /** null: every batch is a first contact. */
      readonly tokens: TokensSpec | null;
      /** Events of a batch, in turn. */
      readonly sizes: readonly number[];
      /** How often each batch is sent; 2: every second one is a retry. */
      readonly sends?: number;
    }
  /** Questions about requests of visitors without a session, each from another address: by a backend, or by a proxy. */
  | { readonly kind: "request"; readonly privateKey: string }
  | { readonly kind: "forward-auth"; readonly privateKey: string }
  | { readonly kind: "challenge"; readonly siteKey: string; readonly tokens: TokensSpec };

/** A file of tokens, one a line; `count` of them from `from` on, one after another. */
export interface TokensSpec {
  readonly file: string;
  readonly from: number;
  readonly count: number;
}

/** The next request of one connection; its bytes are valid until the connection asks again. */
export type NextRequest = () => Buffer;

export interface Traffic {
  connection(): NextRequest;
}

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
  if (spec.kind === "verdict") return verdictTraffic(spec, host);
  if (spec.kind === "request") return addressTraffic(requestQuestion(spec.privateKey, host));
  if (spec.kind === "forward-auth") return addressTraffic(forwardAuthQuestion(spec.privateKey, host));
  return spec.kind === "ingest" ? ingestTraffic(spec, host) : challengeTraffic(spec, host);
}

function verdictTraffic(spec: Extract<TrafficSpec, { kind: "verdict" }>, host: string): Traffic {
  const request =
    `GET /v1/sessions/${tokenPlaceholder}/verdict${spec.query ?? ""} HTTP/1.1\r\nHost: ${host}\r\n` +
    `Authorization: Bearer ${spec.privateKey}\r\n\r\n`;
  return tokenTraffic(request, spec.tokens);
}

/** A browser's fifteen lines of a navigation, as its server gets them. */
const navigationHeaders = [
  "Host: shop.example",
  "Connection: keep-alive",
  'sec-ch-ua: "Chromium";v="156", "Google Chrome";v="156", "Not?A_Brand";v="99"',
  "sec-ch-ua-mobile: ?0",
  'sec-ch-ua-platform: "Windows"',
  "Upgrade-Insecure-Requests: 1",
  "User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
  "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
  "Sec-Fetch-Site: same-origin",
  "Sec-Fetch-Mode: navigate",
  "Sec-Fetch-User: ?1",
  "Sec-Fetch-Dest: document",
  "Referer: https://shop.example/",
  "Accept-Encoding: gzip, deflate, br, zstd",
  "Accept-Language: en-US,en;q=0.9",
] as const;

/** Its last two numbers are written anew for each request, from 100 to 199. */
const addressPlaceholder = "198.51.100.100";

function requestQuestion(privateKey: string, host: string): string {
  const headers = navigationHeaders.map((line) => line.split(": ", 2));
  const request = { method: "GET", path: "/search?q=a", host: "shop.example", ip: addressPlaceholder, headers };
  const body = JSON.stringify({ session_token: null, request });
  const head = [
    "POST /v1/verdict HTTP/1.1",
    `Host: ${host}`,
    `Authorization: Bearer ${privateKey}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

function forwardAuthQuestion(privateKey: string, host: string): string {
  const lines = navigationHeaders.filter((line) => !/^(?:Host|Connection):/.test(line));
  const head = [
    "GET /v1/forward-auth HTTP/1.1",
    `Host: ${host}`,
    `X-Service-Private-Key: ${privateKey}`,
    "X-Forwarded-Method: GET",
    "X-Forwarded-Uri: /search?q=a",
    "X-Forwarded-Host: shop.example",
    "X-Forwarded-Proto: https",
    `X-Forwarded-For: ${addressPlaceholder}`,
    ...lines,
  ];
  return `${head.join("\r\n")}\r\n\r\n`;
}

/** The same request from ten thousand addresses in turn. */
function addressTraffic(request: string): Traffic {
  const template = Buffer.from(request);
  const at = template.indexOf(addressPlaceholder);
  let sent = 0;
  return {
    connection: () => {
      const bytes = Buffer.from(template);
      return () => {
        const number = sent++ % 10_000;
        bytes.write(`${100 + Math.floor(number / 100)}.${100 + (number % 100)}`, at + "198.51.".length, "latin1");
        return bytes;
      };
    },
  };
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
      return () => {
        tokens.write(bytes, at);
        return bytes;
      };
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
      return () => {
        if (sent++ % (spec.sends ?? 1) !== 0) return request;
        const { bytes, idsAt, jitterAt, tokenAt } = templates[made++ % seeds]!;
        bytes.copy(own);
        for (const at of idsAt) ids.write(own, at);
        let noise = (Math.random() * 0x7fffffff) | 0;
        for (const at of jitterAt) {
          noise = (noise * 1103515245 + 12345) & 0x7fffffff;
          own[at] = 48 + ((own[at]! - 48 + ((noise >> 16) % 3)) % 10);
        }
        tokens?.write(own, tokenAt);
        request = own.subarray(0, bytes.length);
        return request;
      };
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

/** Tokens in turn, from a file. */
class Tokens {
  readonly #bytes: Buffer;
  readonly #count: number;
  #next = 0;

  constructor({ file, from, count }: TokensSpec) {
    const line = tokenPlaceholder.length + 1;
    const bytes = Buffer.allocUnsafeSlow(count * line);
    const opened = openSync(file, "r");
    let held = 0;
    for (let read = -1; read !== 0 && held < bytes.length; held += read) {
      read = readSync(opened, bytes, held, bytes.length - held, from * line + held);
    }
    closeSync(opened);
    this.#bytes = bytes;
    this.#count = Math.floor(held / line);
    if (this.#count === 0) throw new Error(`no tokens in ${file}`);
  }

  write(into: Buffer, at: number): void {
    const start = this.#next * (tokenPlaceholder.length + 1);
    this.#bytes.copy(into, at, start, start + tokenPlaceholder.length);
    if (++this.#next === this.#count) this.#next = 0;
  }
}
