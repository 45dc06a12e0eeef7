/**
 * A real verdictd of its own for a live measurement: started from the command line on an empty store, asked through the public
 * API only, stopped and erased at the end.
 */
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Verdict } from "../../src/contract/verdicts/verdict.js";
import { startDemoServer } from "./demo-server.js";

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

/** Starts verdictd with a rule that challenges. */
export function startService(): Promise<LiveService> {
  return startDemoServer(join(dist, "program/verdictd.js"), startMsMax, async (server) => {
    const { origin, project, accountToken, siteKey, privateKey, configure, stop } = server;
    const ask = (path: string, key: string, headers: Record<string, string> = {}) =>
      fetch(origin + path, { headers: { Authorization: `Bearer ${key}`, ...headers } });
    await configure("PUT", "challenge", { enabled: true, difficulty: "low" });
    const expression = `path == "${challengedPath}"`;
    await configure("POST", "rules", { name: "Challenge", expression, action: "challenge" });
    return {
      origin,
      siteKey,
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
  });
}
