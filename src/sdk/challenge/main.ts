/**
 * `/challenge.js`: a module with three uses. `verdictd.challenge()` imports it and calls `pass`; the challenge page includes it; and it starts
 * itself as a worker, where it does the work.
 */
import type { Challenge } from "altcha-lib";
import { jsonOf } from "../json.js";
import type { Verdictd } from "../options.js";
import { runPage } from "./page.js";
import { solve, solveHere } from "./solve.js";

/** Rounds of asking, solving and sending: a tab that slept brings its solution too late, a new session is not known yet. */
const roundsMax = 5;
const pauseMs = 700;
/** How long the SDK's first answer, an answer of ours, and the report of what was seen are waited for: nothing waits for ever. */
const readyMs = 15_000;
const answerMs = 10_000;
const reportMs = 3000;

const pause = (ms: number): Promise<null> => new Promise((resolve) => setTimeout(resolve, ms, null));

type Pass = (
  siteKey: string,
  base: string,
  ready: Promise<string | null>,
  token: () => string | null,
  scriptUrl?: (url: string) => string,
  report?: () => Promise<unknown>,
) => Promise<boolean>;

let underWay: Promise<boolean> | undefined;
let isRefused = false;

/**
 * Passes a challenge for the session of the SDK that asks, whose `ready` and `token` these are; `base` is the origin (and path prefix) that
 * serves `/v1/challenges`; `scriptUrl` makes addresses of workers trusted, and `report` sends what was seen on the page and is over once that was
 * answered (an SDK from a cache may lack both). False when the server wants none, refuses the session, knows none or can't be reached. Calls while
 * one is under way share it.
 */
export const pass: Pass = (...sdk) =>
  (underWay ??= passAlone(...sdk).finally(() => {
    underWay = undefined;
  }));

const passAlone: Pass = async (siteKey, base, ready, token, scriptUrl = (url) => url, report) => {
  isRefused = false;
  const post = async (path: string, body: object): Promise<Response> => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), answerMs);
    try {
      return await fetch(base + path, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Service-Site-Key": siteKey },
        body: jsonOf(body),
        credentials: "omit",
        referrerPolicy: "strict-origin",
        signal: abort.signal,
      });
    } finally {
      clearTimeout(timer);
    }
  };
  const soonReady = () => Promise.race([ready, pause(readyMs)]);
  for (let round = 0; round < roundsMax; round++) {
    if (round > 0) await pause(pauseMs);
    const session = token() ?? (await soonReady());
    if (!session) continue;
    try {
      const asked = await post("/v1/challenges", { session_token: session });
      // A session that is gone gets a new token with the SDK's next report.
      if (asked.status === 404) await soonReady();
      isRefused = asked.status === 403;
      if (isRefused || asked.status === 401 || asked.status === 402 || asked.status === 409) return false;
      if (!asked.ok) continue;
      const { puzzles } = (await asked.json()) as { puzzles: Challenge[] };
      const solutions = await solve(puzzles, () => scriptUrl(import.meta.url));
      // The server decides by what was seen until now.
      if (report) await Promise.race([report(), pause(reportMs)]);
      const list = puzzles.map(({ parameters, signature }, at) => ({
        challenge: { parameters, signature },
        solution: solutions[at],
      }));
      // A refusal is told by the next question, or there was nothing to decide by, and the next report brings it.
      if ((await post("/v1/challenges/solution", { session_token: session, solution: btoa(jsonOf(list)) })).ok)
        return true;
    } catch {
      // The network may be back in the next round.
    }
  }
  return false;
};

/** What `verdictd.fetch` answers where it got the 403 `answer`: what `send` does after a pass, if it was a challenge and nothing was a stream. */
export async function retry(
  answer: Response,
  init: RequestInit | undefined,
  by: Pick<Verdictd, "challenge">,
  send: () => Promise<Response>,
): Promise<Response> {
  const isChallenge =
    // Another origin may not show the header.
    answer.headers.get("X-Verdict-Action") === "challenge" ||
    (await answer.clone().text()).includes('"CHALLENGE_REQUIRED"');
  const isStream = init?.body instanceof ReadableStream;
  return isChallenge && !isStream && (await by.challenge()) ? send() : answer;
}

if (typeof document === "undefined") {
  globalThis.onmessage = async ({ data }) => {
    postMessage(null);
    postMessage(await solveHere(data as Challenge[]));
  };
} else {
  const main = document.querySelector<HTMLElement>("main[data-verdictd]");
  if (main) runPage(main, (window as { verdictd?: Verdictd }).verdictd, () => isRefused).catch(() => {});
}
