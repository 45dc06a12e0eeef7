/** What an expression can say: the language in short, and its fields. */
import { fields } from "../../rules/fields.js";
import { Table } from "../parts.js";

/** A folded card: operators, an example, and every field with its type, meaning and unit, from the table that the server uses. */
export function RuleLanguage() {
  return (
    <details class="card">
      <summary>What an expression can say</summary>
      <p>
        Comparisons joined by <code>AND</code>, <code>OR</code>, <code>NOT</code> and parentheses. Operators:{" "}
        <code>==</code> <code>!=</code> <code>&lt;</code> <code>&lt;=</code> <code>&gt;</code> <code>&gt;=</code>{" "}
        <code>contains</code> <code>starts_with</code> <code>ends_with</code> <code>wildcard</code>{" "}
        <code>{"in {…}"}</code>. Put text in double quotes.
      </p>
      <p>
        <code>{'band == "likely_automated" AND path starts_with "/login"'}</code>
      </p>
      <Table
        caption="Fields of the rules language"
        columns={[
          { name: "Field", cell: (field) => <code>{field.name}</code>, isShort: true },
          { name: "Type", cell: (field) => field.type, isShort: true },
          {
            name: "Meaning",
            cell: (field) => (field.unit === "" ? field.meaning : `${field.meaning} (${field.unit})`),
          },
        ]}
        rows={fields}
        rowKey={(field) => field.name}
        empty=""
      />
    </details>
  );
}
