/** Live sessions: the log, the latest first, read anew while it is looked at; a way to one session by its token. */
import { useRef, useState } from "preact/hooks";
import type { LoggedSessionRow } from "../../contract/sessions/session-answers.js";
import type { Band } from "../../contract/verdicts/verdict.js";
import { timeAround } from "../explore-view.js";
import { CheckField, ChoiceField, choicesOf } from "../fields.js";
import { hashOf, useAddressed } from "../location.js";
import { useLog } from "../log.js";
import type { AddressedPageProperties } from "../page-properties.js";
import { FreshnessLine, LogTable, PageTitle, Time } from "../parts.js";
import { bandOrder, bandWords, count, plural } from "../words.js";
import { ExploredBand, ExploredNumber, ExploredWho } from "./explored.js";

const refreshMs = 5000;

const shownBands: readonly (readonly [string, string])[] = [["", "All bands"], ...choicesOf(bandWords, bandOrder)];

/** Read anew every 5 s while Live is ticked. The choice of a band filters the rows that were loaded, not the log. */
export function SessionsPage({ api, project, query }: AddressedPageProperties) {
  const [isLive, setLive] = useState(true);
  const [chosen, setChosen] = useAddressed(query.get("band") ?? "", (name) =>
    hashOf("sessions", undefined, name === "" ? {} : { band: name }),
  );
  const band = bandOrder.find((each) => each === chosen) ?? "";
  const log = useLog(
    (cursor) => api.sessions(project, cursor),
    (row) => row.session_token,
    [api, project],
    isLive ? refreshMs : undefined,
  );
  const shown = log.rows.filter(({ verdict }) => band === "" || verdict === band);
  return (
    <>
      <PageTitle title="Sessions">
        <FreshnessLine of={log.latest} {...(isLive && { every: "5 s" })} />
      </PageTitle>
      <div class="tools">
        <ChoiceField label="Band" value={band} options={shownBands} onChange={setChosen} />
        <OpenSession />
        <CheckField label="Live" value={isLive} onChange={setLive} />
      </div>
      <LogTable
        log={log}
        caption="Sessions, the latest first"
        columns={columns}
        rows={shown}
        rowKey={(row) => row.session_token}
        empty={emptyText(band, log.rows.length)}
        said={`${plural(shown.length, "session")} shown of ${count(log.rows.length)} loaded`}
      />
    </>
  );
}

function emptyText(band: Band | "", read: number): string {
  return band === "" || read === 0
    ? "No session yet: the first appears when the SDK sends its first report."
    : "No loaded session has this band.";
}

/** As far back as the session began. */
const at = ({ first_seen_at }: LoggedSessionRow) => ({ time: timeAround(first_seen_at) });

const columns = [
  {
    name: "Session",
    cell: (row: LoggedSessionRow) => (
      <>
        <a class="code" href={hashOf("sessions", row.session_token)}>
          {row.session_token}
        </a>
        <ExploredWho who={row.agent} {...at(row)} />
      </>
    ),
  },
  { name: "Band", cell: (row: LoggedSessionRow) => <ExploredBand band={row.verdict} {...at(row)} /> },
  {
    name: "Score",
    cell: (row: LoggedSessionRow) => <ExploredNumber field="score" value={row.score} zero="none" {...at(row)} />,
    isNumber: true,
  },
  { name: "Detections", cell: (row: LoggedSessionRow) => row.detection_ids.length, isNumber: true },
  {
    name: "Events",
    cell: (row: LoggedSessionRow) => <ExploredNumber field="event_count" value={row.event_count} {...at(row)} />,
    isNumber: true,
  },
  { name: "First seen", label: "First", cell: (row: LoggedSessionRow) => <Time at={row.first_seen_at} /> },
  { name: "Last seen", label: "Last", cell: (row: LoggedSessionRow) => <Time at={row.last_seen_at} /> },
];

function OpenSession() {
  const field = useRef<HTMLInputElement>(null);
  const open = (event: Event) => {
    event.preventDefault();
    const token = field.current?.value.trim() ?? "";
    if (token !== "") location.hash = hashOf("sessions", token);
  };
  return (
    <form onSubmit={open}>
      <label>
        <span>Session token</span>
        <input ref={field} type="search" class="code" placeholder="sess_…" spellcheck={false} autocomplete="off" />
      </label>
      <button type="submit">Open</button>
    </form>
  );
}
