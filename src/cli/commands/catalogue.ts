/** What the commands of the lists of bots share: what a listing and an import print. */
import type { Store } from "../../store/store.js";
import type { StoreCommand } from "../command.js";
import { columns } from "../output.js";

/** A catalogue as `list --json` prints it. */
export interface Listing<Entry> {
  readonly version: string;
  readonly source: "imported" | "shipped";
  readonly count: number;
  readonly entries: readonly Entry[];
}

interface Catalogue<Entry> {
  readonly version: string;
  readonly entries: readonly Entry[];
}

/** What an import prints: entries now, and how many of them are new or gone. An entry that was changed is both. */
export interface ImportCounts {
  readonly version: string;
  readonly count: number;
  readonly added: number;
  readonly removed: number;
}

/** `LIST list`: the catalogue in force as a table whose columns are `heads`. */
export function listCommand<Entry>(
  list: string,
  help: string,
  catalogues: (store: Store) => { read(): Catalogue<Entry>; readonly isImported: boolean },
  heads: readonly string[],
  cellsOf: (entry: Entry) => readonly string[],
): StoreCommand<Listing<Entry>> {
  return {
    name: `${list} list`,
    help: `${help}; with --json, in the form that import accepts`,
    onCluster: "same",
    worksOnMigrated: true,
    run: async (store) => {
      const current = catalogues(store);
      return listingOf(current.read(), current.isImported);
    },
    show: (listing) => listingLines(listing, heads, cellsOf),
  };
}

/** The listing of a catalogue; `isImported` is false for the one that comes with verdictd. */
export function listingOf<Entry>({ version, entries }: Catalogue<Entry>, isImported: boolean): Listing<Entry> {
  return { version, source: isImported ? "imported" : "shipped", count: entries.length, entries };
}

/** The listing as a table of these columns. */
export function listingLines<Entry>(
  { version, source, count, entries }: Listing<Entry>,
  heads: readonly string[],
  cellsOf: (entry: Entry) => readonly string[],
): string {
  return `${columns([heads, ...entries.map(cellsOf)])}\n\n${count} entries, version ${version}, ${source}`;
}

/** Entries are told apart by their cells. */
export function importCounts<Entry>(
  before: Catalogue<Entry>,
  after: Catalogue<Entry>,
  cellsOf: (entry: Entry) => readonly string[],
): ImportCounts {
  const missing = (one: Catalogue<Entry>, other: Catalogue<Entry>): number => {
    const known = new Set(other.entries.map((entry) => JSON.stringify(cellsOf(entry))));
    return one.entries.filter((entry) => !known.has(JSON.stringify(cellsOf(entry)))).length;
  };
  const { version, entries } = after;
  return { version, count: entries.length, added: missing(after, before), removed: missing(before, after) };
}

/** What a reset does, in the help. */
export const resetHelp =
  "remove the imported list: the one that ships with verdictd is used again, and follows its releases";

/** `LIST reset` of a list whose entries are told apart by their cells. */
export function resetCommand<Entry>(
  list: string,
  catalogues: (store: Store) => { reset(): Promise<{ before: Catalogue<Entry>; after: Catalogue<Entry> }> },
  cellsOf: (entry: Entry) => readonly string[],
): StoreCommand<ImportCounts> {
  return {
    name: `${list} reset`,
    help: resetHelp,
    onCluster: "same",
    run: async (store) => {
      const { before, after } = await catalogues(store).reset();
      return importCounts(before, after, cellsOf);
    },
  };
}

/** The one argument of an import. */
export const importedFile: NonNullable<StoreCommand["positionals"]> = [{ name: "FILE", help: "JSON file" }];
