/** The few pieces of HTML that generated pages of `/docs` are made of. Pure; whatever comes in as text is escaped. */

/** Text as HTML, safe in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Text in a `code` element, escaped. */
export const code = (text: string): string => `<code>${escapeHtml(text)}</code>`;

/** Escaped text in which `backquoted` pieces are code. */
export function prose(text: string): string {
  return escapeHtml(text)
    .replace(/\n{2,}/g, "<br><br>")
    .replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** A fragment's name for a heading. */
export function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

/** A table that scrolls by itself on a phone. Cells are HTML already. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((each) => `<th scope="col">${escapeHtml(each)}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("\n");
  return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div>`;
}
