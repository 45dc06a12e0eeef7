/** Marks of sessions: set on a session's page, and what they say of verdictd on the overview. */

import { useState } from "preact/hooks";
import type { MarkAnswer, MarkName, MarksAnswer, MarkTotals } from "../../contract/sessions/marks.js";
import type { SessionAnswer } from "../../contract/sessions/session-answers.js";
import type { Band } from "../../contract/verdicts/verdict.js";
import { useAccess } from "../access.js";
import type { Api } from "../api.js";
import { csvOf } from "../csv.js";
import { hashOf } from "../location.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { BandBadge, Card, Fault, Loaded, SaveButtons, Table, Time } from "../parts.js";
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
  const { mayWrite } = useAccess();
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
      <p class="more" hidden={!mayWrite}>
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
  const [shown, setShown] = useState<Which | null>(null);
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
            <SaveButtons isRunning={task.isRunning} onSave={(type) => void save(type)} />
          </p>
        )
      }
    >
      <Fault of={task.fault} />
      <Loaded from={marks}>
        {({ totals }) => <Totals of={totals} slugs={slugs.value ?? new Map()} onShow={setShown} />}
      </Loaded>
      {shown !== null && <MarkedSessions api={api} project={project} which={shown} />}
    </Card>
  );
}

/** Which marked sessions are listed. */
interface Which {
  readonly as: MarkName;
  /** Only those that verdictd took for the other. */
  readonly isWrong?: boolean;
  readonly detection?: number;
}

function Totals(properties: {
  readonly of: MarkTotals;
  readonly slugs: ReadonlyMap<number, string>;
  readonly onShow: (which: Which) => void;
}) {
  const { of, slugs, onShow } = properties;
  const shows = (value: number, text: string, which: Which) =>
    value === 0 ? (
      text
    ) : (
      <button type="button" class="value-button" title="Show these sessions" onClick={() => onShow(which)}>
        {text}
      </button>
    );
  const { persons, false_positives, bots, missed_bots, by_detection } = of;
  if (persons + bots === 0)
    return <p class="dim">None yet: a session’s page has the buttons “This was a person” and “This was a bot”.</p>;
  return (
    <>
      <p>
        You marked {shows(persons, people(persons), { as: "person" })}: verdictd took{" "}
        <b>{shows(false_positives, count(false_positives), { as: "person", isWrong: true })}</b> for{" "}
        {bot(false_positives)} (false positives). You marked {shows(bots, plural(bots, "bot"), { as: "bot" })}: it took{" "}
        <b>{shows(missed_bots, count(missed_bots), { as: "bot", isWrong: true })}</b> for {person(missed_bots)}{" "}
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
            {
              name: "People",
              cell: ({ id, persons: value }) => shows(value, count(value), { as: "person", detection: id }),
              isNumber: true,
            },
            {
              name: "Bots",
              cell: ({ id, bots: value }) => shows(value, count(value), { as: "bot", detection: id }),
              isNumber: true,
            },
          ]}
          rows={by_detection}
          rowKey={({ id }) => id}
          empty=""
        />
      )}
    </>
  );
}

/** The marked sessions of one count, each with what it was when it was marked. */
function MarkedSessions({ api, project, which }: ProjectPageProperties & { readonly which: Which }) {
  const { as, isWrong = false, detection } = which;
  const marks = useResource(() => allMarks(api, project), [api, project, which]);
  const title = `Marked as a ${as}${isWrong ? `, taken for a ${as === "bot" ? "person" : "bot"}` : ""}${detection === undefined ? "" : `, with detection ${detection}`}`;
  const isShown = ({ as: name, verdict, detection_ids }: MarkAnswer) =>
    name === as &&
    (!isWrong || (as === "bot" ? verdict === "likely_human" : botBands.has(verdict))) &&
    (detection === undefined || detection_ids.includes(detection));
  return (
    <>
      <h3>{title}</h3>
      <Loaded from={marks}>
        {(all) => (
          <Table
            caption={title}
            columns={columnsOfList}
            rows={all.filter(isShown)}
            rowKey={({ session_token }) => session_token}
            empty="None."
          />
        )}
      </Loaded>
    </>
  );
}

const botBands: ReadonlySet<Band> = new Set(["definite", "confident_automated", "likely_automated"]);

const columnsOfList = [
  {
    name: "Session",
    cell: ({ session_token }: MarkAnswer) => (
      <a class="code" href={hashOf("sessions", session_token)}>
        {session_token}
      </a>
    ),
  },
  { name: "Marked", cell: ({ marked_at }: MarkAnswer) => <Time at={marked_at} /> },
  { name: "Band then", cell: ({ verdict }: MarkAnswer) => <BandBadge band={verdict} /> },
  { name: "Score then", cell: ({ score }: MarkAnswer) => (score === 0 ? "none" : count(score)), isNumber: true },
];

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
