/** What is done to a store by the suite that both stores have to pass: random operations of several tenants. Pure. */
import fc from "fast-check";
import type { ClusterTable } from "../../src/store/tables.js";

/** Tenants of a run. Their batches come mixed, in the same groups. */
export const tenantCount = 3;
/** Marks that a tenant may have, and sessions with a timeline: so few that runs reach them. */
export const marksMax = 3;
export const timelinesMax = 4;

/** A batch. Sessions are named by number: of those that the run has made so far, counted around. */
export interface PlannedBatch {
  readonly tenant: number;
  /** Whose token it sends; null: none. It may be another tenant's. */
  readonly session: number | null;
  /** The number of its `Idempotency-Key`; null: none. */
  readonly key: number | null;
  /** Batches of one number have the same request ids. */
  readonly ids: number;
  readonly events: number;
  /** How long ago it came. */
  readonly minutesAgo: number;
}

/** A row of what was judged; "": it is removed. */
interface PlannedRow {
  readonly hoursAgo: number;
  readonly writer: number;
  readonly row: string;
}

/** One step of a run. */
export type Operation =
  /** Two scoring threads commit a group each, at once where the store can. */
  | { readonly do: "commit"; readonly batches: readonly PlannedBatch[]; readonly beside: readonly PlannedBatch[] }
  | { readonly do: "change"; readonly session: number; readonly nonce: number }
  | { readonly do: "mark"; readonly session: number; readonly isOwn: boolean }
  | { readonly do: "unmark"; readonly session: number }
  | { readonly do: "timeline"; readonly sessions: readonly number[] }
  | { readonly do: "block"; readonly session: number; readonly blocks: number }
  | { readonly do: "count"; readonly tenant: number; readonly hoursAgo: number; readonly verdicts: number }
  /** Writers replace their rows of what was judged in an hour, or remove them. */
  | { readonly do: "judge"; readonly tenant: number; readonly rows: readonly PlannedRow[] }
  | { readonly do: "erase"; readonly session: number; readonly isOwn: boolean }
  /** Removes sessions that were last seen more than so long ago. */
  | { readonly do: "sweep"; readonly minutes: number }
  | { readonly do: "restart" };

const session = fc.nat({ max: 30 });
const tenant = fc.nat({ max: tenantCount - 1 });

const plannedBatch: fc.Arbitrary<PlannedBatch> = fc.record({
  tenant,
  // Few sessions get most batches, so that each meets its own again, also in the same group.
  session: fc.oneof(
    { weight: 2, arbitrary: fc.constant(null) },
    { weight: 3, arbitrary: fc.nat({ max: 3 }) },
    { weight: 1, arbitrary: session },
  ),
  key: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat({ max: 3 }) }),
  ids: fc.nat({ max: 12 }),
  // Many request ids no longer fit the record of their session.
  events: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 3 }) }, { weight: 1, arbitrary: fc.constant(90) }),
  minutesAgo: fc.constantFrom(0, 0, 0, 30, 90),
});

const plannedRow: fc.Arbitrary<PlannedRow> = fc.record({
  hoursAgo: fc.nat({ max: 1 }),
  writer: fc.nat({ max: 1 }),
  row: fc.constantFrom("", "one", "another"),
});

const group = fc.array(plannedBatch, { minLength: 1, maxLength: 12 });
const isOwn = fc.boolean();

const commit: fc.Arbitrary<Operation> = fc.record({
  do: fc.constant("commit" as const),
  batches: group,
  beside: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: group }),
});

const others: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ do: fc.constant("change" as const), session, nonce: fc.nat({ max: 4 }) }),
  fc.record({ do: fc.constant("mark" as const), session, isOwn }),
  fc.record({ do: fc.constant("unmark" as const), session }),
  fc.record({ do: fc.constant("timeline" as const), sessions: fc.array(session, { minLength: 1, maxLength: 6 }) }),
  fc.record({ do: fc.constant("block" as const), session, blocks: fc.integer({ min: 1, max: 4 }) }),
  fc.record({
    do: fc.constant("count" as const),
    tenant,
    hoursAgo: fc.nat({ max: 2 }),
    verdicts: fc.integer({ min: 1, max: 9 }),
  }),
  fc.record({ do: fc.constant("judge" as const), tenant, rows: fc.array(plannedRow, { minLength: 1, maxLength: 4 }) }),
  fc.record({ do: fc.constant("erase" as const), session, isOwn }),
  fc.record({ do: fc.constant("sweep" as const), minutes: fc.constantFrom(20, 60) }),
  fc.constant({ do: "restart" as const }),
);

/** A run. */
export const operations: fc.Arbitrary<readonly Operation[]> = fc.array(
  fc.oneof({ weight: 1, arbitrary: commit }, { weight: 1, arbitrary: others }),
  { minLength: 4, maxLength: 24, size: "max" },
);

const contact: PlannedBatch = { tenant: 0, session: null, key: 1, ids: 0, events: 90, minutesAgo: 0 };

/** A run after which every table has rows that its operations wrote. */
export const everyOperation: readonly Operation[] = [
  { do: "commit", batches: [contact], beside: [] },
  { do: "commit", batches: [{ ...contact, session: 0, ids: 1 }], beside: [] },
  { do: "change", session: 0, nonce: 0 },
  { do: "mark", session: 0, isOwn: true },
  { do: "timeline", sessions: [0] },
  { do: "block", session: 0, blocks: 1 },
  { do: "count", tenant: 0, hoursAgo: 0, verdicts: 1 },
  {
    do: "judge",
    tenant: 0,
    rows: ["one", "another"].flatMap((row) => [0, 1].map((writer) => ({ hoursAgo: 0, writer, row }))),
  },
  { do: "judge", tenant: 0, rows: [{ hoursAgo: 0, writer: 1, row: "" }] },
];

/** Sessions that are swept leave their places among the latest with a timeline to others: a fault of the cluster's that random runs seldom met. */
export const sweptTimelines: readonly Operation[] = [
  { do: "commit", batches: [{ ...contact, minutesAgo: 90 }], beside: [] },
  { do: "commit", batches: [{ ...contact, session: 0, ids: 1 }], beside: [] },
  ...[2, 3, 0].map((key): Operation => ({ do: "commit", batches: [{ ...contact, key, minutesAgo: 80 }], beside: [] })),
  { do: "timeline", sessions: [0, 1, 2, 3] },
  { do: "sweep", minutes: 60 },
  ...[2, 3].map((key): Operation => ({ do: "commit", batches: [{ ...contact, key }], beside: [] })),
  { do: "timeline", sessions: [4, 5] },
];

/** Tables of which both stores are held to one behaviour elsewhere, and where. */
export const elsewhere: Readonly<Partial<Record<ClusterTable, string>>> = {
  pathReuse:
    "a cluster's threads hear of each other's paths later: `ingest/lmdb-path-reuse-index`, `cluster-store/ingest/cluster-commit`",
};
