/**
 * `/sdk-probes.js`: the SDK's second file, a module with two uses. The first file imports it once its first report was answered, and calls
 * `probe`; and it starts itself as a worker, to be asked what a worker sees. Loads nothing else, sends nothing: what it finds is recorded.
 */
import type { PageHooks } from "../page-hooks.js";
import type { Recorder } from "../recorder.js";
import { collectLateEnvironment } from "./environment.js";
import { workerFacts } from "./worker.js";

/**
 * Records what could wait. Called by position, because the first file shortens its names; that file may be older than this one, from a
 * cache, so that parameters are only ever appended.
 */
export function probe(
  record: Recorder["record"],
  _listen: PageHooks["listen"],
  _later: PageHooks["later"],
  workerUrl: string | null,
  scriptUrl: (url: string) => string,
): void {
  collectLateEnvironment(workerUrl === null ? null : () => new Worker(scriptUrl(workerUrl), { type: "module" }))
    .then((payload) => record("env", payload))
    .catch(() => {});
}

if (typeof document === "undefined") postMessage(workerFacts());
