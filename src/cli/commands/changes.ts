/** `verdictd changes`: the log of configuration changes, of every account and of the server. */
import type { AuditValues } from "../../contract/configuration/audit.js";
import { latestChanges } from "../../control-plane/logs/audit.js";
import { limits } from "../../limits.js";
import type { StoreCommand } from "../command.js";
import { idOf } from "../given.js";
import { columns } from "../output.js";

interface Change {
  readonly at: string;
  readonly account_id: number | null;
  readonly project_id: number | null;
  readonly user: string | null;
  readonly token_id: number | null;
  readonly action: string;
  readonly subject: string;
  readonly before: AuditValues | null;
  readonly after: AuditValues | null;
}

/** Prints changes of the configuration with the values before and after. A user of null is the command line. */
export const changesCommand: StoreCommand<{ readonly data: readonly Change[] }> = {
  name: "changes",
  help: "show changes of the configuration: who, what, before and after; the latest first",
  onCluster: "same",
  worksOnMigrated: true,
  flags: [
    { name: "account", placeholder: "ID", help: "only those of this account" },
    { name: "limit", placeholder: "N", help: "how many (default 50)" },
  ],
  run: async (store, given) => {
    const account = given["account"] === undefined ? null : idOf(given, "account");
    const limit = given["limit"] === undefined ? limits.pageDefault : idOf(given, "limit");
    const data = (await latestChanges(store, account, limit)).map((entry) => ({
      at: entry.at,
      account_id: entry.accountId || null,
      project_id: entry.projectId,
      user: entry.userId === null ? null : (store.users.get(entry.userId)?.name ?? `user ${entry.userId}`),
      token_id: entry.tokenId,
      action: entry.action,
      subject: entry.subject,
      before: entry.before,
      after: entry.after,
    }));
    return { data };
  },
  show: ({ data }) =>
    columns([
      ["AT", "BY", "WHAT", "OF", "BEFORE AND AFTER"],
      ...data.map(({ at, user, action, subject, before, after }) => [
        at,
        user ?? "command line",
        action,
        subject,
        differences(before, after),
      ]),
    ]),
};

function differences(before: AuditValues | null, after: AuditValues | null): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const value = (values: AuditValues | null, name: string): string =>
    values === null ? "" : String(values[name] ?? "");
  return names
    .map((name) => `${name}: ${[value(before, name), value(after, name)].filter(Boolean).join(" -> ")}`)
    .join("; ");
}
