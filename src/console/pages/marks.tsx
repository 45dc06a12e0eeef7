/** Marks of sessions: set on a session's page, and what they say of verdictd on the overview. */

import { useState } from "preact/hooks";
import type { SessionAnswer } from "../../contract/log-answers.js";
import type { MarkAnswer, MarkName, MarksAnswer, MarkTotals } from "../../contract/marks.js";
import type { Api } from "../api.js";
import { csvOf } from "../csv.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Card, Fault, Loaded, Table, Time } from "../parts.js";
import { useResource, useTask } from "../resource.js";
import { saveFile } from "../save-file.js";
import { count, plural } from "../words.js";
import { ExploredDetection } from "./explored.js";

/** The card of a session's page that says whether it was a person or a bot, or takes that back; `onMarked` is awaited after each change. */
export function MarkCard(
  properties: ProjectPageProperties & { readonly session: SessionAnswer; readonly onMarked: () => Promise<void> },
) {
  const { api, project, session, onMarked } = properties;
  const { session_token: token, mark } = session;
  const task = useTask();
  const set = (as: MarkName | null) =>
    task.run(async () => {
      if (as === null) await api.unmark(project, token);
      else await api.mark(project, token, { as });
      await onMarked();
    });
  return (
    <Card title="Was it right?">
      <p role="status">
        {mark === null ? (
          "If you know who this was, say so: the overview counts where verdictd was wrong. It changes no verdict."
        ) : (
          <>
            Marked as a {mark.as}, <Time at={mark.marked_at} />.
          </>
        )}
      </p>
      <p class="more">
        {mark?.as !== "person" && (
          <button type="button" aria-disabled={task.isRunning} onClick={() => void set("person")}>
            This was a person
          </button>
        )}
        {mark?.as !== "bot" && (
          <button type="button" aria-disabled={task.isRunning} onClick={() => void set("bot")}>
            This was a bot
          </button>
        )}
        {mark !== null && (
          <button type="button" class="quiet" aria-disabled={task.isRunning} onClick={() => void set(null)}>
            Remove the mark
          </button>
        )}
      </p>
      <Fault of={task.fault} />
    </Card>
  );
}

/** On the overview. */
export function MarksCard({ api, project }: ProjectPageProperties) {
  const marks = useResource(() => api.marks(project, null), [api, project]);
  const slugs = useResource(
    async () => new Map((await api.detections()).data.map(({ id, slug }) => [id, slug])),
    [api],
  );
  const task = useTask();
  const [said, setSaid] = useState("");
  const save = (type: "csv" | "json") =>
    task.run(async () => {
      const all = await allMarks(api, project);
      if (type === "csv") saveFile("marks.csv", "text/csv", csvOf(columnsOfFile, all));
      else saveFile("marks.json", "application/json", JSON.stringify(all, null, 2));
      setSaid(`${plural(all.length, "mark")} saved`);
    });
  return (
    <Card
      title="Sessions that you marked"
      aside={
        marks.value !== undefined &&
        marks.value.data.length > 0 && (
          <p class="more">
            <span class="dim" role="status">
              {said}
            </span>
            <button type="button" aria-disabled={task.isRunning} onClick={() => void save("csv")}>
              CSV
            </button>
            <button type="button" aria-disabled={task.isRunning} onClick={() => void save("json")}>
              JSON
            </button>
          </p>
        )
      }
    >
      <Fault of={task.fault} />
      <Loaded from={marks}>{({ totals }) => <Totals of={totals} slugs={slugs.value ?? new Map()} />}</Loaded>
    </Card>
  );
}

function Totals({ of, slugs }: { readonly of: MarkTotals; readonly slugs: ReadonlyMap<number, string> }) {
  const { persons, false_positives, bots, missed_bots, by_detection } = of;
  if (persons + bots === 0)
    return <p class="dim">None yet: a session’s page has the buttons “This was a person” and “This was a bot”.</p>;
  return (
    <>
      <p>
        You marked {people(persons)}: verdictd took <b>{count(false_positives)}</b> for {bot(false_positives)} (false
        positives). You marked {plural(bots, "bot")}: it took <b>{count(missed_bots)}</b> for {person(missed_bots)}{" "}
        (missed).
      </p>
      {by_detection.length > 0 && (
        <Table
          caption="Marked sessions on which a detection fired"
          columns={[
            {
              name: "Detection",
              cell: ({ id }) => <ExploredDetection id={id} name={slugs.get(id) ?? ""} time="week" />,
            },
            { name: "People", cell: (row) => count(row.persons), isNumber: true },
            { name: "Bots", cell: (row) => count(row.bots), isNumber: true },
          ]}
          rows={by_detection}
          rowKey={({ id }) => id}
          empty=""
        />
      )}
    </>
  );
}

const people = (value: number): string => (value === 1 ? "1 person" : `${count(value)} people`);
const person = (value: number): string => (value === 1 ? "a person" : "people");
const bot = (value: number): string => (value === 1 ? "a bot" : "bots");

const columnsOfFile = [
  "session_token",
  "as",
  "marked_at",
  "user_id",
  "verdict",
  "score",
  "detection_ids",
] as const satisfies readonly (keyof MarkAnswer)[];

async function allMarks(api: Api, project: number): Promise<MarkAnswer[]> {
  const all: MarkAnswer[] = [];
  let cursor: string | null = null;
  do {
    const page: MarksAnswer = await api.marks(project, cursor);
    all.push(...page.data);
    cursor = page.meta.next_cursor;
  } while (cursor !== null);
  return all;
}
