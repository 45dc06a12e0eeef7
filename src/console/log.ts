/** A log of the API as pages read it: the latest page afresh from time to time, older ones on demand. */
import { useState } from "preact/hooks";
import { type Resource, useResource, useTask } from "./resource.js";

/** One page of any log of the API; `next_cursor` is null on the last one. */
interface LogPageAnswer<Row> {
  readonly data: readonly Row[];
  readonly meta: { readonly next_cursor: string | null };
}

/** The state of a log on a page. A failure to read older rows is in `fault`, one to load the latest in `latest.fault`. */
export interface Log<Row> {
  readonly latest: Resource<LogPageAnswer<Row>>;
  /** Everything read so far, the latest first. */
  readonly rows: readonly Row[];
  /** Whether there is more to read. */
  readonly hasOlder: boolean;
  readonly isReading: boolean;
  readonly fault: string | null;
  /** Reads on, `pages` at once. */
  readOlder(pages: number): Promise<void>;
}

/** `keyOf` tells rows apart: one that the fresh page and an older one both hold is shown once. */
export function useLog<Row>(
  read: (cursor: string | null) => Promise<LogPageAnswer<Row>>,
  keyOf: (row: Row) => string | number,
  dependencies: readonly unknown[],
  everyMs?: number,
): Log<Row> {
  const latest = useResource(() => read(null), dependencies, everyMs);
  const [older, setOlder] = useState<LogPageAnswer<Row> | null>(null);
  const task = useTask();
  // Once older rows are held, what has left the fresh page since must stay: the page as it was then is kept with them.
  const seen = new Set<string | number>();
  const rows: Row[] = [];
  for (const row of [...(latest.value?.data ?? []), ...(older?.data ?? [])]) {
    const key = keyOf(row);
    if (!seen.has(key)) rows.push(row);
    seen.add(key);
  }
  const cursor = older === null ? (latest.value?.meta.next_cursor ?? null) : older.meta.next_cursor;
  const readOlder = (pages: number) =>
    task.run(async () => {
      let held: LogPageAnswer<Row> = { data: older?.data ?? latest.value?.data ?? [], meta: { next_cursor: cursor } };
      for (let page = 0; page < pages && held.meta.next_cursor !== null; page++) {
        const next = await read(held.meta.next_cursor);
        held = { data: [...held.data, ...next.data], meta: next.meta };
      }
      setOlder(held);
    });
  return { latest, rows, hasOlder: cursor !== null, isReading: task.isRunning, fault: task.fault, readOlder };
}
