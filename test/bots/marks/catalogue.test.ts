/** A list of agents' marks is taken whole or refused whole; the shipped one passes the same check. */
import { randomBytes } from "node:crypto";
import t from "tap";
import { isCatalogueFault } from "../../../src/bots/catalogue-file.js";
import { createAgentMarks } from "../../../src/bots/marks/agent-marks.js";
import {
  checkAgentMarks,
  mergeAgentMarks,
  retiredAgentMarksFault,
  shippedAgentMarks,
} from "../../../src/bots/marks/catalogue.js";
import { type AgentMarkCatalogue, agentMarkText } from "../../../src/contract/bots/agent-marks.js";
import { limits } from "../../../src/limits.js";

const good = {
  name: "Example agent",
  operator: "Example",
  category: "ai_agent",
  kind: "element",
  value: "example-agent-*",
  source: "https://example.com, 2026-11-26",
};

function faultOf(value: unknown): { at: string; message: string } {
  const checked = checkAgentMarks(value);
  return isCatalogueFault(checked) ? checked : { at: "none", message: "" };
}

t.test("the shipped list is sound: each mark has a source and a date, and names one agent", async (t) => {
  const { entries } = shippedAgentMarks();
  t.strictSame(checkAgentMarks(shippedAgentMarks()), shippedAgentMarks(), "serving does not check it again");
  t.ok(entries.length >= 30 && entries.length <= limits.agentMarkEntriesMax);
  t.strictSame(
    entries.filter(({ source }) => !/^https:\/\/.*\d{4}-\d\d-\d\d$/.test(source)),
    [],
  );
  const marks = createAgentMarks({ version: "1", entries });
  for (const entry of entries) t.equal(marks.of(agentMarkText(entry))?.name, entry.name);
  for (const [mark, name] of [
    ["element:claude-agent-glow-border*", "Claude in Chrome"],
    ["element:codex-agent-overlay-root", "Codex"],
    ["attribute:data-browser-use-*", "browser-use"],
    ["attribute:head[manus-helper-ready]", "Manus"],
    ["global:GlobalSkyvernFrameIndex", "Skyvern"],
    ["global:__FELLOU_TAB_ID__", "Fellou"],
    ["attribute:html[data-jetski-tab-id]", "Antigravity"],
    ["element:action-visual-indicator", "Magnitude"],
  ] as const) {
    t.strictSame(marks.of(mark), { name, category: "ai_agent", certainty: "marked" });
  }
});

t.test("of several marks the first that the list knows names the agent, and none nobody", async (t) => {
  const marks = createAgentMarks({ version: "1", entries: [{ ...good, category: "ai_agent", kind: "element" }] });
  t.equal(marks.of("global:unheard,element:example-agent-*")?.name, "Example agent");
  for (const each of ["", "element:example-agent-1", "constructor", "global:example-agent-*,"])
    t.equal(marks.of(each), undefined);
});

t.test("unknown keys are ignored, repeats refused, an empty list is fine", async (t) => {
  const entries = [{ ...good, note: 1 }];
  t.strictSame(checkAgentMarks({ version: "1", entries, source: "x" }), { version: "1", entries: [good] });
  t.strictSame(faultOf({ version: "1", entries: [good, good] }), {
    at: "entries[1].value",
    message: 'entries[1].value "example-agent-*" is that of entries[0] too',
  });
  t.strictSame(checkAgentMarks({ version: "1", entries: [] }), { version: "1", entries: [] });
});

t.test("what is added wins over what there was; marks that went out name after those in the list", async (t) => {
  const list = (...entries: object[]) => checkAgentMarks({ version: "1", entries }) as AgentMarkCatalogue;
  const other = { ...good, value: "other-agent" };
  const renamed = { ...good, name: "Renamed" };
  t.strictSame(mergeAgentMarks(list(good, other), list(renamed)).entries, [other, renamed]);
  const gone = { name: "Gone", category: "ai_agent", kind: "element", value: "gone-agent" } as const;
  const marks = createAgentMarks(list(renamed), [gone, { ...gone, name: "Example agent", value: good.value }]);
  t.match(marks.of("element:gone-agent,element:example-agent-*"), { name: "Gone", certainty: "marked" });
  t.match(marks.of("element:example-agent-*"), { name: "Renamed" });
  t.equal(retiredAgentMarksFault([gone]), null);
  for (const bad of [{}, [{ ...gone, kind: "id" }], [1], Array(limits.agentMarksRetiredMax + 1).fill(gone)]) {
    t.type(retiredAgentMarksFault(bad), "string");
  }
});

t.test("one bad entry refuses the whole list and says which", async (t) => {
  const long = (length: number) => "x".repeat(length);
  const changes: Record<string, readonly unknown[]> = {
    name: [undefined, "", 1, " x", "a\nb", long(256)],
    operator: [undefined, "", null],
    category: [undefined, "AI", "agent", 1],
    kind: [undefined, "", "id", "Element", 1],
    value: [
      undefined,
      "",
      "abc",
      "abc*",
      "*",
      "a*bcdef",
      "ab,cdef",
      "ab cdef",
      "ab'cdef",
      'ab"cdef',
      "ab<cdef",
      "äbcdef",
      7,
      long(81),
    ],
    source: [undefined, "", 1, long(301)],
  };
  for (const [key, values] of Object.entries(changes)) {
    for (const value of values) {
      const entries = [good, { ...good, value: "other-agent", [key]: value }];
      t.equal(faultOf({ version: "1", entries }).at, `entries[1].${key}`, `${key}: ${JSON.stringify(value)}`);
    }
  }
  for (const [kind, value] of [
    ["attribute", "class"],
    ["attribute", "html[style]"],
    ["attribute", "html[x"],
    ["attribute", "p[data-agent]"],
    ["attribute", "body[styl*]"],
    ["global", "document"],
    ["global", "docu*"],
    ["event", "click"],
    ["event", "keyd*"],
  ]) {
    t.equal(faultOf({ version: "1", entries: [{ ...good, kind, value }] }).at, "entries[0].value", `${kind} ${value}`);
  }
  for (const [vain, at] of [
    [{ value: "#example-agent" }, "value"],
    [{ kind: "stylesheet", value: "#example-agent" }, "value"],
    [{ value: "[id=example]" }, "value"],
    [{ kind: "global", value: "window.__example" }, "value"],
    [{ name: "Unknown Agent" }, "name"],
  ] as const) {
    const list = { version: "1", entries: [{ ...good, ...vain }] };
    t.equal(faultOf(list).at, `entries[0].${at}`, JSON.stringify(vain));
    t.notOk(isCatalogueFault(checkAgentMarks(list, "stored")), "a store may hold it from before");
  }
  t.equal(faultOf({ version: "1", entries: [good, { ...good, name: "Another" }] }).at, "entries[1].value");
  t.equal(faultOf({ version: "1", entries: [null] }).at, "entries[0]");
  t.equal(faultOf({ version: "", entries: [] }).at, "version");
  for (const value of [null, [], "x", 1]) t.equal(faultOf(value).at, "catalogue");
});

t.test("201 entries are refused, and as many as fit no browser's share", async (t) => {
  const many = (count: number, value: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => ({ ...good, value: value(index) }));
  t.equal(
    faultOf({ version: "1", entries: many(limits.agentMarkEntriesMax + 1, (index) => `mark-${index}`) }).at,
    "entries",
  );
  t.equal(
    faultOf({ version: "1", entries: many(limits.agentMarkEntriesMax, (index) => `mark-of-an-agent-${index}`) }).at,
    "none",
  );
  const { at, message } = faultOf({ version: "1", entries: many(200, () => randomBytes(40).toString("hex")) });
  t.equal(at, "entries");
  t.match(message, /are \d+ bytes gzipped for browsers: at most 4096 are allowed/);
});
