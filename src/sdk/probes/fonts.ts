/** Whose operating system's own fonts are here: one family or two of each, measured and not drawn. Says nothing else of what is installed. */

const families = {
  windows: ["Segoe UI"],
  mac: ["Menlo", "Helvetica Neue"],
  linux: ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Ubuntu", "Cantarell"],
};

/** Names of systems, such as `windows`; undefined where text can't be measured off the screen. */
export function systemFonts(): string[] | undefined {
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  if (!context) return undefined;
  const width = (family: string) => {
    context.font = `72px ${family}`;
    return context.measureText("mmMwWliI@#10").width;
  };
  // Where a family is missing, the one behind it takes its place. Of two that differ in width, one may be the family itself.
  const plain = ["monospace", "serif"].map((family) => [family, width(family)] as const);
  const isThere = (family: string) => plain.some(([behind, usual]) => width(`"${family}",${behind}`) !== usual);
  return Object.entries(families).flatMap(([system, names]) => (names.some(isThere) ? system : []));
}
