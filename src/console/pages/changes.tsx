/** What was changed in the configuration, by whom, from what to what. */
import { useState } from "preact/hooks";
import type { AuditAction, AuditRow, AuditValue } from "../../contract/configuration/audit.js";
import type { ChallengeSettingsBody, RuleChangeBody, SettingsBody } from "../../contract/configuration/control.js";
import { useAccess } from "../access.js";
import type { Api } from "../api.js";
import { useLog } from "../log.js";
import { Confirmation, FreshnessLine, LogTable, PageTitle, RowButton, Time } from "../parts.js";
import { plural } from "../words.js";

const words: Readonly<Record<AuditAction, string>> = {
  "account.created": "Account created",
  "account.changed": "Account changed",
  "user.created": "User created",
  "member.set": "Member added or changed",
  "member.removed": "Member removed",
  "token.created": "Token created",
  "token.revoked": "Token revoked",
  "project.created": "Project created",
  "scoring.enabled": "Scoring enabled",
  "key.rotated": "Key rotated",
  "key.ended": "Rotated key ended",
  "settings.changed": "Settings changed",
  "request_scoring.changed": "Request scoring changed",
  "challenge.changed": "Challenge changed",
  "rule.created": "Rule created",
  "rule.changed": "Rule changed",
  "rule.removed": "Rule deleted",
  "incident.muted": "Incident muted",
  "alert.created": "Alert created",
  "alert.changed": "Alert changed",
  "alert.removed": "Alert deleted",
  "channel.created": "Channel created",
  "channel.removed": "Channel deleted",
  "exception.created": "Exception created",
  "exception.removed": "Exception ended",
  "sessions.deleted": "Sessions deleted",
  "ip_list.imported": "IP list imported",
  "ip_list.removed": "IP list removed",
  "verified_bots.imported": "Verified bots imported",
  "declared_bots.imported": "Declared bots imported",
  "agent_marks.imported": "Agent marks imported",
  "signed_agents.imported": "Signed agents imported",
  "signed_agent.added": "Signed agent added",
  "signed_agent.removed": "Signed agent removed",
  "signed_agent.keys_imported": "Keys of an agent imported",
};

/** A table of the changes of the account and of the server: when, who, what, before and after; older rows on demand. */
export function ChangesPage({ api }: { readonly api: Api }) {
  const log = useLog((cursor) => api.changes(cursor), rowKey, [api]);
  const [reverting, setReverting] = useState<AuditRow | null>(null);
  const [said, setSaid] = useState("");
  const { mayWrite } = useAccess();
  const revertOf = (row: AuditRow) =>
    reversalOf(row) === null ? null : (
      <RowButton label={`Revert: ${words[row.action]}, ${row.subject}`} onPress={() => setReverting(row)}>
        Revert
      </RowButton>
    );
  const revert = async (row: AuditRow) => {
    await reversalOf(row)?.(api);
    await log.latest.reload();
    setSaid(`Reverted: ${row.subject} is as it was before.`);
  };
  return (
    <>
      <PageTitle title="Changes">
        <FreshnessLine of={log.latest} />
      </PageTitle>
      <p class="dim">
        Every change of the configuration, including those from the command line. The list contains no secrets.
      </p>
      <p class="said" role="status">
        {said}
      </p>
      {reverting !== null && (
        <Confirmation
          title="Revert this change?"
          yes="Revert"
          act={() => revert(reverting)}
          onClose={() => setReverting(null)}
        >
          <p>
            <b class="wrap">{reverting.subject}</b> goes back to what it was before this change, at once. Later changes
            to the same values are lost. You can revert this, too.
          </p>
          <Differences of={{ ...reverting, before: reverting.after, after: reverting.before }} />
        </Confirmation>
      )}
      <LogTable
        log={log}
        caption="Changes of the configuration, the latest first"
        columns={mayWrite ? [...columns, { name: "Revert", isAction: true, cell: revertOf }] : columns}
        rows={log.rows}
        rowKey={rowKey}
        empty="Nothing has been changed yet."
        said={`${plural(log.rows.length, "change")} read`}
      />
    </>
  );
}

/** What takes a change back; null for one that can't be taken back here. */
function reversalOf(row: AuditRow): ((api: Api) => Promise<unknown>) | null {
  const { action, subject, project_id, before } = row;
  if (project_id === null || before === null || changedNames(row).length === 0) return null;
  if (action === "rule.changed") {
    const rule = Number(/^rule (\d+)/.exec(subject)?.[1]);
    return Number.isNaN(rule) ? null : (api) => api.changeRule(project_id, rule, before as RuleChangeBody);
  }
  if (action === "settings.changed") return (api) => api.changeSettings(project_id, before as SettingsBody);
  if (action === "challenge.changed") return (api) => api.changeChallenge(project_id, before as ChallengeSettingsBody);
  return null;
}

const rowKey = ({ scope, id }: AuditRow): string => `${scope === "server" ? "s" : "a"}${id}`;

const columns = [
  { name: "When", cell: (row: AuditRow) => <Time at={row.at} /> },
  { name: "Who", cell: (row: AuditRow) => whoOf(row) },
  {
    name: "What",
    cell: ({ action, count }: AuditRow) => (count === 1 ? words[action] : `${words[action]} (${count} times)`),
  },
  {
    name: "Of",
    cell: ({ subject, project_id }: AuditRow) => (
      <span class="wrap">
        {project_id === null || subject.startsWith("project") ? subject : `${subject} in project ${project_id}`}
      </span>
    ),
  },
  { name: "Before and after", cell: (row: AuditRow) => <Differences of={row} /> },
];

function whoOf({ user, token_id }: AuditRow): string {
  if (user === null) return "Command line";
  return `${user.name ?? `user ${user.id}`}${token_id === null ? "" : `, token ${token_id}`}`;
}

/** Names of the values that differ: several changes within a minute are one row, and the last one may have taken the first one back. */
function changedNames({ before, after }: AuditRow): string[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names.filter((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]));
}

function Differences({ of }: { readonly of: AuditRow }) {
  const { before, after, count } = of;
  const names = changedNames(of);
  if (names.length === 0) return <span class="dim">{count > 1 ? "as before" : "nothing to compare"}</span>;
  return (
    <ul class="plain">
      {names.map((name) => (
        <li key={name}>
          <span class="dim">{name.replaceAll("_", " ")}:</span> <Value of={before?.[name]} />
          {before?.[name] !== undefined && after !== null && " → "}
          {before?.[name] !== undefined && after !== null && after[name] === undefined ? "none" : null}
          <Value of={after?.[name]} />
        </li>
      ))}
    </ul>
  );
}

const isoTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Nothing for a value that is not there. */
function Value({ of }: { readonly of: AuditValue | undefined }) {
  if (of === undefined) return null;
  const values = Array.isArray(of) ? of : [of];
  if (values.length === 0) return <>none</>;
  return (
    <>
      {values.map((value, index) => (
        <span key={index}>
          {index > 0 && ", "}
          {typeof value === "string" && isoTime.test(value) ? (
            <Time at={value} />
          ) : (
            <code>{String(value ?? "none")}</code>
          )}
        </span>
      ))}
    </>
  );
}
