/** Solves a challenge: in a worker of its own where the page may start one, else here, in steps that leave the page responsive. */
import { type Challenge, type DeriveKeyFunction, type Solution, solveChallenge } from "altcha-lib";
import { deriveKey as deriveWithWebCrypto } from "altcha-lib/algorithms/web/pbkdf2";
import { pbkdf2 } from "./pbkdf2.js";

/** A tab that slept goes on where it was; the server says whether it took too long. */
const timeoutMs = 600_000;
const workerStartMs = 8000;

const deriveHere: DeriveKeyFunction = async ({ cost }, salt, password) => ({
  derivedKey: pbkdf2(password, salt, cost),
});

/** In this thread: the solutions in the order of the puzzles; null for one that took too long. */
export async function solveHere(puzzles: Challenge[]): Promise<(Solution | null)[]> {
  const deriveKey = globalThis.crypto?.subtle ? deriveWithWebCrypto : deriveHere;
  const solutions = [];
  for (const challenge of puzzles) solutions.push(await solveChallenge({ challenge, deriveKey, timeout: timeoutMs }));
  return solutions;
}

/**
 * `script` gives the address of the module that answers puzzles with their solutions when it is started as a worker; it may throw, where
 * the page allows none.
 */
export async function solve(puzzles: Challenge[], script: () => string): Promise<(Solution | null)[]> {
  let worker: Worker | undefined;
  try {
    // Refused where the script is of another origin, or the page's policy allows no workers.
    worker = new Worker(script(), { type: "module" });
    return await answerOf(worker, puzzles);
  } catch {
    return solveHere(puzzles);
  } finally {
    worker?.terminate();
  }
}

function answerOf(worker: Worker, puzzles: Challenge[]): Promise<(Solution | null)[]> {
  return new Promise((resolve, reject) => {
    // A worker whose script never comes says nothing: it is given up unless it has said that it runs.
    const timer = setTimeout(reject, workerStartMs);
    worker.onmessage = ({ data }) => {
      clearTimeout(timer);
      if (data) resolve(data as (Solution | null)[]);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      reject(event);
    };
    worker.postMessage(puzzles);
  });
}
