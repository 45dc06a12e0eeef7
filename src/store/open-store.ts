/** Opens the LMDB environment that every thread and the command line share. */
import { Environment } from "./environment.js";
import { StoreError } from "./failures.js";
import { makeFolder } from "./folder.js";
import { LmdbHourlyCounts } from "./hourly-counts.js";
import { LmdbRecordedJudged } from "./judged-rows.js";
import { LmdbRecordedBlocks } from "./lmdb-recorded-blocks.js";
import { LmdbRecordedChanges, LmdbRecordedMarks, LmdbRecordedTimelines } from "./lmdb-recorded-rows.js";
import { LmdbSessionRows } from "./lmdb-session-rows.js";
import type { RecordedRows } from "./recorded-rows.js";
import { refuseOlder, type Schema, upgradeTo } from "./schema-version.js";
import type { Store } from "./store.js";
import { storeFile } from "./store-file.js";
import { openTables, type Tables } from "./tables.js";
import { currentSchema } from "./upgrades.js";

/** Version of the tables and records this build reads and writes. */
export const schemaVersion = currentSchema.version;

/**
 * Opens the store in `dataDir`, and creates it in an empty folder. Upgrades an older store, after copying it to `verdictd.mdb.schema-N`; with
 * `mayUpgrade` false it refuses one instead, because a server of the older version may use it. Throws a `StoreError` for an unusable folder and for
 * a store of a newer version, and whatever an upgrade throws.
 */
export function openStore(dataDir: string, schema: Schema = currentSchema, mayUpgrade = true): Store {
  makeFolder(dataDir);
  const store = openEnvironment(dataDir);
  try {
    if (!mayUpgrade) refuseOlder(store, schema);
    refuseSplit(store);
    upgradeTo(store, schema, storeFile(dataDir));
    return store;
  } catch (error) {
    void store.close();
    throw error;
  }
}

/** Versions before 0.1.0 could split sessions over several files; a merge of them that was cut short is theirs to end. */
function refuseSplit({ meta }: Store): void {
  if (meta.get("sessionStores") === undefined) return;
  throw new StoreError("the store is in several files: open it with the version that began to merge them");
}

/** As `openStore`, for everything but a server: only a server upgrades a store. */
export function openStoreAsIs(dataDir: string): Store {
  return openStore(dataDir, currentSchema, false);
}

/** Opens the file of the store with all tables, and what reads and writes them. */
function openEnvironment(dataDir: string): Store {
  const tables = openTables(new Environment(storeFile(dataDir)));
  return {
    ...tables,
    counts: new LmdbHourlyCounts(tables),
    rows: new LmdbSessionRows(tables),
    recorded: recordedRowsIn(tables),
    close: () => tables.root.close(),
  };
}

function recordedRowsIn(tables: Tables): RecordedRows {
  return {
    blocks: new LmdbRecordedBlocks(tables),
    marks: new LmdbRecordedMarks(tables),
    audit: new LmdbRecordedChanges(tables),
    timelines: new LmdbRecordedTimelines(tables),
    judged: new LmdbRecordedJudged(tables),
  };
}
