/** The sessions that were found, the latest first, read on page by page; as CSV and JSON. */
import { useState } from "preact/hooks";
import type { QueriedSessionRow, SessionQueryAnswer } from "../../contract/sessions/session-query.js";
import { csvOf } from "../csv.js";
import { hashOf } from "../location.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Card, Fault, SaveButtons, Table, Time } from "../parts.js";
import { useTask } from "../resource.js";
import { saveFile } from "../save-file.js";
import { count, plural } from "../words.js";
import { ExploredAction, ExploredAgent, ExploredBand, ExploredNumber, ExploredText, ExploredWho } from "./explored.js";

/** Sessions of an exported file. */
const exportedMax = 5000;

const columnsOfFile = [
  "session_token",
  "first_seen_at",
  "last_seen_at",
  "verdict",
  "score",
  "action",
  "rule_id",
  "reason",
  "ip",
  "host",
  "path",
  "user_agent",
  "country",
  "asn",
  "as_name",
  "agent",
  "agent_certainty",
  "detection_ids",
  "event_count",
] as const satisfies readonly (keyof QueriedSessionRow)[];

/** The card with the table, older rows on demand. Saving reads on to at most 5,000 sessions. */
export function FoundSessions(
  properties: ProjectPageProperties & {
    readonly expression: string;
    readonly first: SessionQueryAnswer;
    readonly onToggle: (condition: string) => void;
  },
) {
  const { api, project, expression, first, onToggle } = properties;
  const [older, setOlder] = useState<{ rows: readonly QueriedSessionRow[]; cursor: string | null } | null>(null);
  const [said, setSaid] = useState("");
  const task = useTask();
  const rows = [...first.data, ...(older?.rows ?? [])];
  const cursor = older === null ? first.meta.next_cursor : older.cursor;
  const read = (cursor: string) => {
    const { from, to } = first;
    return api.query(project, { expression, from, to, cursor, limit: 100 }, new AbortController().signal);
  };
  const readOn = () =>
    task.run(async () => {
      const next = await read(cursor!);
      setOlder({ rows: [...(older?.rows ?? []), ...next.data], cursor: next.meta.next_cursor });
      setSaid(`${plural(next.data.length, "session")} more`);
    });
  const save = (type: "csv" | "json") =>
    task.run(async () => {
      const all = [...rows];
      let at = cursor;
      while (at !== null && all.length < exportedMax) {
        const next = await read(at);
        all.push(...next.data);
        at = next.meta.next_cursor;
        setSaid(`Loading: ${count(all.length)} sessions`);
      }
      const { data: _, meta: __, ...counts } = first;
      const name = `sessions-${first.from.slice(0, 10)}-${first.to.slice(0, 10)}.${type}`;
      if (type === "csv") saveFile(name, "text/csv", csvOf(columnsOfFile, all));
      else saveFile(name, "application/json", JSON.stringify({ expression, ...counts, data: all }, null, 2));
      setSaid(`${plural(all.length, "session")} saved${at === null ? "" : ", the latest: there are more"}`);
    });
  return (
    <Card
      title="Sessions"
      aside={
        <p class="more">
          <SaveButtons isRunning={task.isRunning} onSave={(type) => void save(type)} />
        </p>
      }
    >
      <Table
        caption="Sessions that match, the latest first"
        columns={columnsOf(onToggle)}
        rows={rows}
        rowKey={({ session_token }) => session_token}
        empty="No session in this time range matches."
      />
      <p class="more">
        <span class="dim" role="status">
          {said === "" ? `${plural(rows.length, "session")} shown` : said}
        </span>
        {cursor !== null && (
          <button type="button" aria-disabled={task.isRunning} onClick={() => void readOn()}>
            Load older ones
          </button>
        )}
      </p>
      <Fault of={task.fault} />
    </Card>
  );
}

const whoOf = ({ agent: name, agent_certainty: certainty }: QueriedSessionRow) =>
  name === null || certainty === null ? null : { name, certainty };

function columnsOf(onToggle: (condition: string) => void) {
  const text = (field: string, value: string | null) => (
    <ExploredText field={field} value={value} onToggle={onToggle} />
  );
  return [
    {
      name: "Began",
      cell: (row: QueriedSessionRow) => (
        <a href={hashOf("sessions", row.session_token)}>
          <Time at={row.first_seen_at} />
        </a>
      ),
    },
    { name: "Band", cell: (row: QueriedSessionRow) => <ExploredBand band={row.verdict} onToggle={onToggle} /> },
    {
      name: "Score",
      cell: (row: QueriedSessionRow) => (
        <ExploredNumber field="score" value={row.score} zero="none" onToggle={onToggle} />
      ),
      isNumber: true,
    },
    {
      name: "Action now",
      cell: (row: QueriedSessionRow) => <ExploredAction action={row.action} onToggle={onToggle} />,
    },
    { name: "Address", cell: (row: QueriedSessionRow) => text("ip", row.ip) },
    { name: "Path", cell: (row: QueriedSessionRow) => text("path", row.path) },
    {
      name: "User agent",
      cell: (row: QueriedSessionRow) => (
        <>
          <ExploredAgent value={row.user_agent} onToggle={onToggle} />
          <ExploredWho who={whoOf(row)} onToggle={onToggle} />
        </>
      ),
    },
  ];
}
