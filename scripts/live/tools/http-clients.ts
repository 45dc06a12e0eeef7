/**
 * Visitors without a browser: clients that post made-up batches to the public API. Some say who they are, some copy every header
 * of a Chromium; all of them keep the session's token as the SDK would.
 */
import { request } from "node:http";
import type { IngestEvent } from "../../../src/contract/events/events.js";
import { awaitOutput, startChild } from "../child-process.js";
import { missingProgram, ordinaryUserAgent, programs } from "../chromium.js";
import { type MadeUpPath, madeUpBatches } from "../made-up-events.js";
import type { CrossSessionCounts, LiveCase } from "../measurement.js";
import { pause } from "../pause.js";
import type { SiteVisit } from "../site.js";

type Headers = Readonly<Record<string, string>>;
/** Posts one body; resolves once it was answered. */
type Post = (url: string, headers: Headers, body: string) => Promise<void>;

/** Version of the Chromium that copied headers claim. */
export const claimedVersion = "156";
const answerMsMax = 5000;

/** What Chromium sends with the SDK's request, in its order. */
export function chromiumHeaders(url: string): Headers {
  const { origin, host } = new URL(url);
  return {
    Host: host,
    Connection: "keep-alive",
    "sec-ch-ua-platform": '"Linux"',
    "User-Agent": ordinaryUserAgent(claimedVersion),
    "sec-ch-ua": `"Chromium";v="${claimedVersion}", "Not A(Brand";v="24", "Google Chrome";v="${claimedVersion}"`,
    "sec-ch-ua-mobile": "?0",
    Accept: "*/*",
    Origin: origin,
    "Sec-Fetch-Site": "same-origin",
    "Sec-Fetch-Mode": "cors",
    "Sec-Fetch-Dest": "empty",
    Referer: `${origin}/`,
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Accept-Language": "en-US,en;q=0.9",
  };
}

async function runToEnd(file: string, args: readonly string[], input: string): Promise<void> {
  const child = startChild(file, args, { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin?.end(input);
  await awaitOutput(child, /"accepted"/, answerMsMax);
}

const curlPost: Post = (url, headers, body) => {
  const sent = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  return runToEnd(programs.curl, ["-s", "-X", "POST", "--data-binary", "@-", ...sent, url], body);
};

const fetchPost: Post = async (url, headers, body) => {
  const answer = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(answerMsMax) });
  if (answer.status !== 202) throw new Error(`ingest answered ${answer.status}`);
};

const pythonScript = `
import json, sys, urllib.request
told = json.load(sys.stdin)
request = urllib.request.Request(told["url"], told["body"].encode(), told["headers"])
print(urllib.request.urlopen(request, timeout=4).read().decode())
`;

const pythonPost: Post = (url, headers, body) =>
  runToEnd(programs.python3, ["-c", pythonScript], JSON.stringify({ url, headers, body }));

/** Node's plain client, which sends exactly the headers that it is given. */
export const nodePost: Post = (url, headers, body) =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, { method: "POST", headers, timeout: answerMsMax }, (answer) => {
      answer.resume();
      answer.once("end", () => (answer.statusCode === 202 ? resolve() : reject(new Error(`${answer.statusCode}`))));
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });

function headersOf(visit: SiteVisit, body: string, key: string, copied: boolean): Headers {
  const needed = {
    "Content-Type": "application/json",
    "X-Service-Site-Key": visit.siteKey,
    "Idempotency-Key": key,
  };
  if (!copied) return needed;
  return { ...chromiumHeaders(visit.url), ...needed, "Content-Length": String(Buffer.byteLength(body)) };
}

async function postVisit(
  post: Post,
  path: MadeUpPath,
  copied: boolean,
  { visit, random, run }: CrossSessionCounts,
): Promise<void> {
  const claimed = copied ? { userAgent: ordinaryUserAgent(claimedVersion), majorVersion: claimedVersion } : null;
  const batches: IngestEvent[][] = madeUpBatches(random, new URL(visit.url).host, path, claimed);
  for (const [index, events] of batches.entries()) {
    const body = JSON.stringify({ session_token: visit.token, events });
    await post(visit.eventsUrl, headersOf(visit, body, `made-up-${run}-${index}-${random()}`, copied), body);
    await pause(400);
  }
}

const pathNames = { wandering: "", smooth: " on smooth paths", scattered: " at scattered places" } as const;

function client(
  tool: string,
  post: Post,
  copied: boolean,
  missing: () => string | null,
  path: MadeUpPath = "wandering",
): LiveCase {
  return {
    goal: "unmodified",
    tool,
    behavior: `made-up events${pathNames[path]}${copied ? ", a browser's headers" : ""}`,
    needsDisplay: false,
    missing,
    carryOut: (environment) => postVisit(post, path, copied, environment),
  };
}

/** Every client without a browser. */
export const httpClientCases: readonly LiveCase[] = [
  client("curl", curlPost, false, () => missingProgram("curl")),
  client("Node fetch", fetchPost, false, () => null),
  client("Python urllib", pythonPost, false, () => missingProgram("python3")),
  client("curl", curlPost, true, () => missingProgram("curl")),
  client("Node http", nodePost, true, () => null),
  client("Node http", nodePost, true, () => null, "smooth"),
  client("Node http", nodePost, true, () => null, "scattered"),
  client("Python urllib", pythonPost, true, () => missingProgram("python3")),
];
