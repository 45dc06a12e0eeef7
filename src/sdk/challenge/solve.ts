/** Solves a challenge: in a worker of its own where the page may start one, else here, in steps that leave the page responsive. */
import { type Challenge, type DeriveKeyFunction, type Solution, solveChallenge } from "altcha-lib";
import { deriveKey as deriveWithWebCrypto } from "altcha-lib/algorithms/web/pbkdf2";
import { pbkdf2 } from "./pbkdf2.js";

/** A tab that slept goes on where it was; the server says whether it took too long. */
const timeoutMs = 600_000;

const deriveHere: DeriveKeyFunction = async ({ cost }, salt, password) => ({
  derivedKey: pbkdf2(password, salt, cost),
});

/** In this thread. Null when it took too long. */
export function solveHere(challenge: Challenge): Promise<Solution | null> {
  const deriveKey = globalThis.crypto?.subtle ? deriveWithWebCrypto : deriveHere;
  return solveChallenge({ challenge, deriveKey, timeout: timeoutMs });
}

/**
 * `script` gives the address of the module that answers a challenge with its solution when it is started as a worker; it may throw, where
 * the page allows none.
 */
export async function solve(challenge: Challenge, script: () => string): Promise<Solution | null> {
  let worker: Worker | undefined;
  try {
    // Refused where the script is of another origin, or the page's policy allows no workers.
    worker = new Worker(script(), { type: "module" });
    return await answerOf(worker, challenge);
  } catch {
    return solveHere(challenge);
  } finally {
    worker?.terminate();
  }
}

function answerOf(worker: Worker, challenge: Challenge): Promise<Solution | null> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data as Solution | null);
    worker.onerror = (event) => {
      event.preventDefault();
      reject(event);
    };
    worker.postMessage(challenge);
  });
}
