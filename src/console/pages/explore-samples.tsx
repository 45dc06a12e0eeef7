/** The samples of requests that were found, the latest first; as CSV and JSON. */
import { useState } from "preact/hooks";
import type { RequestSampleRow } from "../../contract/traffic/traffic-answers.js";
import { csvOf } from "../csv.js";
import { hashOf } from "../location.js";
import { Card, SaveButtons, Table, Time } from "../parts.js";
import { saveFile } from "../save-file.js";
import { count, plural } from "../words.js";
import type { FoundRequests } from "./explore-requests.js";
import { ExploredAction, ExploredAgent, ExploredBand, ExploredNumber, ExploredText } from "./explored.js";

const columnsOfFile = [
  "at",
  "method",
  "host",
  "path",
  "ip",
  "country",
  "asn",
  "as_name",
  "user_agent",
  "declared_bot",
  "verified_bot",
  "agent",
  "band",
  "score",
  "action",
  "rule_id",
  "detection_ids",
  "weight",
] as const satisfies readonly (keyof RequestSampleRow)[];

/** Rows shown at first. */
const step = 50;

/** The card with the table; more of what was read on demand. */
export function FoundSamples(properties: {
  readonly found: FoundRequests;
  readonly expression: string;
  readonly onToggle: (condition: string) => void;
}) {
  const { found, expression, onToggle } = properties;
  const [length, setLength] = useState(step);
  const { rows, shown } = found;
  const save = (type: "csv" | "json") => {
    const name = `requests-${shown.from.slice(0, 10)}-${shown.to.slice(0, 10)}.${type}`;
    if (type === "csv") saveFile(name, "text/csv", csvOf(columnsOfFile, rows));
    else saveFile(name, "application/json", JSON.stringify({ expression, ...shown, data: rows }, null, 2));
  };
  return (
    <Card
      title="Samples of requests"
      aside={
        <p class="more">
          <SaveButtons isRunning={false} onSave={save} />
        </p>
      }
    >
      <p class="dim">
        Some requests of each hour are kept for seven days; “Stands for” says how many each one represents. Query
        strings are not kept.
      </p>
      <Table
        caption="Samples of requests that match, the latest first"
        columns={columnsOf(onToggle)}
        rows={rows.slice(0, length)}
        rowKey={(_, index) => index}
        empty="No sample of a request in this time range matches."
      />
      <p class="more">
        <span class="dim">
          {plural(Math.min(length, rows.length), "sample")} shown of {count(rows.length)}
          {found.cursor === null ? "" : ", the latest: there are more"}
        </span>
        {length < rows.length && (
          <button type="button" onClick={() => setLength(length + step)}>
            Show more
          </button>
        )}
      </p>
    </Card>
  );
}

function columnsOf(onToggle: (condition: string) => void) {
  const text = (field: string, value: string | null) => (
    <ExploredText field={field} value={value} onToggle={onToggle} />
  );
  return [
    { name: "When", cell: ({ at }: RequestSampleRow) => <Time at={at} /> },
    {
      name: "Band and score",
      cell: ({ band, score }: RequestSampleRow) => (
        <>
          <ExploredBand band={band} onToggle={onToggle} />{" "}
          <span class="line">
            {score > 0 && "score "}
            <ExploredNumber field="score" value={score} zero="no score" onToggle={onToggle} />
          </span>
        </>
      ),
    },
    {
      name: "Action",
      cell: ({ action, rule_id }: RequestSampleRow) => (
        <>
          <ExploredAction action={action} onToggle={onToggle} />
          {rule_id !== null && (
            <a class="line" href={hashOf("rules", rule_id)}>
              rule {rule_id}
            </a>
          )}
        </>
      ),
    },
    {
      name: "Address",
      cell: ({ ip, country, as_name }: RequestSampleRow) => (
        <>
          {text("ip", ip)}
          {(country !== null || as_name !== null) && (
            <span class="line dim">{[country, as_name].filter((each) => each !== null).join(", ")}</span>
          )}
        </>
      ),
    },
    {
      name: "Path",
      cell: ({ method, path }: RequestSampleRow) => (
        <>
          {method !== null && <span class="dim">{method} </span>}
          {text("path", path)}
        </>
      ),
    },
    {
      name: "User agent",
      cell: ({ user_agent }: RequestSampleRow) => <ExploredAgent value={user_agent} onToggle={onToggle} />,
    },
    {
      name: "Stands for",
      cell: ({ weight }: RequestSampleRow) => (weight === 1 ? "1" : `≈ ${count(Math.round(weight))}`),
      isNumber: true,
    },
  ];
}
