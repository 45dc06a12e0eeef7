/** What is stored: the table of the page on what is collected, made of the rows of the store's tables. Pure; every text is escaped. */
import { code, prose, table } from "./html.js";

/** What the page says of a table; the rows of `store/tables.ts` have it. */
export interface DescribedTable {
  readonly name: string;
  readonly holds: string;
  readonly until: string;
  readonly merge: "replaced" | "added" | "appended" | "once";
  readonly ofSession: object | null;
  readonly onCluster: "configuration" | "rows" | { readonly own: string };
}

const merges: Readonly<Record<DescribedTable["merge"], string>> = {
  replaced: "one after the other",
  added: "add up",
  appended: "both are kept",
  once: "the first stands",
};

/** A row for each table, those with rows of sessions first. */
export function storedTable(tables: readonly DescribedTable[]): string {
  const [ofSessions, others] = [true, false].map((isOfSession) =>
    tables.filter(({ ofSession }) => (ofSession !== null) === isOfSession),
  );
  return table(
    ["Table", "A row holds", "Kept until", "Erased with its session", "Two writers", "On a cluster"],
    [...ofSessions!, ...others!].map(({ name, holds, until, merge, ofSession, onCluster }) => [
      code(name),
      prose(holds),
      prose(until),
      ofSession === null ? "" : "yes",
      merges[merge],
      prose(clusterCell(onCluster)),
    ]),
  );
}

function clusterCell(onCluster: DescribedTable["onCluster"]): string {
  if (typeof onCluster === "object") return `not there: ${onCluster.own}`;
  return onCluster === "configuration" ? "there, and mirrored by each node" : "there alone";
}
