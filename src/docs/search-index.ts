/** What the search of `/docs` looks through: every section of every page as text. Pure; made once, when it is first asked for. */

/** One section: a heading and the text up to the next one. */
export interface SearchSection {
  /** Page and fragment: `/docs/rules#operators`. */
  readonly path: string;
  readonly page: string;
  readonly heading: string;
  /** Without markup, spaces collapsed; at most `textMax` characters. */
  readonly text: string;
}

/** Long sections are tables: what they are about stands at their beginning. */
const textMax = 4000;

/** The sections of complete pages, in the order of the pages. */
export function searchSections(pages: readonly { readonly path: string; readonly html: string }[]): SearchSection[] {
  return pages.flatMap(({ path, html }) => {
    const main = html.slice(html.indexOf('<main id="content">'), html.lastIndexOf("</main>"));
    const page = textOf(/<h1[^>]*>([\s\S]*?)<\/h1>/.exec(main)?.[1] ?? path);
    return main
      .split(/(?=<h[123] id=")/)
      .slice(1)
      .map((part) => {
        const [, id, heading] = /^<h\d id="([^"]+)">([\s\S]*?)<\/h\d>/.exec(part) ?? [];
        const text = textOf(part.replace(/^<h\d[\s\S]*?<\/h\d>/, "")).slice(0, textMax);
        return { path: `${path}#${id}`, page, heading: textOf(heading ?? ""), text };
      });
  });
}

/** Text of HTML that this program wrote: tags go, character references come back. */
function textOf(html: string): string {
  return html
    .replace(/<svg[\s\S]*?<\/svg>|<[^>]*>/g, " ")
    .replace(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)))
    .replace(/&(lt|gt|amp|quot);/g, (_, name: keyof typeof named) => named[name])
    .replace(/\s+/g, " ")
    .trim();
}

const named = { lt: "<", gt: ">", amp: "&", quot: '"' } as const;
