/** Marks of agents in real pages: there from the start, added late, each kind, and pages that only look like it. */
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { shippedAgentMarks } from "../../src/bots/marks/catalogue.js";
import type { AgentMarkEntry } from "../../src/contract/bots/agent-marks.js";
import { agentMarkText } from "../../src/contract/bots/agent-marks.js";
import type { IngestEvent } from "../../src/contract/events/events.js";
import { agentsFile, openSite, pageWith } from "../sdk/site.js";
import { launch, noChromium, skipFileIf } from "../support/chromium.js";

skipFileIf(t, noChromium);

const browser = await launch(t);
const { version, entries: shipped } = shippedAgentMarks();
const base = { name: "Example", operator: "Example", category: "ai_agent", source: "test" } as const;
const more: AgentMarkEntry[] = [
  { ...base, kind: "event", value: "example-agent-acts" },
  { ...base, kind: "stylesheet", value: "example-agent/style" },
  { ...base, kind: "attribute", value: "body[data-example]" },
  { ...base, kind: "attribute", value: "html[data-any-*]" },
  { ...base, kind: "global", value: "__exampleAgent*" },
];
const entries = [...shipped, ...more];

/** A script that sets the mark as its agent would, in the page; a final `*` as some text. */
function settingMark({ kind, value }: AgentMarkEntry): string {
  const own = /^(\w+)\[(.*)\]$/.exec(value);
  const text = JSON.stringify((own?.[2] ?? value).replace(/\*$/, "42"));
  const element = (name: string, where: string, set: string) =>
    `{ const each = document.createElement("${name}"); ${set}; document.${where}.append(each) }`;
  switch (kind) {
    case "global":
      return `window[${text}] = 1`;
    case "event":
      return `document.dispatchEvent(new Event(${text}))`;
    case "element":
      return element("div", "body", `each.id = ${text}`);
    case "stylesheet":
      return value.includes("/")
        ? element("link", "head", `each.setAttribute("href", "/" + ${text} + ".css")`)
        : element("style", "head", `each.id = ${text}`);
    case "attribute":
      return own === null
        ? element("i", "body", `each.setAttribute(${text}, "true")`)
        : `document.querySelector("${own[1]}").setAttribute(${text}, "true")`;
  }
}

/** The marks that an event reports; an attribute is looked at before each report, so something else has to be under way. */
const marksOf = ({ payload }: IngestEvent): readonly string[] => (payload.agent_marks as string[] | undefined) ?? [];

async function openPage(t: Test, body?: string) {
  const site = await openSite(t);
  site.pages.set("/sdk-agents.js", agentsFile({ version, entries }));
  site.pages.set("/", pageWith('data-interval="250"', body));
  const page = await browser.newPage();
  t.teardown(() => page.close());
  const loaded = page.waitForResponse((response) => response.url().endsWith("/sdk-agents.js"));
  await page.goto(site.origin);
  await loaded;
  // The look at the start is over once the page's second report is here.
  await site.event("timing");
  return { site, page };
}

async function nudge(page: Page): Promise<void> {
  await page.evaluate("document.body.click()");
}

t.test("each mark is found when it is set in an open page, and nothing else is", async (t) => {
  for (const group of [entries.slice(0, 20), entries.slice(20)]) {
    const { site, page } = await openPage(t);
    t.notOk(
      site.posts.some(({ text }) => text.includes("agent_marks")),
      "an ordinary page has none",
    );
    for (const entry of group) await page.evaluate(settingMark(entry));
    await nudge(page);
    for (const entry of group) {
      const mark = agentMarkText(entry);
      t.ok(await site.event("env", (event) => marksOf(event).includes(mark)), mark);
    }
    await nudge(page);
    await site.event("click");
    const all = site.posts.flatMap(({ batch }) => batch.events.flatMap(marksOf));
    t.strictSame([...all].sort(), group.map(agentMarkText).sort(), "each once, and no other");
  }
});

t.test("marks that are there before the script are found at once", async (t) => {
  const site = await openSite(t);
  const body = `<div><div id="claude-phantom-cursor-plain"></div></div><style id="gs-overlay-cursor-style"></style>
    <script>GlobalSkyvernFrameIndex = 0; document.documentElement.setAttribute("data-jetski-tab-id", "1")</script>`;
  site.pages.set("/", pageWith('data-interval="250"', body));
  const page = await browser.newPage();
  t.teardown(() => page.close());
  await page.goto(site.origin);
  const event = await site.event("env", (each) => marksOf(each).length > 0);
  t.strictSame([...marksOf(event)].sort(), [
    "attribute:html[data-jetski-tab-id]",
    "element:claude-phantom-cursor*",
    "global:GlobalSkyvernFrameIndex",
    "stylesheet:gs-overlay-cursor-style",
  ]);
});

t.test(
  "what only looks like a mark is none: elsewhere in the page, another element's attribute, a named element",
  async (t) => {
    const { site, page } = await openPage(t);
    // A site's own class, text, deep content, an element whose id reads like a global, and another element's attributes.
    await page.evaluate(`
    const box = document.createElement("section");
    box.innerHTML = '<p class="claude-agent-glow-border">#codex-agent-overlay-root</p><i id="claude-phantom-cursor"></i>';
    const form = document.createElement("form");
    form.id = "GlobalSkyvernFrameIndex";
    form.innerHTML = '<input name="id">';
    const other = document.createElement("div");
    other.setAttribute("data-jetski-tab-id", "1");
    other.setAttribute("manus-helper-ready", "1");
    document.body.append(box, form, other);
  `);
    await nudge(page);
    await site.event("click");
    t.notOk(site.posts.some(({ text }) => text.includes("agent_marks")));
  },
);

t.test("an attribute is seen that is gone before the next report, and one of a new body", async (t) => {
  const { site, page } = await openPage(t);
  await page.evaluate(`(async () => {
    document.documentElement.setAttribute("data-jetski-tab-id", "1");
    await Promise.resolve();
    document.documentElement.removeAttribute("data-jetski-tab-id");
  })()`);
  await site.event("env", (event) => marksOf(event).includes("attribute:html[data-jetski-tab-id]"));
  await page.evaluate(`(async () => {
    const body = document.createElement("body");
    document.body.replaceWith(body);
    await Promise.resolve();
    body.setAttribute("data-browser-use-highlight", "1");
  })()`);
  const event = await site.event("env", (each) => marksOf(each).includes("attribute:data-browser-use-*"));
  t.strictSame(marksOf(event), ["attribute:data-browser-use-*"]);
});

t.test("a report costs little in a page of 50,000 elements, and the file is small", async (t) => {
  const { page } = await openPage(t, `<main>${"<i></i>".repeat(50_000)}</main>`);
  // Counted instead of timed: no look-up in the tree, no layout.
  const asked = (await page.evaluate(`(async () => {
    const counts = {};
    const count = (target, name) => {
      const before = target[name];
      target[name] = function (...given) {
        counts[name] = (counts[name] ?? 0) + 1;
        return before.apply(this, given);
      };
    };
    for (const name of ["querySelector", "querySelectorAll", "getElementById"]) count(Document.prototype, name);
    for (const name of ["getClientRects", "querySelectorAll"]) count(Element.prototype, name);
    const sent = new Promise((resolve) => {
      new PerformanceObserver((list) => {
        if (list.getEntries().some(({ name }) => name.endsWith("/v1/events"))) resolve();
      }).observe({ type: "resource" });
    });
    document.body.click();
    await sent;
    return counts;
  })()`)) as Record<string, number>;
  t.strictSame(asked, {}, "nothing is looked for in the tree");
  const marks = JSON.stringify(shipped.map(agentMarkText));
  t.ok(gzipSync(marks, { level: 9 }).length <= 4096);
});
