/** Whose operating system's own fonts are here: one family or two of each, measured and not drawn. Says nothing else of what is installed. */

import { nextTask } from "../page-hooks.js";

const families = {
  windows: ["Segoe UI"],
  mac: ["Menlo", "Helvetica Neue"],
  linux: ["DejaVu Sans", "Liberation Sans", "Noto Sans", "Ubuntu", "Cantarell"],
};

/** Names of systems, such as `windows`; undefined where text can't be measured off the screen. Each family takes a task of its own. */
export async function systemFonts(): Promise<string[] | undefined> {
  const context = new OffscreenCanvas(1, 1).getContext("2d");
  if (!context) return undefined;
  const width = async (family: string) => {
    await nextTask();
    context.font = `72px ${family}`;
    return context.measureText("mmMwWliI@#10").width;
  };
  // Where a family is missing, the one behind it takes its place. Of two that differ in width, one may be the family itself.
  const plain = new Map<string, number>();
  for (const behind of ["monospace", "serif"]) plain.set(behind, await width(behind));
  const found = new Set<string>();
  for (const [system, names] of Object.entries(families)) {
    for (const name of names) {
      for (const [behind, usual] of plain) {
        if (!found.has(system) && (await width(`"${name}",${behind}`)) !== usual) found.add(system);
      }
    }
  }
  return [...found];
}
