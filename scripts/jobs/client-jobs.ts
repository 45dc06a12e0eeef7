/** Does a job with HTTP clients: their own headers, or a browser's copied from its developer tools. Each runs all steps of a job in one process. */
import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { awaitOutput, endChild, startChild } from "../live/child-process.js";
import { missingProgram, ordinaryUserAgent, programs } from "../live/chromium.js";
import { type ScratchFolder, scratchFolder } from "../live/scratch-folder.js";
import { claimedVersion } from "../live/tools/http-clients.js";
import { type Step, servedName } from "./jobs.js";
import type { ShopVisit } from "./shop.js";

type Headers = Readonly<Record<string, string>>;

interface ToldRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Headers;
  readonly body: string | null;
}

/** An HTTP client. */
export interface HttpClient {
  readonly name: string;
  readonly missing: () => string | null;
  /** Makes the requests one after another, as fast as it can. */
  readonly run: (requests: readonly ToldRequest[]) => Promise<void>;
}

const runMsMax = 20_000;

/** What Chromium sends for a page that somebody typed the address of, but for the order. */
function copiedHeaders(): Headers {
  return {
    "sec-ch-ua": `"Chromium";v="${claimedVersion}", "Not A(Brand";v="24", "Google Chrome";v="${claimedVersion}"`,
    "sec-ch-ua-mobile": "?0",
    "sec-ch-ua-platform": '"Linux"',
    "Upgrade-Insecure-Requests": "1",
    "User-Agent": ordinaryUserAgent(claimedVersion),
    Accept:
      "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-User": "?1",
    "Sec-Fetch-Dest": "document",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Accept-Language": "en-US,en;q=0.9",
  };
}

/** A careful copy: later pages and forms come from the shop's own. */
function requestsOf(steps: readonly Step[], { url }: ShopVisit, copied: boolean): ToldRequest[] {
  const { origin } = new URL(url);
  const requests: ToldRequest[] = [];
  const add = (method: "GET" | "POST", path: string, body: string | null, referer: string) => {
    const form = method === "POST" ? { "Content-Type": "application/x-www-form-urlencoded" } : {};
    const own = method === "POST" ? { Origin: origin, "Cache-Control": "max-age=0" } : {};
    const from = requests.length === 0 ? {} : { "Sec-Fetch-Site": "same-origin", Referer: `${origin}${referer}` };
    const headers = copied ? { ...copiedHeaders(), ...from, ...own, ...form } : form;
    requests.push({ method, url: `${origin}${path}`, headers, body });
  };
  let before = "/";
  for (const step of steps) {
    if (step.kind === "read") add("GET", step.path, null, before);
    else {
      if (before !== step.page) add("GET", step.page, null, before);
      add("POST", step.path, new URLSearchParams(step.fields).toString(), step.page);
    }
    before = step.kind === "read" ? step.path : step.page;
  }
  return requests;
}

/** Whether the client got all that the job is for. */
export async function doWithClient(
  client: HttpClient,
  steps: readonly Step[],
  visit: ShopVisit,
  copied: boolean,
): Promise<void> {
  await client.run(requestsOf(steps, visit, copied));
}

/** Whether all steps were served. */
export function isDone(steps: readonly Step[], { served }: ShopVisit): boolean {
  return steps.every((step) => served.has(servedName(step)));
}

async function runProgram(file: string, args: readonly string[], input: string): Promise<void> {
  const child = startChild(file, args, { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin?.end(input);
  try {
    await awaitOutput(child, /all sent/, runMsMax);
  } finally {
    await endChild(child);
  }
}

const pythonRequests = `
import json, sys, requests
told = json.load(sys.stdin)
session = requests.Session()
for each in told:
    if "User-Agent" in each["headers"]: session.headers.clear()
    session.request(each["method"], each["url"], data=each["body"], headers=each["headers"], timeout=5, allow_redirects=False)
print("all sent", flush=True)
`;

const pythonUrllib = `
import json, sys, urllib.request, urllib.error
class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *told): return None
opener = urllib.request.build_opener(Stay)
for each in json.load(sys.stdin):
    body = each["body"] and each["body"].encode()
    try: opener.open(urllib.request.Request(each["url"], body, each["headers"], method=each["method"]), timeout=5).read()
    except urllib.error.HTTPError as error: error.read()
print("all sent", flush=True)
`;

const goProgram = `package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"time"
)

type told struct {
	Method, URL string
	Headers     map[string]string
	Body        *string
}

func main() {
	var all []told
	json.NewDecoder(os.Stdin).Decode(&all)
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar, Timeout: 5 * time.Second}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, each := range all {
		body := ""
		if each.Body != nil {
			body = *each.Body
		}
		request, _ := http.NewRequest(each.Method, each.URL, strings.NewReader(body))
		for name, value := range each.Headers {
			request.Header.Set(name, value)
		}
		if answer, err := client.Do(request); err == nil {
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	}
	fmt.Println("all sent")
}
`;

const goPath = process.env["GO_PATH"] ?? "/usr/bin/go";
let goBuild: Promise<string> | null = null;

async function builtGo(): Promise<string> {
  const folder = await scratchFolder();
  const source = join(folder.path, "main.go");
  writeFileSync(source, goProgram);
  const program = join(folder.path, "client");
  const env = { ...process.env, GOCACHE: join(folder.path, "cache"), GO111MODULE: "off", GOFLAGS: "" };
  await promisify(execFile)(goPath, ["build", "-o", program, source], { timeout: 120_000, env });
  return program;
}

async function runCurl(requests: readonly ToldRequest[]): Promise<void> {
  const folder: ScratchFolder = await scratchFolder();
  const jar = join(folder.path, "cookies");
  try {
    for (const { method, url, headers, body } of requests) {
      const sent = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
      const data = method === "POST" ? ["--data", body ?? ""] : [];
      const args = ["-s", "-o", "/dev/null", "-b", jar, "-c", jar, ...data, ...sent, url];
      await promisify(execFile)(programs.curl, args, { timeout: runMsMax });
    }
  } finally {
    await folder.erase();
  }
}

async function runFetch(requests: readonly ToldRequest[]): Promise<void> {
  for (const { method, url, headers, body } of requests) {
    const answer = await fetch(url, { method, headers, body, redirect: "manual", signal: AbortSignal.timeout(5000) });
    await answer.arrayBuffer();
  }
}

const json = (requests: readonly ToldRequest[]) => JSON.stringify(requests);

/** Every client. requests, go and curl keep cookies, urllib and fetch don't. */
export const httpClients: readonly HttpClient[] = [
  { name: "Node fetch", missing: () => null, run: runFetch },
  { name: "curl", missing: () => missingProgram("curl"), run: runCurl },
  {
    name: "Python requests",
    missing: () => missingProgram("python3"),
    run: (requests) => runProgram(programs.python3, ["-c", pythonRequests], json(requests)),
  },
  {
    name: "Python urllib",
    missing: () => missingProgram("python3"),
    run: (requests) => runProgram(programs.python3, ["-c", pythonUrllib], json(requests)),
  },
  {
    name: "Go net/http",
    missing: () => (existsSync(goPath) ? null : `${goPath} is missing`),
    run: async (requests) => {
      goBuild ??= builtGo();
      await runProgram(await goBuild, [], json(requests));
    },
  },
];
