/** Links between the Markdown files lead somewhere on a Git host; those of the pages at `/docs` are held by `pages.test.ts`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { deadLinks } from "./links.js";
import { documents } from "./samples.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));

t.test("every link leads to a file of the repository, and to a heading of it", async (t) => {
  const found = documents();
  t.ok(found.size > 50);
  t.same(
    deadLinks(found, (path) => existsSync(join(root, path))),
    [],
  );
});

t.test("a link that leads nowhere is noticed", async (t) => {
  const files = new Map([
    [
      "src/a.md",
      "# A b, c\n## A b, c\n[x](#a-b-c) [x](#a-b-c-1) [y](../b.md#b) ![z](z.svg) [d](d/) [w](https://a.example)\n",
    ],
    [
      "b.md",
      "# `B`\n[1](#c) [2](src/c.md) [3](src/a.md#b) [4](/docs) [5](http://a.example) [6](../x.md)\n\n```\n[7](no.md)\n```\n",
    ],
  ]);
  t.same(
    deadLinks(files, (path) => ["src/z.svg", "src/d/"].includes(path)),
    [
      "b.md: #c: no such heading",
      "b.md: src/c.md: no such file",
      "b.md: src/a.md#b: no such heading",
      "b.md: /docs: not relative",
      "b.md: http://a.example: neither https nor a file",
      "b.md: ../x.md: no such file",
    ],
  );
});
