/** Until when something holds: a day, a week, or a date of one's own; for what need not end also never. */
import { zone } from "../words.js";

/** What was chosen, and the date as a field for local times has it. */
export interface UntilChoice {
  readonly choice: "day" | "week" | "date" | "never";
  readonly date: string;
}

const dayMs = 86_400_000;
const spans = { day: dayMs, week: 7 * dayMs } as const;

/** The choice as the API takes it, ISO-8601; null: never. A date that is no time is as if it had just passed. */
export function untilTime({ choice, date }: UntilChoice): string | null {
  if (choice === "never") return null;
  const ms = choice === "date" ? Date.parse(date) : Date.now() + spans[choice];
  return new Date(Number.isNaN(ms) ? Date.now() : ms).toISOString();
}

/** A time as a field for local times has it, to the minute. */
export function localMinute(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const words = { never: "Never", day: "After a day", week: "After a week", date: "On a date" } as const;

/** The choice as radio buttons, `legend` above them. */
export function UntilField(properties: {
  readonly legend: string;
  readonly value: UntilChoice;
  readonly hasNever?: boolean;
  readonly onChange: (value: UntilChoice) => void;
}) {
  const { legend, value, hasNever = false, onChange } = properties;
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class="choice">
        {(Object.keys(words) as (keyof typeof words)[])
          .filter((choice) => hasNever || choice !== "never")
          .map((choice) => (
            <label key={choice}>
              <input
                type="radio"
                name={legend}
                checked={value.choice === choice}
                onChange={() => onChange({ ...value, choice })}
              />
              {words[choice]}
            </label>
          ))}
      </div>
      {value.choice === "date" && (
        <label>
          <span>Date and time ({zone()})</span>
          <input
            type="datetime-local"
            required
            min={localMinute(Date.now())}
            value={value.date}
            onInput={(event) => onChange({ ...value, date: event.currentTarget.value })}
          />
        </label>
      )}
    </fieldset>
  );
}
