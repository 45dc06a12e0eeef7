/** Explore's choice of a time: presets, or two times of one's own; and with what it is compared. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type ExploreView, type SpanName, spans } from "../explore-view.js";
import { CheckField } from "../fields.js";
import { Fault } from "../parts.js";
import { zone } from "../words.js";

/** The presets, and two times of one's own in the operator's zone. */
export function TimeChoice(properties: {
  readonly time: ExploreView["time"];
  readonly shown: { readonly from: string; readonly to: string } | null;
  readonly isCompared: boolean;
  readonly onChange: (time: ExploreView["time"]) => void;
  readonly onCompare: (isCompared: boolean) => void;
}) {
  const { time: chosen, shown, isCompared, onChange, onCompare } = properties;
  const [isFree, setFree] = useState(typeof chosen !== "string");
  const [isReversed, setReversed] = useState(false);
  useLayoutEffect(() => setFree(typeof chosen !== "string"), [typeof chosen]);
  const range = typeof chosen !== "string" ? chosen : shown;
  const form = useRef<HTMLFormElement>(null);
  const apply = (event: Event) => {
    event.preventDefault();
    const [from, to] = [...form.current!.querySelectorAll("input")].map(({ value }) => new Date(value));
    setReversed(from! >= to!);
    if (from! < to!) onChange({ from: from!.toISOString(), to: to!.toISOString() });
  };
  return (
    <div class="tools">
      <fieldset class="choice">
        <legend class="unseen">When it began</legend>
        {(Object.keys(spans) as SpanName[]).map((name) => (
          <label key={name}>
            <input type="radio" name="last" checked={!isFree && chosen === name} onChange={() => onChange(name)} />
            {spans[name].name}
          </label>
        ))}
        <label>
          <input type="radio" name="last" checked={isFree} onChange={() => setFree(true)} />
          From, to
        </label>
      </fieldset>
      <CheckField label="Compare with the previous period" value={isCompared} onChange={onCompare} />
      {isFree && range !== null && (
        <form ref={form} onSubmit={apply} key={`${range.from} ${range.to}`}>
          <TimeField name="From" value={range.from} isInvalid={isReversed} />
          <TimeField name="To" value={range.to} isInvalid={isReversed} />
          <button type="submit">Show</button>
          <span class="dim">{zone()}</span>
          {isReversed && <Fault of="“From” has to be before “To”." />}
        </form>
      )}
    </div>
  );
}

function TimeField(properties: {
  readonly name: string;
  readonly value: string | undefined;
  readonly isInvalid: boolean;
}) {
  const { name, value, isInvalid } = properties;
  return (
    <label>
      <span>{name}</span>
      <input type="datetime-local" step={1} required defaultValue={localTime(value)} aria-invalid={isInvalid} />
    </label>
  );
}

/** As a field for local times has it. */
function localTime(iso: string | undefined): string {
  const at = iso === undefined ? new Date() : new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}
