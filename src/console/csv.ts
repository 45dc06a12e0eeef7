/** Rows as CSV for spreadsheets. Pure. */

/** Rows of one shape as CSV (RFC 4180), lists joined by spaces. Text that a spreadsheet would take for a formula gets an apostrophe. */
export function csvOf(columns: readonly string[], rows: readonly object[]): string {
  const cell = (value: unknown): string => {
    const text = value === null || value === undefined ? "" : Array.isArray(value) ? value.join(" ") : String(value);
    // Where the list separator is `;`, a spreadsheet begins a cell after each one that is not quoted, and some after each line or tab.
    const safe =
      typeof value === "string" ? text.replace(/(^|[;,\t\r\n])(\s*[=+\-@])/g, "$1'$2").replace(/^[\t\r]/, "'$&") : text;
    return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = rows.map((row) => columns.map((column) => cell(Reflect.get(row, column))).join(","));
  return `${[columns.join(","), ...lines].join("\r\n")}\r\n`;
}
