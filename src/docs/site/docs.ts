/** The search box, the copy buttons and the folded sections of `/docs`. Every page can be read without this script. */
import type { SearchSection } from "../search-index.js";
import { rankedSections, wordsOf } from "../search-ranking.js";

const resultsMax = 12;
const excerptChars = 140;

for (const block of document.querySelectorAll("pre")) {
  const frame = document.createElement("div");
  frame.className = "code";
  block.replaceWith(frame);
  frame.append(block, copyButton(block));
}
addSearch();
openTarget();
addEventListener("hashchange", openTarget);

/** Opens what is folded around the target of the address, and under its heading. */
function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target?.closest("details");
  if (!target || !folded) return;
  folded.open = true;
  target.scrollIntoView();
}

function copyButton(block: HTMLElement): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.textContent ?? "");
      button.textContent = "Copied";
    } catch {
      // Without the permission, or over plain http, the text is selected for the reader to copy.
      getSelection()?.selectAllChildren(block);
      button.textContent = "Selected";
    }
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  });
  return button;
}

function addSearch(): void {
  const search = document.querySelector<HTMLElement>("search");
  const form = search?.querySelector("form");
  const input = search?.querySelector("input");
  const list = document.querySelector<HTMLElement>("#search-results");
  const status = document.querySelector<HTMLElement>("#search-status");
  if (!search || !form || !input || !list || !status) return;
  search.hidden = false;
  let sections: Promise<SearchSection[]> | null = null;
  const load = (): Promise<SearchSection[]> => {
    sections ??= fetch("/docs/search.json").then((answer) => answer.json() as Promise<SearchSection[]>);
    return sections;
  };
  const show = async (): Promise<void> => {
    const words = wordsOf(input.value);
    const found = words.length === 0 ? [] : rankedSections(words, await load()).slice(0, resultsMax);
    // A slower answer must not replace that of what was typed since.
    if (words.join(" ") !== wordsOf(input.value).join(" ")) return;
    list.hidden = words.length === 0;
    status.textContent = words.length === 0 ? "" : found.length === 0 ? "Nothing found" : `${found.length} results`;
    list.replaceChildren(...found.map((section) => resultOf(section, words)));
  };
  input.addEventListener("focus", () => void load());
  input.addEventListener("input", () => void show());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  search.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    input.value = "";
    void show();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement)
      return;
    event.preventDefault();
    input.focus();
  });
}

function resultOf({ path, page, heading, text }: SearchSection, words: readonly string[]): HTMLElement {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = path;
  link.textContent = heading === page ? page : `${page}: ${heading}`;
  const excerpt = document.createElement("p");
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]!) - excerptChars / 3);
  excerpt.textContent = `${at > 0 ? "…" : ""}${text.slice(at, at + excerptChars)}${text.length > at + excerptChars ? "…" : ""}`;
  item.append(link, excerpt);
  return item;
}
