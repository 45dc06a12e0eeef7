/** The fields that forms are made of: choices, ticks, numbers, names. */

interface FieldProperties<Value> {
  readonly label: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A tick box with its label behind it. */
export function CheckField({ label, value, onChange }: FieldProperties<boolean>) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

/** One of several values, each with its words, in their order; `note` stands below. */
export function ChoiceField<Value extends string | number>(
  properties: FieldProperties<Value> & {
    readonly options: readonly (readonly [value: Value, words: string])[];
    readonly note?: string;
  },
) {
  const { label, value, onChange, options, note } = properties;
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(options[event.currentTarget.selectedIndex]![0])}>
        {options.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
      {note !== undefined && <span class="dim">{note}</span>}
    </label>
  );
}

/** The options of a choice from a table of words, in the order of `values` or else the table's. */
export function choicesOf<Value extends string>(
  words: Readonly<Record<Value, string>>,
  values: readonly Value[] = Object.keys(words) as Value[],
): (readonly [Value, string])[] {
  return values.map((value) => [value, words[value]]);
}

/** A whole number from 1 to `max`, which the label says. */
export function NumberField({ label, ...field }: FieldProperties<number> & { readonly max: number }) {
  return <Amount label={`${label}, 1 to ${field.max}`} {...field} />;
}

/** A text in one line; `note` stands below. */
export function TextField({ label, value, onChange, note }: FieldProperties<string> & { readonly note: string }) {
  return (
    <label>
      <span>{label}</span>
      <input type="text" value={value} onInput={(event) => onChange(event.currentTarget.value.trim())} />
      <span class="dim">{note}</span>
    </label>
  );
}

/** A whole number from 1 to `max`; 0 while the field holds none. */
export function Amount(properties: {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  readonly onChange: (value: number) => void;
}) {
  const { label, value, max, onChange } = properties;
  return (
    <label>
      <span>{label}</span>
      <input
        type="number"
        min={1}
        max={max}
        step={1}
        required
        value={value}
        onInput={(event) => onChange(event.currentTarget.valueAsNumber || 0)}
      />
    </label>
  );
}

/** What something of the account is called. */
export function NameField({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  return (
    <label>
      <span>Name</span>
      <input
        required
        maxLength={255}
        autocomplete="off"
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}
