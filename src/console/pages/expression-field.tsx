/** The field for an expression of the rules language: what is wrong with it as one types, and what may come next. */
import { useId, useRef, useState } from "preact/hooks";
import type { ExpressionUse } from "../../rules/fields.js";
import { type Completions, completionsAt } from "../completion.js";
import type { ExpressionFault } from "../draft-backtest.js";
import { doubtsOf, fixOf } from "../expression.js";
import { plural, sentence } from "../words.js";

/** What the server says of the expression; of a good one perhaps more than can be told without it. */
export type ExpressionState =
  | { readonly state: "empty" | "waiting" | "good"; readonly result?: { readonly warnings?: readonly string[] } }
  | ExpressionFault;

const nothing: Completions = { from: 0, to: 0, options: [] };

/**
 * The text field with suggestions as one types (Ctrl+Space asks for them); under it whether the expression is valid, or its fault with a
 * mark under the place and a button for the word that was probably meant.
 */
export function ExpressionField(properties: {
  readonly value: string;
  readonly checked: ExpressionState;
  readonly rows: number;
  readonly isRequired: boolean;
  /** Decides which fields there are. */
  readonly use: ExpressionUse;
  readonly onChange: (value: string) => void;
  /** Where given, Enter does it and begins no line; Shift+Enter does. */
  readonly onEnter?: () => void;
}) {
  const { value, checked, rows, isRequired, use, onChange, onEnter } = properties;
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [offered, setOffered] = useState<Completions>(nothing);
  const [active, setActive] = useState(-1);
  const isFaulty = checked.state === "fault";
  const fix = isFaulty ? fixOf(value, use) : null;
  const isOpen = offered.options.length > 0;
  const offer = (isAsked: boolean) => {
    const { value: text, selectionStart, selectionEnd } = field.current!;
    setActive(-1);
    setOffered(selectionStart === selectionEnd ? completionsAt(text, selectionStart, isAsked, use) : nothing);
  };
  const close = () => setOffered(nothing);
  const take = (index: number) => {
    const { from, to, options } = offered;
    const text = `${options[index]!.text} `;
    const { current } = field;
    current!.setRangeText(text, from, to, "end");
    current!.focus();
    onChange(current!.value);
    offer(true);
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey && event.key === " ") offer(true);
    else if (event.key === "Enter" && active < 0 && !event.shiftKey && onEnter !== undefined) {
      close();
      onEnter();
    } else if (!isOpen) return;
    else if (event.key === "ArrowDown") setActive((active + 1) % offered.options.length);
    else if (event.key === "ArrowUp") setActive((active <= 0 ? offered.options.length : active) - 1);
    else if (event.key === "Enter" && active >= 0) take(active);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  };
  return (
    <div class="field expression">
      <label for={id}>Expression</label>
      <textarea
        id={id}
        ref={field}
        class="code"
        rows={rows}
        required={isRequired}
        maxLength={2000}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        value={value}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={`${id}-list`}
        aria-activedescendant={isOpen && active >= 0 ? `${id}-${active}` : undefined}
        aria-invalid={isFaulty}
        aria-describedby={`${id}-state`}
        onInput={(event) => {
          onChange(event.currentTarget.value);
          offer(false);
        }}
        onKeyDown={press}
        onBlur={close}
      />
      <div id={`${id}-list`} class="completions" role="listbox" aria-label="Suggestions" hidden={!isOpen}>
        {offered.options.map(({ text, detail }, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the text field keeps the focus and names the active option
          // biome-ignore lint/a11y/useKeyWithClickEvents: arrow keys and Enter in the text field do the same
          <div
            key={text}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            // A press would take the focus from the field, which closes the list.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => take(index)}
          >
            <code>{text}</code> <span class="dim">{detail}</span>
          </div>
        ))}
      </div>
      <p class="unseen" role="status">
        {isOpen ? `${plural(offered.options.length, "suggestion")}: use the arrow keys and Enter` : ""}
      </p>
      <div id={`${id}-state`} class={isFaulty ? "fault" : "said"} role="status">
        {checked.state === "waiting" && "Checking…"}
        {checked.state === "good" && "The expression is valid."}
        {isFaulty && sentence(checked.message)}
      </div>
      {checked.state === "good" &&
        [...new Set([...doubtsOf(value), ...(checked.result?.warnings ?? [])])].map((doubt) => (
          <p key={doubt} class="notice">
            {doubt}
          </p>
        ))}
      {fix !== null && (
        <p>
          <button
            type="button"
            onClick={() => {
              onChange(`${value.slice(0, fix.from)}${fix.text}${value.slice(fix.to)}`);
              field.current!.focus();
            }}
          >
            Use <code>{fix.text}</code> instead
          </button>
        </p>
      )}
      {isFaulty && checked.line !== null && <Pointer source={value} line={checked.line} column={checked.column} />}
    </div>
  );
}

/** The faulty line with a mark under the place. */
function Pointer({
  source,
  line,
  column,
}: {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}) {
  const characters = [...(source.split(/\r\n|\r|\n/)[line - 1] ?? "")];
  const from = Math.max(0, column - 40);
  const shown = characters
    .slice(from, from + 60)
    .join("")
    .replaceAll("\t", " ");
  return (
    <pre class="pointer" aria-hidden="true">
      {`${shown}\n${" ".repeat(column - 1 - from)}▲`}
    </pre>
  );
}
