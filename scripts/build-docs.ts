/**
 * Renders the documentation (README.md, `src/docs/*.md`, the decision records) to pages below `dist/docs`, with the table of commands. Other parts that
 * depend on the program's own lists are left as marks, which the server fills in when it starts. A link that leads nowhere fails the build.
 */
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Marked, type Tokens } from "marked";
import { escapeHtml, slugOf } from "../src/docs/html.js";
import { commandTable } from "./command-table.js";

/** The menu: groups of pages, each of which is `src/docs/NAME.md`. The first page is the README. */
const menu = {
  "Get started": [
    ["", "Overview"],
    ["quick-start", "Quick start"],
    ["concepts", "Concepts"],
    ["install", "Install"],
  ],
  "Protect a site": [
    ["integrate", "Integrate"],
    ["any-language", "From any language"],
    ["frontends", "Frameworks in the page"],
    ["requests", "Judging requests"],
    ["challenge", "Challenge"],
    ["protect", "What to protect how"],
    ["rules", "Rules"],
    ["testing", "Testing your site"],
    ["tuning", "Tuning"],
    ["analysis", "Find sessions"],
    ["under-attack", "Under attack"],
    ["alerts", "Alerts"],
  ],
  Operate: [
    ["operations", "Operations"],
    ["cluster", "More than one machine"],
    ["configuration", "Configuration"],
    ["command-line", "Command line"],
  ],
  Reference: [
    ["api", "API"],
    ["detections", "Detections"],
    ["signed-agents", "Signed agents"],
    ["agents", "AI agents"],
    ["events", "What is collected"],
  ],
  Background: [
    ["figures", "Figures"],
    ["performance", "Performance"],
    ["security", "Security"],
    ["comparison", "Comparison"],
    ["architecture", "Architecture"],
    ["decisions", "Decisions"],
    ["dependencies", "Dependencies"],
  ],
} as const;

/** Files that the server which shows the documentation has too. Not links in the sources: a Git host has no such file. */
const served = ["/openapi.json", "/v1/detections", "/v1/signed-agents"];

const pages: readonly (readonly [name: string, title: string])[] = Object.values(menu).flat();

/** Renders every page; throws when the menu and the folder differ. */
export async function buildDocs(root: string): Promise<void> {
  const source = join(root, "src/docs");
  const target = join(root, "dist/docs");
  const template = await readFile(join(source, "template.html"), "utf8");
  await checkMenu(source);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await cp(join(source, "pictures"), join(target, "pictures"), { recursive: true });
  for (const [index, [name, title]] of pages.entries()) {
    const path = name === "" ? join(root, "README.md") : join(source, `${name}.md`);
    const appended = name === "decisions" ? await decisionRecords(join(source, "decisions")) : "";
    const body = render((await readFile(path, "utf8")) + appended, path);
    const parts: Readonly<Record<string, string>> = {
      TITLE: escapeHtml(title),
      NAV: menuHtml(name),
      NEIGHBOURS: neighbours(index),
      BODY: body,
    };
    const html = template.replace(/__([A-Z]+)__/g, (mark, part: string) => parts[part] ?? mark);
    await writeFile(join(target, `${name || "index"}.html`), html);
  }
}

async function checkMenu(source: string): Promise<void> {
  const files = (await readdir(source)).filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -3));
  const listed = pages.map(([name]) => name);
  const missing = files.filter((name) => !listed.includes(name));
  if (missing.length > 0) throw new Error(`pages that the menu of /docs does not list: ${missing.join(", ")}`);
}

/** The records in the order of their numbers, each a section of the page. */
async function decisionRecords(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".md")).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  // A record lies one folder deeper than the page that it becomes a part of.
  return texts.map((text) => `\n#${text.replaceAll("](../", "](")}`).join("");
}

function menuHtml(current: string): string {
  return Object.entries(menu)
    .map(([group, listed]) => {
      const items = listed.map(([name, title]) => {
        const mark = name === current ? ' aria-current="page"' : "";
        return `<li><a href="${pathOf(name)}"${mark}>${escapeHtml(title)}</a></li>`;
      });
      return `<p>${escapeHtml(group)}</p><ul>${items.join("")}</ul>`;
    })
    .join("");
}

function neighbours(index: number): string {
  const link = (page: (typeof pages)[number] | undefined, rel: string, word: string): string =>
    page === undefined ? "" : `<a rel="${rel}" href="${pathOf(page[0])}">${word}: ${escapeHtml(page[1])}</a>`;
  return link(pages[index - 1], "prev", "Previous") + link(pages[index + 1], "next", "Next");
}

function pathOf(name: string): string {
  return name === "" ? "/docs" : `/docs/${name}`;
}

function render(markdown: string, file: string): string {
  const slugs = new Map<string, number>();
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const html = this.parser.parseInline(tokens);
        const slug = slugOf(text);
        const count = slugs.get(slug) ?? 0;
        slugs.set(slug, count + 1);
        const id = count === 0 ? slug : `${slug}-again-${count}`;
        return `<h${depth} id="${id}">${html}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const target = resolved(href, file);
        const text = this.parser.parseInline(tokens);
        return target === null
          ? `${text} (<code>${escapeHtml(href)}</code>)`
          : `<a href="${escapeHtml(target)}">${text}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        return href.endsWith(".webp") ? photograph(href, text) : inlinePlot(join(dirname(file), href));
      },
      codespan({ text }: Tokens.Codespan) {
        return served.includes(text) && `<a href="${text}"><code>${text}</code></a>`;
      },
      code({ text }: Tokens.Code) {
        return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`;
      },
      html({ text }: Tokens.HTML | Tokens.Tag) {
        // Marks for generated parts stay; other comments are for those who read the source.
        return /^<!-- generated: [a-z-]+ -->\s*$/.test(text) || !text.startsWith("<!--") ? text : "";
      },
    },
  });
  const body = marked.parse(markdown, { async: false });
  return body
    .replaceAll("<table>", '<div class="table" tabindex="0"><table>')
    .replaceAll("</table>", "</table></div>")
    .replace("<!-- generated: commands -->", commandTable);
}

/** A picture that `scripts/pictures.ts` made, dark where the page is. */
function photograph(href: string, text: string): string {
  const path = `/docs/pictures/${basename(href, ".webp")}`;
  const size = 'width="1280" height="800" loading="lazy"';
  return (
    `<picture><source srcset="${path}-dark.webp" media="(prefers-color-scheme: dark)">` +
    `<img src="${path}.webp" alt="${escapeHtml(text)}" ${size}></picture>`
  );
}

/**
 * A plot of the bench as a part of the page: the pages' policy allows no image, and so it takes the page's colours. Its own style and
 * background, for those who see it as a file, are left out.
 */
function inlinePlot(file: string): string {
  if (!file.endsWith(".svg")) throw new Error(`pages show SVG only: ${file}`);
  const svg = readFileSync(file, "utf8").replace(/<style>[^<]*<\/style>\n|<rect [^>]*class="back"\/>\n/g, "");
  if (/<style|<script|\s(?:style|on[a-z]+|href)=/i.test(svg))
    throw new Error(`a picture may hold neither style, script nor link: ${file}`);
  return svg.replaceAll("\n", "");
}

/** The page that a link between the Markdown files means; null for another file of the repository, which no page shows. */
function resolved(href: string, file: string): string | null {
  if (/^(https?:|mailto:|#|\/)/.test(href)) return href;
  const found = /^(?:\.\.\/\.\.\/(README)\.md|(?:src\/docs\/)?([a-z-]+)\.md)(#.*)?$/.exec(href);
  const name = found?.[1] === "README" ? "" : found?.[2];
  if (name !== undefined && pages.some(([listed]) => listed === name)) return pathOf(name) + (found?.[3] ?? "");
  if (existsSync(join(dirname(file), href))) return null;
  throw new Error(`${file}: a link to nowhere: ${href}`);
}
