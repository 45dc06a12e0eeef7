/** Exceptions: whom the project lets through before any rule, until when and why; each can be ended. */
import { useState } from "preact/hooks";
import {
  type ExceptionRow,
  type ExceptionSubject,
  type ExceptionSubjectKind,
  exceptionSubjects,
} from "../../contract/configuration/exceptions.js";
import { useAccess } from "../access.js";
import { ChoiceField } from "../fields.js";
import { hashOf } from "../location.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Card, Confirmation, FreshnessLine, Loaded, PageTitle, RowButton, Table, Time } from "../parts.js";
import { useResource } from "../resource.js";
import { plural } from "../words.js";
import { isForVeryMany, LetThroughDialog, subjectParts } from "./let-through.js";

const placeholders: Readonly<Record<ExceptionSubjectKind, string>> = {
  session_token: "a session token",
  ip: "203.0.113.7",
  network: "203.0.113.0/24",
  user_agent: "the whole text",
  agent: "a name, as verdicts have it",
};

/** The list, the oldest first, with a form for whom no block or session leads here. */
export function ExceptionsPage({ api, project }: ProjectPageProperties) {
  const list = useResource(() => api.exceptions(project), [api, project]);
  const [ending, setEnding] = useState<ExceptionRow | null>(null);
  const [subject, setSubject] = useState<ExceptionSubject | null>(null);
  const [said, setSaid] = useState("");
  const { mayWrite } = useAccess();
  const end = async (row: ExceptionRow) => {
    await api.endException(project, row.id);
    await list.reload();
    setSaid(`${subjectParts(row.subject)[1]} is no longer let through.`);
  };
  const columns = [
    {
      name: "Whom",
      cell: ({ subject }: ExceptionRow) => <Subject of={subject} />,
    },
    { name: "Until", cell: ({ expires_at }: ExceptionRow) => <Time at={expires_at} /> },
    { name: "Why", cell: ({ note }: ExceptionRow) => (note === "" ? <span class="dim">no note</span> : note) },
    {
      name: "Reference",
      cell: ({ reference }: ExceptionRow) =>
        reference === undefined ? (
          <span class="dim">none</span>
        ) : (
          <a class="code" href={hashOf("blocks", undefined, { q: reference })}>
            {reference}
          </a>
        ),
    },
    { name: "Since", cell: ({ created_at }: ExceptionRow) => <Time at={created_at} /> },
  ];
  const action = {
    name: "End",
    isAction: true,
    cell: (row: ExceptionRow) => (
      <RowButton label={`End now: ${subjectParts(row.subject)[1]}`} onPress={() => setEnding(row)}>
        End now
      </RowButton>
    ),
  };
  return (
    <>
      <PageTitle title="Exceptions">
        <FreshnessLine of={list} />
      </PageTitle>
      <p class="dim">
        Visitors that this project lets through until a set time, whatever its rules say. The button “Let this visitor
        through…” on a block or a session adds one.
      </p>
      <p class="said" role="status">
        {said}
      </p>
      <Loaded from={list}>
        {(rows) => (
          <>
            {rows.length > 0 && <p class="dim">{plural(rows.length, "exception")}</p>}
            <Table
              caption="Exceptions, the oldest first"
              columns={mayWrite ? [...columns, action] : columns}
              rows={rows}
              rowKey={({ id }) => id}
              empty="No exceptions: the rules decide about everybody."
            />
          </>
        )}
      </Loaded>
      {mayWrite && <NewException onGiven={setSubject} />}
      {subject !== null && (
        <LetThroughDialog
          api={api}
          project={project}
          subjects={[subject]}
          onDone={() => list.reload()}
          onClose={() => setSubject(null)}
        />
      )}
      {ending !== null && (
        <Confirmation title="End this exception?" yes="End now" act={() => end(ending)} onClose={() => setEnding(null)}>
          <p>
            From the next request on, the rules decide again about <b class="wrap">{subjectParts(ending.subject)[1]}</b>
            .
          </p>
        </Confirmation>
      )}
    </>
  );
}

function Subject({ of }: { readonly of: ExceptionSubject }) {
  const [name, value] = subjectParts(of);
  return (
    <span class="wrap">
      {name}:{" "}
      {of.session_token === undefined ? (
        <code>{value}</code>
      ) : (
        <a class="code" href={hashOf("sessions", value)}>
          {value}
        </a>
      )}
      {isForVeryMany(of) && <b class="line">very many visitors</b>}
    </span>
  );
}

const subjectKinds = exceptionSubjects.map((kind) => [kind, subjectParts({ [kind]: "" })[0]] as const);

function NewException({ onGiven }: { readonly onGiven: (subject: ExceptionSubject) => void }) {
  const [kind, setKind] = useState<ExceptionSubjectKind>("ip");
  const [value, setValue] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    onGiven({ [kind]: value.trim() });
  };
  return (
    <Card title="Let somebody through">
      <form class="tools" onSubmit={submit}>
        <ChoiceField label="By" value={kind} options={subjectKinds} onChange={setKind} />
        <label class="wide">
          <span>Which</span>
          <input
            required
            maxLength={512}
            spellcheck={false}
            autocomplete="off"
            placeholder={placeholders[kind]}
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Let through…</button>
      </form>
    </Card>
  );
}
