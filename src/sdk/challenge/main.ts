/**
 * `/challenge.js`: a module with three uses. `verdictd.challenge()` imports it and calls `pass`; the challenge page includes it; and it starts
 * itself as a worker, where it does the work.
 */
import type { Challenge } from "altcha-lib";
import type { Verdictd } from "../options.js";
import { runPage } from "./page.js";
import { solve, solveHere } from "./solve.js";

/** Rounds of asking, solving and sending: a tab that slept brings its solution too late, a new session is not known yet. */
const roundsMax = 5;
const pauseMs = 700;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pauseMs));

type Pass = (
  siteKey: string,
  base: string,
  ready: Promise<string | null>,
  token: () => string | null,
  scriptUrl?: (url: string) => string,
) => Promise<boolean>;

let underWay: Promise<boolean> | undefined;

/**
 * Passes a challenge for the session of the SDK that asks, whose `ready` and `token` these are; `base` is the origin (and path prefix) that
 * serves `/v1/challenges`; `scriptUrl` makes addresses of workers trusted (an SDK from a cache may lack it). False when the server wants none, knows no such session or can't be reached. Calls while one is under way share it.
 */
export const pass: Pass = (...sdk) =>
  (underWay ??= passAlone(...sdk).finally(() => {
    underWay = undefined;
  }));

const passAlone: Pass = async (siteKey, base, ready, token, scriptUrl = (url) => url) => {
  const post = (path: string, body: object): Promise<Response> =>
    fetch(base + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Service-Site-Key": siteKey },
      body: JSON.stringify(body),
      credentials: "omit",
      referrerPolicy: "strict-origin",
    });
  for (let round = 0; round < roundsMax; round++) {
    if (round > 0) await pause();
    const session = token() ?? (await ready);
    if (!session) continue;
    try {
      const asked = await post("/v1/challenges", { session_token: session });
      // A session that is gone gets a new token with the SDK's next report.
      if (asked.status === 404) await ready;
      if (asked.status === 401 || asked.status === 402 || asked.status === 409) return false;
      if (!asked.ok) continue;
      const { parameters, signature } = (await asked.json()) as Challenge;
      const challenge = { parameters, signature } as Challenge;
      const solution = btoa(
        JSON.stringify({ challenge, solution: await solve(challenge, () => scriptUrl(import.meta.url)) }),
      );
      if ((await post("/v1/challenges/solution", { session_token: session, solution })).ok) return true;
    } catch {
      // The network may be back in the next round.
    }
  }
  return false;
};

if (typeof document === "undefined") {
  globalThis.onmessage = async ({ data }) => postMessage(await solveHere(data as Challenge));
} else {
  const main = document.querySelector<HTMLElement>("main[data-verdictd]");
  if (main) runPage(main, (window as { verdictd?: Verdictd }).verdictd).catch(() => {});
}
