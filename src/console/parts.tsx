/** The pieces that pages are made of: notices, badges, tables that become cards on a phone, dialogs, secrets. Text only. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Action, Band } from "../contract/verdicts/verdict.js";
import { messageOf } from "./api.js";
import type { Log } from "./log.js";
import { type Resource, useTask } from "./resource.js";
import { actionWords, bandWords, clockTime, sentence, shortTime, time } from "./words.js";

interface WithChildren {
  readonly children?: ComponentChildren;
}

/** A page's heading; takes the focus when the page opens, so that keyboards and readers start there. */
export function PageTitle({ title, children }: WithChildren & { readonly title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · verdictd`;
    heading.current?.focus();
  }, [title]);
  return (
    <header class="page-title">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </header>
  );
}

/** Puts the focus back to where the page begins. */
export function focusTitle(): void {
  document.querySelector<HTMLElement>("h1")?.focus();
}

/** A section with a heading that names it for screen readers; `aside` stands beside the heading. */
export function Card({
  title,
  children,
  aside,
}: WithChildren & { readonly title: string; readonly aside?: ComponentChildren }) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** A failure. It is read out at once, or, behind a dialog, when that has closed. Nothing when there is none. */
export function Fault({ of }: { readonly of: unknown }) {
  const shown = useRef<HTMLParagraphElement>(null);
  const [timesTold, setTimesTold] = useState(1);
  const text = of === null || of === undefined ? null : sentence(typeof of === "string" ? of : messageOf(of));
  // A page behind a dialog is inert: screen readers learn of nothing that changes there. What is put into it afterwards they read out.
  useLayoutEffect(() => {
    if (text === null || !isBehindDialog(shown.current)) return;
    const again = () => {
      if (isBehindDialog(shown.current)) return;
      removeEventListener(dialogClosed, again);
      setTimesTold((times) => times + 1);
    };
    addEventListener(dialogClosed, again);
    return () => removeEventListener(dialogClosed, again);
  }, [text]);
  if (text === null) return null;
  return (
    <p key={timesTold} ref={shown} class="fault" role="alert">
      {text}
    </p>
  );
}

function isBehindDialog(element: HTMLElement | null): boolean {
  return [...document.querySelectorAll("dialog[open]")].some((dialog) => !dialog.contains(element));
}

/** The window's event when a `Dialog` has left the page. */
const dialogClosed = "verdictd:dialogclosed";

/** Reads a log on by so many pages, as long as there is more. */
export function ReadOlder({
  log,
  pages = 1,
  label = "Load older ones",
}: {
  readonly log: Pick<Log<unknown>, "hasOlder" | "isReading" | "readOlder">;
  readonly pages?: number;
  readonly label?: string;
}) {
  if (!log.hasOlder) return null;
  return (
    <button type="button" aria-disabled={log.isReading} onClick={() => void log.readOlder(pages)}>
      {label}
    </button>
  );
}

/** The table of a log once it is loaded; below it what is `said` of it, and older rows on demand. `rows` may be some of the log's. */
export function LogTable<Row>({
  log,
  said,
  ...table
}: TableProperties<Row> & { readonly log: Log<Row>; readonly said: string }) {
  return (
    <Loaded from={log.latest}>
      {() => (
        <>
          <Table {...table} />
          <p class="more">
            <span class="dim">{said}</span>
            <ReadOlder log={log} />
          </p>
          <Fault of={log.fault} />
        </>
      )}
    </Loaded>
  );
}

/** Saves what is shown as a file, in one form or the other. */
export function SaveButtons({
  isRunning,
  onSave,
}: {
  readonly isRunning: boolean;
  readonly onSave: (type: "csv" | "json") => void;
}) {
  return (
    <>
      <button type="button" aria-disabled={isRunning} onClick={() => onSave("csv")}>
        CSV
      </button>
      <button type="button" aria-disabled={isRunning} onClick={() => onSave("json")}>
        JSON
      </button>
    </>
  );
}

/** What a resource holds, or that it loads, or why it can't. */
export function Loaded<T>({ from, children }: { from: Resource<T>; children: (value: T) => ComponentChildren }) {
  return (
    <>
      <Fault of={from.fault} />
      {from.value !== undefined ? children(from.value) : from.fault === null && <p class="dim">Loading…</p>}
    </>
  );
}

/** The field that narrows a list as one types; `label` says what is searched. */
export function SearchField({
  label,
  value,
  onInput,
}: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}) {
  return (
    <div class="tools">
      <label class="wide">
        <span>{label}</span>
        <input type="search" value={value} spellcheck={false} onInput={(event) => onInput(event.currentTarget.value)} />
      </label>
    </div>
  );
}

/** When the shown was read, and a button to read it again. */
export function FreshnessLine({ of, every }: { readonly of: Resource<unknown>; readonly every?: string }) {
  return (
    <p class="freshness">
      <span>
        {of.loadedAt === null ? "" : `As of ${clockTime(of.loadedAt)}`}
        {every === undefined || of.loadedAt === null ? "" : `, every ${every}`}
      </span>
      <button type="button" class="quiet" onClick={() => void of.reload()}>
        Refresh
      </button>
    </p>
  );
}

/** A band by its name in the console, in its colour (`data-band`). */
export function BandBadge({ band }: { readonly band: Band }) {
  return (
    <span class="badge" data-band={band}>
      {bandWords[band]}
    </span>
  );
}

/** An action by its name in the console, in its colour (`data-action`). */
export function ActionBadge({ action }: { readonly action: Action }) {
  return (
    <span class="badge" data-action={action}>
      {actionWords[action]}
    </span>
  );
}

/** A time of the API (ISO-8601) in the operator's zone, without the year if it is this one; machines read the original in `datetime`. */
export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={time(at)}>
      {shortTime(at)}
    </time>
  );
}

/** A long text on two lines, whole when it is pressed. */
export function Folded({ text }: { readonly text: string }) {
  if (text.length <= 90) return <span class="wrap">{text}</span>;
  return (
    <details class="folded">
      <summary>{text}</summary>
    </details>
  );
}

/** One column of a `Table`. `name` is its heading, and on a phone, where rows become cards, the label of its cell. */
interface Column<Row> {
  readonly name: string;
  /** The label on a phone, where another than `name` fits. */
  readonly label?: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Its texts are short: they are not broken. */
  readonly isShort?: boolean;
  /** Its cells hold a button that says it all. */
  readonly isAction?: boolean;
}

interface TableProperties<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row, index: number) => string | number;
  readonly empty: string;
}

/** A table; on a phone each row is a card. `caption` names it for readers. */
export function Table<Row>({ caption, columns, rows, rowKey, empty }: TableProperties<Row>) {
  if (rows.length === 0) return <p class="dim empty">{empty}</p>;
  return (
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ name, ...form }) => (
            <th key={name} scope="col" class={classOf(form)}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={rowKey(row, index)}>
            {columns.map(({ name, label = name, cell, ...form }) => (
              <td key={name} data-label={label} class={classOf(form)}>
                <span class="value">{cell(row)}</span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function classOf(form: { isNumber?: boolean; isShort?: boolean; isAction?: boolean }): string | undefined {
  if (form.isNumber === true) return "number";
  return form.isShort === true ? "short" : form.isAction === true ? "action" : undefined;
}

/** A small button in a row; `label` also says of which row. */
export function RowButton(
  properties: WithChildren & { readonly label: string; readonly isBusy?: boolean; readonly onPress: () => void },
) {
  const { label, isBusy, onPress, children } = properties;
  return (
    <button type="button" class="quiet" aria-label={label} aria-disabled={isBusy} onClick={onPress}>
      {children}
    </button>
  );
}

/**
 * A modal dialog: focus stays inside and returns where it was, or to the title if what had it is gone. Escape and a press outside close it, unless
 * it `keeps`.
 */
export function Dialog(
  properties: WithChildren & { readonly title: string; readonly keeps?: boolean; readonly onClose: () => void },
) {
  const { title, keeps, onClose, children } = properties;
  const dialog = useRef<HTMLDialogElement>(null);
  const isPressedOutside = useRef(false);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () =>
      // After all that goes together with the dialog, and unless the page has given the focus to something else.
      queueMicrotask(() => {
        dispatchEvent(new Event(dialogClosed));
        if (document.activeElement !== document.body) return;
        if (before instanceof HTMLElement) before.focus();
        if (document.activeElement !== before) focusTitle();
      });
  }, []);
  // Around the dialog is the dialog, too. Who selects its text and ends outside does not mean to close it.
  const isOutside = ({ target, clientX: x, clientY: y }: MouseEvent): boolean => {
    if (target !== dialog.current) return false;
    const { left, right, top, bottom } = dialog.current!.getBoundingClientRect();
    return x < left || x > right || y < top || y > bottom;
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      // Browsers close it after the second Escape, whatever was said to the first.
      onClose={() => (keeps === true ? dialog.current?.showModal() : onClose())}
      onCancel={(event) => {
        if (keeps === true) event.preventDefault();
      }}
      onMouseDown={(event) => {
        isPressedOutside.current = event.button === 0 && isOutside(event);
      }}
      onMouseUp={(event) => {
        if (event.button === 0 && isPressedOutside.current && isOutside(event) && keeps !== true) onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/**
 * Asks before something is done, and does it: one press of `yes` runs `act`, and the dialog closes when that is done. If it fails, the dialog stays and
 * says why. While it runs nothing closes it, since nobody knows yet what comes of it.
 */
export function Confirmation(
  properties: WithChildren & {
    readonly title: string;
    readonly yes: string;
    /** It can be taken back. */
    readonly isHarmless?: boolean;
    /** What it would do is not known yet: nothing can be agreed to. */
    readonly isWaiting?: boolean;
    readonly act: () => Promise<unknown>;
    readonly onClose: () => void;
  },
) {
  const { title, yes, isHarmless = false, isWaiting = false, act, onClose, children } = properties;
  const task = useTask();
  const run = () =>
    void task.run(async () => {
      await act();
      onClose();
    });
  return (
    <Dialog title={title} keeps={task.isRunning} onClose={onClose}>
      {children}
      <Fault of={task.fault} />
      <p class="buttons">
        <button type="button" aria-disabled={task.isRunning} onClick={() => task.isRunning || onClose()}>
          Cancel
        </button>
        <button
          type="button"
          class={isHarmless ? "primary" : "danger"}
          aria-disabled={task.isRunning || isWaiting}
          onClick={() => isWaiting || run()}
        >
          {yes}
        </button>
      </p>
    </Dialog>
  );
}

/** A secret, shown this once; it is gone with the dialog. */
export function SecretDialog(
  properties: WithChildren & { readonly title: string; readonly secret: string; readonly onClose: () => void },
) {
  const { title, secret, onClose, children } = properties;
  return (
    <Dialog title={title} keeps onClose={onClose}>
      {children}
      <CopyField label="Shown only once" value={secret} />
      <p class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          I have stored it
        </button>
      </p>
    </Dialog>
  );
}

/** A value to take along, with a copy button that says whether it worked. */
export function CopyField({ label, value }: { readonly label: string; readonly value: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [said, setSaid] = useState("");
  const id = useId();
  const copy = async () => {
    field.current?.select();
    setSaid((await copied(value)) ? "Copied" : "Selected: now copy it");
  };
  return (
    <div class="copy-field">
      <label for={id}>{label}</label>
      <span class="pair">
        <input id={id} ref={field} type="text" readOnly value={value} class="code" spellcheck={false} />
        <button type="button" onClick={() => void copy()}>
          Copy
        </button>
      </span>
      <span class="said" role="status">
        {said}
      </span>
    </div>
  );
}

/** A text that is often taken along, with a small copy button behind it; `what` names it for readers. */
export function CopyText({ text, what }: { readonly text: string; readonly what: string }) {
  const [said, setSaid] = useState("");
  const copy = async () => setSaid((await copied(text)) ? "Copied" : "Not copied: select the text");
  return (
    <span class="copy-text">
      <code class="wrap">{text}</code>{" "}
      <button type="button" class="quiet" aria-label={`Copy ${what}`} onClick={() => void copy()}>
        Copy
      </button>
      <span class="said" role="status">
        {said}
      </span>
    </span>
  );
}

/** A small button that copies what `text` makes when it is pressed. */
export function CopyButton({ text, name }: { readonly text: () => string; readonly name: string }) {
  const [said, setSaid] = useState("");
  const copy = async () => setSaid((await copied(text())) ? "Copied" : "Not copied: use the address above");
  return (
    <>
      <span class="said" role="status">
        {said}
      </span>
      <button type="button" class="quiet" onClick={() => void copy()}>
        {name}
      </button>
    </>
  );
}

/** The clipboard is for pages of https and localhost; elsewhere the selected text is copied the old way. */
async function copied(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}

/** Small bars, the last one is of now; `label` says them in words. */
export function Trend({ of, label }: { readonly of: readonly number[]; readonly label: string }) {
  const most = Math.max(1, ...of);
  const width = 100 / Math.max(1, of.length);
  return (
    <svg class="trend" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
      {of.map((value, index) => (
        <rect
          key={index}
          x={index * width + width * 0.1}
          y={24 - (24 * value) / most}
          width={width * 0.8}
          height={(24 * value) / most}
        />
      ))}
    </svg>
  );
}
