/** The search box and the copy buttons of `/docs`. Every page can be read without this script. */

interface Section {
  readonly path: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

const resultsMax = 12;
const excerptChars = 140;

for (const block of document.querySelectorAll("pre")) {
  const frame = document.createElement("div");
  frame.className = "code";
  block.replaceWith(frame);
  frame.append(block, copyButton(block));
}
addSearch();

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
  let sections: Promise<Section[]> | null = null;
  const load = (): Promise<Section[]> => {
    sections ??= fetch("/docs/search.json").then((answer) => answer.json() as Promise<Section[]>);
    return sections;
  };
  const show = async (): Promise<void> => {
    const words = wordsOf(input.value);
    const found = words.length === 0 ? [] : sectionsWith(words, await load());
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

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/** Sections that hold every word, best first: pages of that name, headings of pages, routes, names of schemas, text. */
function sectionsWith(words: readonly string[], sections: readonly Section[]): Section[] {
  return sections
    .map((section) => ({ section, rank: rankOf(section, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank)
    .slice(0, resultsMax)
    .map(({ section }) => section);
}

const route = /^[A-Z]+ \//;
const schemaName = /^[A-Z][A-Za-z]*$/;

function rankOf(section: Section, words: readonly string[]): number {
  const { page, heading, text } = section;
  const isPage = heading === page;
  const [inHeading, inText] = route.test(heading)
    ? [8, 0.5]
    : !isPage && page === "API" && schemaName.test(heading)
      ? [4, 0.5]
      : [isPage ? 40 : 15, 1];
  let rank = 0;
  for (const word of words) {
    const found = inHeading * shareOf(word, heading) + 5 * shareOf(word, page) + inText * 3 * shareOf(word, text);
    if (found === 0) return 0;
    rank += found;
  }
  return rank + 1 / (1 + text.length);
}

/** 1 for a whole word of the text, less for the start of one, little for a part of one, 0 where it is not there. */
function shareOf(word: string, text: string): number {
  const lower = text.toLowerCase();
  let best = 0;
  for (let at = lower.indexOf(word); at >= 0 && best < 1; at = lower.indexOf(word, at + 1)) {
    const starts = at === 0 || /\W/.test(lower[at - 1]!);
    const ends = at + word.length === lower.length || /\W/.test(lower[at + word.length]!);
    best = Math.max(best, starts && ends ? 1 : starts ? 0.6 : 0.2);
  }
  return best;
}

function resultOf({ path, page, heading, text }: Section, words: readonly string[]): HTMLElement {
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
