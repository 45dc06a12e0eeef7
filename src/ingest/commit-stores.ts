/**
 * Commits a task's batches where sessions are split over several environments: each to the one that its token names, a transaction an
 * environment. A batch whose session is not there goes on to where its first contact belongs. With one environment it is `commitToLmdb`.
 */
import { Refusal } from "../errors.js";
import type { SessionStore } from "../store/session-store.js";
import type { Elsewhere, IngestOutcome } from "./commit-batches.js";
import { type ReadBody, readBody } from "./decode-batch.js";
import type { IngestRequest } from "./frame.js";
import { commitToLmdb, type LmdbCommit } from "./lmdb-commit.js";
import { placeOfBatch, placeOfKey } from "./places.js";
import { UsualBatch } from "./usual-batch.js";

/** How batches are committed to one environment. */
export interface StoreCommit extends LmdbCommit {
  readonly store: SessionStore;
  /** Whether bodies are read before the transaction, for which others wait. Otherwise each is read when it is used, and is in the core's cache. */
  readonly readsAhead?: boolean;
}

/** What tells of first contacts that belong to another environment than this one. */
export function elsewhereOf(store: SessionStore): (idempotencyKey: string | null) => number | null {
  return (idempotencyKey) => {
    const place = placeOfKey(idempotencyKey, store);
    return place === store.place ? null : place;
  };
}

/**
 * Commits the batches and answers each, in order. `parts` are the environments by number. Throws when one can't be written; what
 * others have committed is kept then, and its retry is a repeat.
 */
export function commitToStores(parts: readonly StoreCommit[], requests: readonly IngestRequest[]): IngestOutcome[] {
  const isAlone = parts.length === 1;
  if (isAlone && parts[0]!.readsAhead !== true) return commitToLmdb(parts[0]!, requests) as IngestOutcome[];
  const bodies = requests.map((request) => readBody(request.body));
  if (isAlone) return commitToLmdb(parts[0]!, requests, bodies) as IngestOutcome[];
  const outcomes = new Array<IngestOutcome | Elsewhere>(requests.length);
  const places = placesOf(parts, requests, bodies);
  // A batch is sent on at most once: where it is sent, its first contact belongs.
  for (let round = 0; round < 2; round++) {
    for (const options of parts) commitTo(options, requests, bodies, places, outcomes);
    let isDone = true;
    for (const [index, outcome] of outcomes.entries()) {
      const isElsewhere = "place" in outcome;
      places[index] = isElsewhere ? outcome.place : settled;
      if (isElsewhere) isDone = false;
    }
    if (isDone) break;
  }
  return outcomes as IngestOutcome[];
}

const settled = -1;

/** Commits the batches whose place is that of `options`. */
function commitTo(
  options: StoreCommit,
  requests: readonly IngestRequest[],
  bodies: readonly ReadBody[],
  places: readonly number[],
  outcomes: (IngestOutcome | Elsewhere)[],
): void {
  const own: number[] = [];
  for (const [index, place] of places.entries()) if (place === options.store.place) own.push(index);
  if (own.length === 0) return;
  const committed = commitToLmdb(
    options,
    own.map((index) => requests[index]!),
    own.map((index) => bodies[index]!),
  );
  for (const [each, index] of own.entries()) outcomes[index] = committed[each]!;
}

/** The environment of each batch. Those that may go anywhere go where most of the others do, all of them alone anywhere. */
function placesOf(
  parts: readonly StoreCommit[],
  requests: readonly IngestRequest[],
  bodies: readonly ReadBody[],
): number[] {
  const counts = parts.map(() => 0);
  const named = requests.map((request, index) => {
    const place = placeOfBatch(tokenOf(request, bodies[index]!), request.idempotencyKey, parts[0]!.store);
    if (place !== null) counts[place]!++;
    return place;
  });
  const most = Math.max(...counts);
  const usual = most === 0 ? Math.floor(Math.random() * parts.length) : counts.indexOf(most);
  return named.map((place) => place ?? usual);
}

/** The token a batch was sent with, which may be anything; null for none. */
function tokenOf({ identifies }: IngestRequest, body: ReadBody): string | null {
  if (identifies !== "") return identifies;
  if (body instanceof UsualBatch) return body.batch.session_token;
  const token = body instanceof Refusal ? null : body["session_token"];
  return typeof token === "string" ? token : null;
}
