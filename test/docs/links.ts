/** Finds the links of Markdown files, and those that lead nowhere on a Git host. */
import { dirname, join, normalize } from "node:path";
import { Marked, type Token, type Tokens } from "marked";

/** A file's links and the ids of its headings, as a Git host makes them. */
interface Read {
  readonly links: readonly string[];
  readonly ids: ReadonlySet<string>;
}

/** One line for each link that leads nowhere. `exists` is asked for files that are none of the documents. */
export function deadLinks(documents: ReadonlyMap<string, string>, exists: (path: string) => boolean): string[] {
  const read = new Map([...documents].map(([file, text]) => [file, readMarkdown(text)]));
  return [...read].flatMap(([file, { links }]) =>
    links.flatMap((href) => {
      const why = faultOf(file, href, read, exists);
      return why === null ? [] : [`${file}: ${href}: ${why}`];
    }),
  );
}

function faultOf(
  file: string,
  href: string,
  read: ReadonlyMap<string, Read>,
  exists: (path: string) => boolean,
): string | null {
  // On the reader's own machine there is no certificate.
  if (/^(https:|mailto:|http:\/\/127\.0\.0\.1:)/.test(href)) return URL.canParse(href) ? null : "no address";
  if (/^[a-z]+:/i.test(href)) return "neither https nor a file";
  // A Git host takes it for one of its own pages.
  if (href.startsWith("/")) return "not relative";
  const [path = "", id] = href.split("#");
  const target = path === "" ? file : normalize(join(dirname(file), path));
  if (target.startsWith("..") || !(read.has(target) || exists(target))) return "no such file";
  if (id === undefined) return null;
  return read.get(target)?.ids.has(id) ? null : "no such heading";
}

function readMarkdown(text: string): Read {
  const links: string[] = [];
  const ids = new Set<string>();
  const marked = new Marked();
  marked.walkTokens(marked.lexer(text), (token: Token) => {
    if (token.type === "link" || token.type === "image") links.push((token as Tokens.Link | Tokens.Image).href);
    if (token.type !== "heading") return;
    const slug = slugOfHost((token as Tokens.Heading).text);
    const again = [...ids].filter((id) => id.replace(/-\d+$/, "") === slug).length;
    ids.add(again === 0 ? slug : `${slug}-${again}`);
  });
  return { links, ids };
}

/** As GitHub, GitLab and Forgejo: lower case, letters, digits, `_` and `-`, a hyphen for each space. */
function slugOfHost(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
}
