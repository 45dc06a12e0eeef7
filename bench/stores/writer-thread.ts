/**
 * A scoring thread of the bench: commits tasks that were made beforehand, one after another, and times what of each is outside of the
 * write transaction, waits for the lock, holds it, and commits. Its store is its own environments of one folder, as in `workers/scoring.ts`.
 */
import { parentPort, workerData } from "node:worker_threads";
import { Credentials } from "../../src/auth/credentials.js";
import { noHeaders } from "../../src/contract/header-facts.js";
import { defaultPlans } from "../../src/contract/plans.js";
import { unidentified } from "../../src/contract/visitor.js";
import { commitToStores, elsewhereOf } from "../../src/ingest/commit-stores.js";
import { FrameWriter, type IngestRequest, readFrame } from "../../src/ingest/frame.js";
import { LmdbPathReuseIndex, PathReuseTables } from "../../src/ingest/lmdb-path-reuse-index.js";
import { LmdbUnitOfWork } from "../../src/ingest/lmdb-unit-of-work.js";
import { placeOfBatch, tokenPlaceOf } from "../../src/ingest/places.js";
import { encodeOutcomes } from "../../src/ingest/task-answer.js";
import { TokenMint } from "../../src/ingest/token-mint.js";
import { GroupWriter } from "../../src/store/group-writer.js";
import { openStore } from "../../src/store/store.js";
import { newWriteCounts, WriteMarker } from "../../src/store/write-watch.js";
import { batchText, idPlaces, jitterPlaces, tokenPlaceholder, UniqueIds } from "../load/batches.js";

export interface WriterData {
  readonly dataDir: string;
  readonly siteKey: string;
  /** Which of the threads this is. */
  readonly number: number;
  readonly tasks: number;
  readonly batchesPerTask: number;
  readonly eventsPerBatch: number;
}

/** Milliseconds of one task. */
export interface TaskTimes {
  readonly outside: number;
  readonly waiting: number;
  readonly holding: number;
  readonly committing: number;
}

export type WriterReport = "ready" | { readonly times: readonly TaskTimes[]; readonly errors: number };

const data = workerData as WriterData;
const store = openStore(data.dataDir);
const places = store.sessionStores.length;
const counts = newWriteCounts(places);

/** When the transaction under way was asked for, had the lock, and had done its work. */
const moments = { asked: 0, began: 0, worked: 0, over: 0 };

class TimedMarker extends WriteMarker {
  override asking<T>(transaction: () => T): T {
    moments.asked = performance.now();
    const result = super.asking(transaction);
    moments.over = performance.now();
    return result;
  }

  override holding<T>(work: () => T): T {
    moments.began = performance.now();
    const result = super.holding(work);
    moments.worked = performance.now();
    return result;
  }
}

const tables = new PathReuseTables();
const credentials = new Credentials(store);
const parts = store.sessionStores.map((part) => ({
  store: part,
  writer: new GroupWriter(part, "process", new TimedMarker(counts, part.place)),
  unit: new LmdbUnitOfWork(part, new LmdbPathReuseIndex(part, tables)),
  context: {
    credentials,
    plans: defaultPlans,
    ipStorage: "full" as const,
    mint: new TokenMint(tokenPlaceOf(part)),
    sessionsMax: 1e9,
    elsewhere: elsewhereOf(part),
  },
  onFired: () => {},
}));

const ids = new UniqueIds();
const facts = {
  ...noHeaders,
  userAgent: "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  acceptLanguage: "en-GB,en;q=0.9",
  accept: "*/*",
  contentType: "application/json",
};

/** A batch with ids and a path of its own. */
function requestOf(seed: number, token: string | null, idempotencyKey: string): IngestRequest {
  const body = Buffer.from(batchText(data.eventsPerBatch, seed, token === null));
  for (const at of idPlaces(body)) ids.write(body, at);
  for (const at of jitterPlaces(body)) body[at] = 48 + Math.floor(Math.random() * 10);
  if (token !== null) body.write(token, body.indexOf(tokenPlaceholder));
  return {
    siteKey: data.siteKey,
    idempotencyKey,
    identity: unidentified,
    identifies: "",
    score: true,
    facts: { ...facts, nowMs: Date.now(), ip: `10.${data.number}.${seed & 255}.${Math.floor(Math.random() * 256)}` },
    body,
  };
}

/** A first contact's key that leads to this place. */
function keyFor(place: number): string {
  for (;;) {
    const key = ids.next();
    if (placeOfBatch(null, key, store) === (places === 1 ? null : place)) return key;
  }
}

/** Sessions that the timed batches go on with, by place. */
const sessions = store.sessionStores.map(({ place }) => {
  const first = Array.from({ length: 2 * data.batchesPerTask }, (_, index) => requestOf(index, null, keyFor(place)));
  return commitToStores(parts, first).flatMap((outcome) => ("session_token" in outcome ? outcome.session_token : []));
});

/** Tasks of one environment each, as the queue makes them; of five batches one is a first contact. */
const frames = Array.from({ length: data.tasks }, (_, task) => {
  const place = (task + data.number) % places;
  const frame = new FrameWriter();
  for (let index = 0; index < data.batchesPerTask; index++) {
    const seed = task * data.batchesPerTask + index;
    const own = sessions[place]!;
    const isFirst = index % 5 === 0;
    frame.add(requestOf(seed, isFirst ? null : own[seed % own.length]!, isFirst ? keyFor(place) : ids.next()));
  }
  return frame.take();
});

function run(): WriterReport {
  let errors = 0;
  const times = frames.map((frame): TaskTimes => {
    const from = performance.now();
    const outcomes = commitToStores(parts, readFrame(frame));
    encodeOutcomes(frame, outcomes);
    const whole = performance.now() - from;
    for (const outcome of outcomes) if (!("accepted" in outcome) || outcome.accepted !== data.eventsPerBatch) errors++;
    return {
      outside: whole - (moments.over - moments.asked),
      waiting: moments.began - moments.asked,
      holding: moments.worked - moments.began,
      committing: moments.over - moments.worked,
    };
  });
  return { times, errors };
}

parentPort!.once("message", () => {
  parentPort!.postMessage(run());
  void store.close();
});
parentPort!.postMessage("ready" satisfies WriterReport);
