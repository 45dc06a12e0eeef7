/**
 * A real verdictd of its own for a live measurement: started from the command line on an empty store, asked through the public
 * API only, stopped and erased at the end.
 */
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Verdict } from "../../src/contract/verdict.js";
import { awaitOutput, endChild, startChild } from "./child-process.js";
import { scratchFolder } from "./scratch-folder.js";

const dist = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const startMsMax = 30_000;

/** Every request to it is challenged, with verdictd's own challenge. */
export const challengedPath = "/challenged";

/** One detection that fired, as the session detail shows it. */
export interface ShownDetection {
  readonly id: number;
  readonly slug: string;
  readonly contribution: number;
  readonly evidence: Record<string, unknown>;
}

/** A running verdictd with one project whose scoring is enabled. */
export interface LiveService {
  readonly origin: string;
  readonly siteKey: string;
  /** `GET /v1/sessions/{token}/verdict`, never from the verdict cache, for this request if one is given. Throws when the answer is no 200. */
  verdict(token: string, request?: { readonly path: string; readonly userAgent: string }): Promise<Verdict>;
  /** What the session detail says of the detections; null where the server has no such route. */
  detections(token: string): Promise<ShownDetection[] | null>;
  stop(): Promise<void>;
}

/** Starts verdictd on free ports. Batches from loopback may name their visitor's address in X-Forwarded-For. */
export async function startService(): Promise<LiveService> {
  const data = await scratchFolder();
  const child = startChild(process.execPath, [
    join(dist, "program/verdictd.js"),
    "serve",
    "--demo",
    "--port=0",
    "--admin-port=0",
    "--verdict-ttl=0",
    "--trusted-proxies=127.0.0.1/32",
    `--data-dir=${data.path}`,
  ]);
  const stop = async () => {
    await endChild(child);
    await data.erase();
  };
  try {
    const printed = await awaitOutput(
      child,
      /account token +(\S+)[\s\S]*?project +(\d+)[\s\S]*?site key +(\S+)[\s\S]*?private key +(\S+)/,
      startMsMax,
    );
    const [said, accountToken, project, siteKey, privateKey] = printed;
    const port = /"port":(\d+)[^\n]*"msg":"listening"/.exec(printed.input ?? said)?.[1];
    const origin = `http://127.0.0.1:${port}`;
    const ask = (path: string, key: string | undefined, headers: Record<string, string> = {}) =>
      fetch(origin + path, { headers: { Authorization: `Bearer ${key}`, ...headers } });
    const configure = async (method: string, path: string, body: object) => {
      const headers = { Authorization: `Bearer ${accountToken}`, "Content-Type": "application/json" };
      const url = `${origin}/v1/projects/${project}/${path}`;
      const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    };
    await configure("PUT", "challenge", { enabled: true, difficulty: "low" });
    const expression = `path == "${challengedPath}"`;
    await configure("POST", "rules", { name: "Challenge", expression, action: "challenge" });
    return {
      origin,
      siteKey: siteKey!,
      stop,
      async verdict(token, request) {
        const query = request === undefined ? "" : `?path=${encodeURIComponent(request.path)}`;
        const headers = request === undefined ? {} : { "X-Service-Client-UA": request.userAgent };
        const answer = await ask(`/v1/sessions/${token}/verdict${query}`, privateKey, headers);
        if (answer.status !== 200) throw new Error(`verdict read answered ${answer.status}`);
        return (await answer.json()) as Verdict;
      },
      async detections(token) {
        const answer = await ask(`/v1/projects/${project}/sessions/${token}`, accountToken);
        if (answer.status !== 200) return null;
        return ((await answer.json()) as { detections: ShownDetection[] }).detections;
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
