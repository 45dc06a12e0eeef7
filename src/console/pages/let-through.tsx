/** Letting somebody through: the dialog that blocks and sessions lead to, and what is let through already. */
import { useState } from "preact/hooks";
import {
  type ExceptionAnswer,
  type ExceptionRow,
  type ExceptionSubject,
  type ExceptionSubjectKind,
  isWideNetwork,
} from "../../contract/configuration/exceptions.js";
import { useAccess } from "../access.js";
import { hashOf } from "../location.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Dialog, Fault, Time } from "../parts.js";
import { useTask } from "../resource.js";
import { localMinute, type UntilChoice, UntilField, untilTime } from "./until-field.js";

/** Whom one can choose, the narrowest first. */
export type Subjects = readonly ExceptionSubject[];

const subjectWords: Readonly<Record<ExceptionSubjectKind, string>> = {
  session_token: "Session",
  ip: "Address",
  network: "Network",
  user_agent: "User agent",
  agent: "Agent",
};

/** Name and value of the one key that a subject has. */
export function subjectParts(subject: ExceptionSubject): readonly [name: string, value: string] {
  const [kind, value] = Object.entries(subject)[0] as [ExceptionSubjectKind, string];
  return [subjectWords[kind], value];
}

/** Whether it is for a part of the internet: very many visitors are behind it. */
export function isForVeryMany({ network }: ExceptionSubject): boolean {
  return network !== undefined && isWideNetwork(network);
}

/** The exceptions that are of one of these subjects. */
export function exceptionsOf(all: readonly ExceptionRow[], subjects: Subjects): ExceptionRow[] {
  const keys = new Set(subjects.map(keyOf));
  return all.filter(({ subject }) => keys.has(keyOf(subject)));
}

const keyOf = (subject: ExceptionSubject): string => JSON.stringify(Object.entries(subject)).toLowerCase();

/** Until when these let somebody through, a line each; nothing where there are none. */
export function LetThroughUntil({ of }: { readonly of: readonly ExceptionRow[] }) {
  return (
    <>
      {of.map(({ id, subject, expires_at, note }) => (
        <span key={id} class="let-through">
          Let through until <Time at={expires_at} /> by {subjectParts(subject)[0].toLowerCase()}
          {note === "" ? "" : `: ${note}`} <a href={hashOf("exceptions")}>All exceptions</a>
        </span>
      ))}
    </>
  );
}

/** The button that opens the dialog; none for who may not. `about` tells it from others of the page. */
export function LetThroughButton(properties: {
  readonly about?: string;
  readonly class?: string;
  readonly onOpen: () => void;
}) {
  const { about, class: kind, onOpen } = properties;
  const text = "Let this visitor through…";
  if (!useAccess().mayWrite) return null;
  return (
    <button type="button" class={kind} aria-label={about === undefined ? text : `${text} ${about}`} onClick={onOpen}>
      {text}
    </button>
  );
}

/** Asks whom, until when and why; then says until when, and what to know about it. */
export function LetThroughDialog(
  properties: ProjectPageProperties & {
    readonly subjects: Subjects;
    readonly reference?: string | undefined;
    readonly onDone: () => Promise<unknown>;
    readonly onClose: () => void;
  },
) {
  const { api, project, subjects, reference, onDone, onClose } = properties;
  const [chosen, setChosen] = useState(0);
  const [until, setUntil] = useState<UntilChoice>({ choice: "week", date: localMinute(Date.now() + 14 * 86_400_000) });
  const [note, setNote] = useState("");
  const [made, setMade] = useState<ExceptionAnswer | null>(null);
  const task = useTask();
  const submit = (event: Event) => {
    event.preventDefault();
    void task.run(async () => {
      const body = { subject: subjects[chosen]!, expires_at: untilTime(until)!, note: note.trim() };
      setMade(await api.letThrough(project, { ...body, ...(reference !== undefined && { reference }) }));
      await onDone();
    });
  };
  return (
    <Dialog title="Let this visitor through" keeps={task.isRunning} onClose={onClose}>
      {made !== null ? (
        <>
          <p role="status">
            Let through until <Time at={made.expires_at} />, from the next request on.
          </p>
          {made.warning !== undefined && <p class="notice">{made.warning}</p>}
          <p class="buttons">
            <a class="button" href={hashOf("exceptions")}>
              All exceptions
            </a>
            <button type="button" class="primary" onClick={onClose}>
              Close
            </button>
          </p>
        </>
      ) : (
        <form class="stack" onSubmit={submit}>
          <p class="dim">Allowed before any rule is evaluated. Scoring and counting go on as before.</p>
          <fieldset>
            <legend>Whom</legend>
            {subjects.map((subject, index) => {
              const [name, value] = subjectParts(subject);
              return (
                <label key={name} class="check">
                  <input type="radio" name="whom" checked={chosen === index} onChange={() => setChosen(index)} />
                  <span class="wrap">
                    {name}: <code>{value}</code>
                    {notes[name] !== undefined && <span class="line dim">{notes[name]}</span>}
                  </span>
                </label>
              );
            })}
          </fieldset>
          {isForVeryMany(subjects[chosen]!) && (
            <label class="check notice">
              <input type="checkbox" required />
              <span>
                Very many visitors have addresses in this network: no rule stops any of them until then. Let all of them
                through.
              </span>
            </label>
          )}
          <UntilField legend="Ends" value={until} onChange={setUntil} />
          <label>
            <span>Why (verdicts quote it)</span>
            <input
              type="text"
              maxLength={500}
              autocomplete="off"
              value={note}
              onInput={(event) => setNote(event.currentTarget.value)}
            />
          </label>
          <Fault of={task.fault} />
          <p class="buttons">
            <button type="button" aria-disabled={task.isRunning} onClick={() => task.isRunning || onClose()}>
              Cancel
            </button>
            <button type="submit" class="primary" aria-disabled={task.isRunning}>
              Let through
            </button>
          </p>
        </form>
      )}
    </Dialog>
  );
}

/** What to know of a choice, by its name. */
const notes: Readonly<Record<string, string>> = {
  Session: "only this browser, while its session lasts",
  Address: "everybody behind it",
  "User agent": "everybody with exactly this user agent",
};
