/**
 * `/sdk-probes.js`: the SDK's second file, a module with two uses. The first file imports it once its first report was answered, and calls
 * `probe`; and it starts itself as a worker, to be asked what a worker sees. Loads nothing else, sends nothing: what it finds is recorded.
 */
import type { PageHooks } from "../page-hooks.js";
import type { Recorder, Told } from "../recorder.js";
import { checkAttributes } from "./attributes.js";
import { collectLateEnvironment } from "./environment.js";
import { delta, packPoints, shorter } from "./packed-points.js";
import { keepTicket, startTicket } from "./start-ticket.js";
import { collectTiming } from "./timing.js";
import { compareWorker, factsHere } from "./worker.js";

/** How long the browser is watched at drawing. */
const timingMs = 450;

/**
 * Records what could wait; over once it is recorded. Called by position, because the first file shortens its names; that file may be older than
 * this one, from a cache, so that parameters are only ever appended.
 */
export function probe(
  record: Recorder["record"],
  listen: PageHooks["listen"],
  later: PageHooks["later"],
  workerUrl: string | null,
  scriptUrl: (url: string) => string,
  siteKey: string,
  base: string,
  token: string | null,
  onDrain?: Recorder["onDrain"],
  told?: Told,
): Promise<unknown> {
  if (told) told.pack = (payload) => packPoints(payload, told);
  try {
    checkAttributes(siteKey);
  } catch {
    // A page that broke the DOM hears nothing.
  }
  collectTiming(timingMs)
    .then((timing) => later(() => record("timing", timing), 0))
    .catch(() => {});
  if (onDrain) {
    (import(besideThis) as Promise<AgentsFile>)
      .then(({ watch, marks, joinEvents }) => {
        later(() => watch(record, listen, later, onDrain, marks), 0);
        // An older file has none.
        told!.join = (events) => joinEvents?.(events, told!, shorter, delta);
      })
      .catch(() => {});
  }
  return collectLateEnvironment({
    worker_mismatch: () =>
      workerUrl === null ? undefined : compareWorker(() => new Worker(scriptUrl(workerUrl), { type: "module" })),
    start_ticket: () => startTicket(siteKey, base, token),
  })
    .then(
      (payload) =>
        new Promise<void>((recorded) => {
          // Not once the SDK was stopped.
          later(() => {
            record("env", payload);
            if (payload.start_ticket) keepTicket(token);
            recorded();
          }, 0);
        }),
    )
    .catch(() => {});
}

type AgentsFile = typeof import("../agents/main.js") & {
  marks: Parameters<typeof import("../agents/main.js").watch>[4];
};

/** From the folder that this file came from, whoever serves it. */
const besideThis: string = "./sdk-agents.js";

if (typeof document === "undefined") postMessage(factsHere());
