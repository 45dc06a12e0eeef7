/**
 * Which tokens and projects an account has, so that nobody walks those of all accounts. The index follows the tables `tokens` and `projects`: whoever writes
 * into these writes here, in the same transaction. On a cluster each node keeps its own, of the rows that it mirrors.
 */
import type { Database } from "lmdb";
import type { AccountToken, Project } from "../contract/configuration/entities.js";

/** What an account has, by its number in keys. */
const kinds = { token: 1, project: 2 } as const;
type Kind = keyof typeof kinds;

/** The index. */
export interface AccountIndex {
  readonly accountRows: Database<number, [number, number, number]>;
}

interface Tables extends AccountIndex {
  readonly tokens: Database<AccountToken, number>;
  readonly projects: Database<Project, number>;
}

/** Rows of an index that are read at once: some 100 us. */
const rowsAtOnce = 100;

/** Puts a token. Call inside a write transaction. */
export function putToken(store: Tables, token: AccountToken): void {
  store.tokens.putSync(token.id, token);
  store.accountRows.putSync([token.accountId, kinds.token, token.id], token.userId);
}

/** Removes a token. Call inside a write transaction. */
export function removeToken(store: Tables, { id, accountId }: AccountToken): void {
  store.tokens.removeSync(id);
  store.accountRows.removeSync([accountId, kinds.token, id]);
}

/** Puts a project. Call inside a write transaction. */
export function putProject(store: Tables, project: Project): void {
  store.projects.putSync(project.id, project);
  store.accountRows.putSync([project.accountId, kinds.project, project.id], 0);
}

/** An id of what an account has, and of a token the id of its user. */
export interface AccountRow {
  readonly id: number;
  readonly userId: number;
}

/** Ids of the account's tokens or projects, the lowest first, in portions; each is read when it is asked for. */
export function* accountRows({ accountRows: table }: Tables, kind: Kind, accountId: number): Generator<AccountRow> {
  for (let last = 0; ; ) {
    const start: [number, number, number] = [accountId, kinds[kind], last + 1];
    const end: [number, number, number] = [accountId, kinds[kind] + 1, 0];
    const rows = [...table.getRange({ start, end, limit: rowsAtOnce })];
    for (const { key, value } of rows) yield { id: key[2], userId: value };
    if (rows.length < rowsAtOnce) return;
    last = rows.at(-1)!.key[2];
  }
}

/** How many tokens or projects the account has. */
export function countOfAccount({ accountRows: table }: Tables, kind: Kind, accountId: number): number {
  return table.getKeysCount({ start: [accountId, kinds[kind], 0], end: [accountId, kinds[kind] + 1, 0] });
}

/** Whether the index has this row, for the integrity check of the row that it leads to. */
export function accountRowKey(kind: Kind, accountId: number, id: number): [number, number, number] {
  return [accountId, kinds[kind], id];
}

/** Whose rows are indexed: `tokens` and `projects`, by the names that they have in LMDB. */
type Indexed = { readonly id: number; readonly accountId: number; readonly userId?: number };

/** Indexes what was written into `tokens` or `projects` without these functions: `before` was there, `after` is. Call inside a write transaction. */
export function followAccountRow(
  { accountRows: table }: AccountIndex,
  kind: Kind,
  before: Indexed | undefined,
  after: Indexed | undefined,
): void {
  if (before !== undefined) table.removeSync(accountRowKey(kind, before.accountId, before.id));
  if (after !== undefined) table.putSync(accountRowKey(kind, after.accountId, after.id), after.userId ?? 0);
}

/** Indexes all tokens and projects. Call inside a write transaction. */
export function indexAccountRows(store: Tables): void {
  for (const { value } of store.tokens.getRange({})) followAccountRow(store, "token", undefined, value);
  for (const { value } of store.projects.getRange({})) followAccountRow(store, "project", undefined, value);
}
