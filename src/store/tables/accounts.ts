/** Accounts and what they have: users, tokens, projects and their keys, with the rows by which each is found. */
import type {
  Account,
  AccountToken,
  KeyOwner,
  Membership,
  Project,
  User,
} from "../../contract/configuration/entities.js";
import { type AccountIndex, accountRowKey, followAccountRow } from "../account-rows.js";
import type { IntegrityWalk } from "../integrity-checks.js";
import { leadsTo, record, records, type StoredTable } from "../table.js";

/** Accounts, users, tokens, projects, keys. */
export const accountTables = {
  accounts: {
    name: "accounts",
    key: "account id",
    value: "Account",
    form: records<Account, number>(),
    holds: "name, plan and settings of an account",
    until: "the account is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    check: record("account", accountFault),
  },
  slugs: {
    name: "slugs",
    key: "slug",
    value: "account id",
    form: records<number, string>(),
    holds: "which account has a slug",
    until: "the account is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    check: (walk, id: number, slug: string) =>
      walk.field("accounts", id, "slug") === slug ? null : leadsTo("accounts", id),
  },
  users: {
    name: "users",
    key: "user id",
    value: "User",
    form: records<User, number>(),
    holds: "name and e-mail address of somebody who may use the console or the API",
    until: "the user is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    check: record("user", userFault),
  },
  emails: {
    name: "emails",
    key: "e-mail, lower case",
    value: "user id",
    form: records<number, string>(),
    holds: "which user has an e-mail address",
    until: "the user is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    check: (walk, id: number, email: string) =>
      String(walk.field("users", id, "email")).toLowerCase() === email ? null : leadsTo("users", id),
  },
  memberships: {
    name: "memberships",
    key: "[account id, user id]",
    value: "Membership",
    form: records<Membership, [number, number]>(),
    holds: "the role of a user in an account",
    until: "the member is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    check: record("membership", (walk, row: { accountId: number; userId: number }, key: [number, number]) => {
      if (row.accountId !== key[0] || row.userId !== key[1]) return `holds [${row.accountId},${row.userId}]`;
      return walk.missing("accounts", row.accountId) ?? walk.missing("users", row.userId);
    }),
  },
  tokens: {
    name: "tokens",
    key: "token id",
    value: "AccountToken",
    form: records<AccountToken, number>(),
    holds: "name, abilities and hash of an account token",
    until: "the token is revoked, or the account removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    follow: (store: AccountIndex, before: AccountToken | undefined, after: AccountToken | undefined) =>
      followAccountRow(store, "token", before, after),
    check: record("token", tokenFault),
  },
  tokenHashes: {
    name: "token_hashes",
    key: "SHA-256, hex",
    value: "token id",
    form: records<number, string>(),
    holds: "which account token has a hash",
    until: "the token is revoked",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    check: (walk, id: number, hash: string) =>
      walk.field("tokens", id, "hash") === hash ? null : leadsTo("tokens", id),
  },
  tokenUses: {
    name: "token_uses",
    key: "token id",
    value: "when it was last good for a request, ms",
    form: records<number, number>(),
    holds: "when an account token was last used",
    until: "the token is revoked",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    check: (walk, atMs: number, id: number) =>
      Number.isSafeInteger(atMs) && atMs > 0 ? walk.missing("tokens", id) : "is no time",
  },
  projects: {
    name: "projects",
    key: "project id",
    value: "Project",
    form: records<Project, number>(),
    holds: "name and settings of a project, its site key, hashes of its private keys",
    until: "the project is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    follow: (store: AccountIndex, before: Project | undefined, after: Project | undefined) =>
      followAccountRow(store, "project", before, after),
    check: record("project", projectFault),
  },
  accountRows: {
    name: "account_rows",
    key: "[account id, 1 token or 2 project, id]",
    value: "of a token its user's id (`account-rows.ts`)",
    form: records<number, [number, number, number]>(),
    holds: "which tokens and projects an account has",
    until: "the token or project is removed",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: { own: "each node indexes what it mirrors" },
    check: (walk, _: number, [accountId, kind, id]: [number, number, number]) => {
      const table = kind === 1 ? "tokens" : "projects";
      return walk.field(table, id, "accountId") === accountId ? null : leadsTo(table, id);
    },
  },
  keys: {
    name: "keys",
    key: "SHA-256, hex",
    value: "KeyOwner",
    form: records<KeyOwner, string>(),
    holds: "which project has a site or private key",
    until: "the key is rotated and its time of grace over",
    merge: "replaced",
    expiry: "kept",
    ofSession: null,
    onCluster: "configuration",
    check: record("keyOwner", keyFault),
  },
} as const satisfies Record<string, StoredTable<never>>;

function accountFault(walk: IntegrityWalk, { id, slug }: { id: number; slug: string }, key: number): string | null {
  if (id !== key) return `holds account ${id}`;
  return walk.get("slugs", slug) === id ? null : `slug "${slug}" does not lead back`;
}

function userFault(walk: IntegrityWalk, { id, email }: { id: number; email: string }, key: number): string | null {
  if (id !== key) return `holds user ${id}`;
  // Users of several accounts may have the same one; it leads to the first.
  const first = walk.get("emails", email.toLowerCase()) as number | undefined;
  const isFound =
    first === id ||
    (first !== undefined && String(walk.field("users", first, "email")).toLowerCase() === email.toLowerCase());
  return isFound ? null : "its e-mail does not lead back";
}

const notIndexed = "is not among those of its account";

function tokenFault(
  walk: IntegrityWalk,
  row: { id: number; accountId: number; userId: number; hash: string },
  key: number,
): string | null {
  if (row.id !== key) return `holds token ${row.id}`;
  if (walk.get("tokenHashes", row.hash) !== row.id) return "its hash does not lead back";
  if (walk.get("accountRows", accountRowKey("token", row.accountId, key)) !== row.userId) return notIndexed;
  return walk.missing("accounts", row.accountId) ?? walk.missing("users", row.userId);
}

interface ProjectRow {
  id: number;
  accountId: number;
  siteKey: string | null;
  privateKeyHash: string | null;
  oldKeys?: readonly { hash: string }[];
}

function projectFault(walk: IntegrityWalk, row: ProjectRow, key: number): string | null {
  if (row.id !== key) return `holds project ${row.id}`;
  if ((row.siteKey === null) !== (row.privateKeyHash === null)) return "has one key of the two";
  for (const hash of [siteKeyHash(walk, row), row.privateKeyHash, ...oldHashes(row)]) {
    if (hash !== null && walk.field("keys", hash, "projectId") !== key) return "a key of it does not lead back";
  }
  if (walk.get("accountRows", accountRowKey("project", row.accountId, key)) === undefined) return notIndexed;
  return walk.missing("accounts", row.accountId);
}

function keyFault(walk: IntegrityWalk, row: { projectId: number; kind: string }, hash: string): string | null {
  const project = walk.get("projects", row.projectId) as ProjectRow | undefined;
  if (project === undefined) return walk.missing("projects", row.projectId);
  const current = row.kind === "site" ? siteKeyHash(walk, project) : project.privateKeyHash;
  return current === hash || oldHashes(project).includes(hash)
    ? null
    : `is not the ${row.kind} key of project ${row.projectId}`;
}

const oldHashes = ({ oldKeys = [] }: ProjectRow): string[] => oldKeys.map(({ hash }) => hash);

function siteKeyHash(walk: IntegrityWalk, project: ProjectRow): string | null {
  return project.siteKey === null ? null : walk.checks.hashSecret(project.siteKey);
}
