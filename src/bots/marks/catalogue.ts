/** Checks and loads lists of agents' marks. The shipped one is `catalogue.json` (sources in `SOURCES.md`). */
import { gzipSync } from "node:zlib";
import { readAsset } from "../../assets.js";
import { isJsonObject } from "../../contract/api/json-body.js";
import {
  type AgentMarkCatalogue,
  type AgentMarkEntry,
  type AgentMarkKind,
  agentMarkKinds,
  agentMarkQuestions,
  agentMarkText,
} from "../../contract/bots/agent-marks.js";
import { unknownAgent } from "../../contract/bots/agents.js";
import { botCategories } from "../../contract/bots/bot-categories.js";
import { limits } from "../../limits.js";
import {
  type CatalogueFault,
  checkFile,
  checkWord,
  fault,
  isCatalogueFault,
  isLine,
  lineFault,
} from "../catalogue-file.js";
// Only for the compiler, which then copies the file beside the compiled module; it is read below, when it is asked for.
import type shippedFile from "./catalogue.json";

/**
 * The list, or the first fault found: one bad entry refuses the whole list, and so does a list that is too long for browsers
 * (`limits.agentMarkGzipBytesMax`). Unknown keys are ignored. An empty list is fine: then nobody is known by marks. A `stored` list may have entries that
 * earlier builds took though they meet nothing.
 */
export function checkAgentMarks(value: unknown, from: "file" | "stored" = "file"): AgentMarkCatalogue | CatalogueFault {
  const file = checkFile(value, "entries", limits.agentMarkEntriesMax, (each, at) => {
    const entry = checkEntry(each, at);
    return from === "stored" || isCatalogueFault(entry) ? entry : (vainEntry(entry, at) ?? entry);
  });
  if (isCatalogueFault(file)) return file;
  const { version, entries } = file;
  const byMark = new Map<string, AgentMarkEntry>();
  for (const [index, entry] of entries.entries()) {
    const held = byMark.get(agentMarkText(entry));
    if (held !== undefined) {
      const whose = held.name === entry.name ? "" : ", which is another agent";
      const where = `entries[${entries.indexOf(held)}] too${whose}`;
      return fault(`entries[${index}].value`, `${JSON.stringify(entry.value)} is that of ${where}`);
    }
    byMark.set(agentMarkText(entry), entry);
  }
  const bytes = gzipSync(JSON.stringify(agentMarkQuestions(entries)), { level: 9 }).length;
  if (bytes > limits.agentMarkGzipBytesMax) {
    return fault(
      "entries",
      `are ${bytes} bytes gzipped for browsers: at most ${limits.agentMarkGzipBytesMax} are allowed`,
    );
  }
  return { version, entries };
}

/** The list with these entries added, which win over entries of the same mark; under the version of what was added. Not checked. */
export function mergeAgentMarks(current: AgentMarkCatalogue, added: AgentMarkCatalogue): AgentMarkCatalogue {
  const marks = new Set(added.entries.map(agentMarkText));
  const kept = current.entries.filter((entry) => !marks.has(agentMarkText(entry)));
  return { version: added.version, entries: [...kept, ...added.entries] };
}

/** What is wrong with the stored marks that were taken out of the list, or null. */
export function retiredAgentMarksFault(value: unknown): string | null {
  if (!Array.isArray(value) || value.length > limits.agentMarksRetiredMax) return "is no list of retired marks";
  for (const [index, mark] of value.entries()) {
    const entry = checkEntry(isJsonObject(mark) ? { ...mark, operator: "-", source: "-" } : mark, `[${index}]`);
    if (isCatalogueFault(entry)) return entry.message;
  }
  return null;
}

/** The list that comes with verdictd. Reads the file, which a test holds to the check. */
export function shippedAgentMarks(): AgentMarkCatalogue {
  const file: typeof shippedFile = JSON.parse(readAsset("src/bots/marks/catalogue.json").toString("utf8"));
  return file as AgentMarkCatalogue;
}

function checkEntry(entry: unknown, at: string): AgentMarkEntry | CatalogueFault {
  if (!isJsonObject(entry)) return fault(at, "must be an object {name, operator, category, kind, value, source}");
  const { name, operator, category, kind, value, source } = entry;
  for (const [key, text, charactersMax] of [
    ["name", name, limits.nameMax],
    ["operator", operator, limits.nameMax],
    ["source", source, limits.agentMarkSourceMax],
  ] as const) {
    if (!isLine(text, charactersMax)) return lineFault(`${at}.${key}`, charactersMax);
  }
  const knownCategory = checkWord(botCategories, category, `${at}.category`);
  if (typeof knownCategory !== "string") return knownCategory;
  const knownKind = checkWord(agentMarkKinds, kind, `${at}.kind`);
  if (typeof knownKind !== "string") return knownKind;
  const wrong = typeof value === "string" ? wrongValue(knownKind, value) : expectedValue;
  if (wrong !== null) return fault(`${at}.value`, wrong);
  return {
    name: name as string,
    operator: operator as string,
    category: knownCategory,
    kind: knownKind,
    value: value as string,
    source: source as string,
  };
}

/** What is well formed and yet can't be meant: a mark that no page has, and the name of those of whom no name is known. */
function vainEntry({ name, kind, value }: AgentMarkEntry, at: string): CatalogueFault | null {
  if (name.toLowerCase() === unknownAgent.name) {
    return fault(`${at}.name`, `must be another than ${unknownAgent.name}, which is who is known by behavior alone`);
  }
  if ((kind === "element" || kind === "stylesheet") && /^#|[[\]]/.test(value)) {
    return fault(`${at}.value`, "must be an id as the page has it, without # and no selector");
  }
  return kind === "global" && /^window[.[]/.test(value) ? fault(`${at}.value`, "must be without window.") : null;
}

const expectedValue =
  `must be ${limits.agentMarkValueMin} to ${limits.agentMarkValueMax} printable ASCII characters without spaces, quotes and commas, ` +
  "and with * at most at its end";

/** Returns what is wrong with the value of a mark of this kind, or null. */
function wrongValue(kind: AgentMarkKind, value: string): string | null {
  if (value.length > limits.agentMarkValueMax || !/^[!#-&(-+\--;=?-_a-~]+$/.test(value)) return expectedValue;
  const name = (kind === "attribute" ? withoutElement(value) : value).replace(/\*$/, "");
  if (name.includes("*") || name.length < limits.agentMarkValueMin) return expectedValue;
  if (kind === "attribute" && !/^[A-Za-z_][\w:.-]*$/.test(name)) {
    return "must be an attribute's name, or html[name], head[name] or body[name]";
  }
  if (kind === "event" && value.endsWith("*")) return "must be a whole name: browsers can listen for no other events";
  const isOrdinary = ordinaryNames[kind]?.some((each) => (value.includes("*") ? each.startsWith(name) : each === name));
  return isOrdinary === true ? `${JSON.stringify(value)} is in ordinary pages too` : null;
}

/** `html[name]` is `name`. */
function withoutElement(value: string): string {
  return /^(?:html|head|body)\[([^[\]]*)\]$/.exec(value)?.[1] ?? value;
}

/** A mark that one of these meets would name most visitors an agent. */
const ordinaryNames: Partial<Record<AgentMarkKind, readonly string[]>> = {
  attribute: [
    "class",
    "style",
    "lang",
    "title",
    "tabindex",
    "hidden",
    "role",
    "content",
    "charset",
    "media",
    "href",
    "name",
    "async",
  ],
  global: [
    "window",
    "document",
    "location",
    "navigator",
    "history",
    "screen",
    "self",
    "frames",
    "parent",
    "opener",
    "chrome",
    "origin",
    "verdictd",
    "performance",
    "localStorage",
    "sessionStorage",
    "console",
    "fetch",
    "webkitURL",
    "clientInformation",
    "gtag",
    "dataLayer",
    "jQuery",
    "__NEXT_DATA__",
    "__NUXT__",
    "__REACT_DEVTOOLS_GLOBAL_HOOK__",
    "__core-js_shared__",
  ],
  event: [
    "load",
    "click",
    "scroll",
    "resize",
    "focus",
    "blur",
    "input",
    "change",
    "submit",
    "keydown",
    "keyup",
    "mousemove",
    "mousedown",
    "pointermove",
    "pointerdown",
    "touchstart",
    "wheel",
    "visibilitychange",
    "DOMContentLoaded",
    "message",
    "verdictd",
  ],
  element: ["root", "main", "__next", "header", "footer", "content"],
  stylesheet: ["http", "https", "style", "css/", ".css", "main", "assets"],
};
