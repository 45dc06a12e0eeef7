/**
 * `/sdk-agents.js`: looks for the traces that AI agents leave in the pages they work in. The SDK's second file imports it; the server adds `marks`, what to
 * look for, at its end. Loads nothing, changes nothing, asks for no layout; what it finds is recorded, each mark once.
 */
import type { AgentMarkKind } from "../../contract/bots/agent-marks.js";
import { doc } from "../bare.js";
import { attempt, type PageHooks } from "../page-hooks.js";
import { stackProbe } from "../probes/stack-probe.js";
import type { Recorder } from "../recorder.js";
import { watchActs } from "./acts.js";

export { joinEvents } from "./joined-events.js";

/** Values by kind, as the server tells them. */
type Marks = Partial<Record<AgentMarkKind, string[]>>;

/** When the console is asked again: after so long, and then at most so often, while there is input. */
const firstTrapMs = 10_000;
const trapEveryMs = 60_000;
/** Children of an element whose attributes are read at the start. */
const childrenMax = 1000;

/** Where a mark was looked for: a name with all that must be so of it, by which a value is found quickly. */
interface Names {
  /** The value that this text meets; undefined for none. */
  of(text: string): string | undefined;
}

function namesOf(values: readonly string[]): Names {
  const whole = new Set(values.filter((each) => !each.endsWith("*")));
  const begun = values.filter((each) => each.endsWith("*")).map((each) => each.slice(0, -1));
  return {
    of(text) {
      if (whole.has(text)) return text;
      for (const each of begun) if (text.startsWith(each)) return `${each}*`;
      return undefined;
    },
  };
}

/** Starts to look. Called by position, since the files that call it shorten their names. */
export function watch(
  record: Recorder["record"],
  listen: PageHooks["listen"],
  later: PageHooks["later"],
  onDrain: Recorder["onDrain"],
  marks: Marks,
): void {
  const values = (kind: AgentMarkKind) => marks[kind] ?? [];
  const told = new Set<string>();
  let fresh: string[] = [];
  const find = (kind: AgentMarkKind, value: string | undefined) => {
    if (value === undefined) return;
    const mark = `${kind}:${value}`;
    if (told.has(mark)) return;
    told.add(mark);
    fresh.push(mark);
  };
  const tell = () => {
    const agent_marks = fresh;
    fresh = [];
    if (agent_marks.length) record("env", { agent_marks });
  };

  const ids = namesOf(values("element"));
  const sheets = namesOf(values("stylesheet"));
  const addresses = values("stylesheet").map((each) => [each, each.replace(/\*$/, "")] as const);
  const ofRoots: Record<string, Names> = {};
  for (const root of ["html", "head", "body"]) {
    const own = values("attribute").filter((each) => each.startsWith(`${root}[`));
    ofRoots[root] = namesOf(own.map((each) => each.slice(root.length + 1, -1)));
  }
  const attributes = namesOf(values("attribute").filter((each) => !each.endsWith("]")));

  const readAttribute = ({ localName }: Element, name: string) => {
    find("attribute", attributes.of(name));
    const own = ofRoots[localName]?.of(name);
    if (own !== undefined) find("attribute", `${localName}[${own}]`);
  };
  const readAttributes = (element: Element) => {
    // Names alone: to go through `attributes` makes an object of each.
    for (const name of element.getAttributeNames()) readAttribute(element, name);
  };
  const readSheet = (element: Element) => {
    find("stylesheet", sheets.of(element.id));
    const address = element.getAttribute("href");
    if (address) for (const [value, part] of addresses) if (address.includes(part)) find("stylesheet", value);
  };
  const readElement = (element: Element) => {
    // An element's own field may be hidden behind a form's.
    const id = element.getAttribute("id");
    if (id) find("element", ids.of(id));
    if (/^(style|link)$/.test(element.localName)) readSheet(element);
    readAttributes(element);
  };

  /** The roots as last seen: to ask the document for them takes a third of a look after a pause. */
  let seen: HTMLElement[] = [];
  const globals = values("global").filter((each) => !each.endsWith("*"));
  const begun = globals.length < values("global").length ? namesOf(values("global")) : undefined;
  /** What is looked at before each report. */
  const look = () => {
    if (!seen.every((each) => each.isConnected)) observeRoots();
    for (const value of globals) if (Object.hasOwn(window, value)) find("global", value);
    if (begun) for (const name of Object.getOwnPropertyNames(window)) find("global", begun.of(name));
  };

  const observer = new MutationObserver((changes) => {
    attempt(() => {
      for (const change of changes) {
        const { attributeName } = change;
        // Also of one that is gone again. Reading all of the roots' before each report would cost as much as the rest of that look.
        if (attributeName) {
          // Some pages write these with each step of the pointer.
          if (attributeName !== "style" && attributeName !== "class")
            readAttribute(change.target as Element, attributeName);
          continue;
        }
        for (const node of change.addedNodes) {
          if (!(node instanceof Element)) continue;
          readElement(node);
          if (node === doc.body || node === doc.head) observeRoots();
        }
      }
    });
    if (fresh.length) later(tell, 0);
  });
  function observeRoots(): void {
    seen = [doc.documentElement, doc.head, doc.body].filter((each) => each !== null);
    for (const root of seen) {
      observer.observe(root, { attributes: true, childList: true });
      readAttributes(root);
    }
  }
  observeRoots();

  for (const value of values("element")) {
    const query = value.endsWith("*") ? `[id^="${value.slice(0, -1)}"]` : `[id="${value}"]`;
    if (attempt(() => doc.querySelector(query))) find("element", value);
  }
  for (const each of doc.querySelectorAll("style[id],link[href]")) attempt(() => readSheet(each));
  for (const root of seen) {
    for (let index = 0, child = root.firstElementChild; child && index < childrenMax; index++) {
      readAttributes(child);
      child = child.nextElementSibling;
    }
  }
  const events = values("event").filter((each) => !each.endsWith("*"));
  if (events.length) {
    listen(window, events.join(" "), ({ type }) => {
      find("event", type);
      tell();
    });
  }

  // A debugger's client may come late, to a tab that is open: it is there while somebody acts.
  let trapAt = performance.now() + firstTrapMs;
  listen(window, "pointerdown keydown wheel touchstart", () => {
    const now = performance.now();
    if (now < trapAt) return;
    trapAt = now + trapEveryMs;
    later(() => {
      if (stackProbe()) record("env", { stack_probe: true });
    }, 0);
  });
  attempt(look);
  tell();
  const acts = attempt(() => watchActs(listen, later));
  onDrain(() => {
    attempt(look);
    tell();
    const found = acts?.();
    if (found) record("env", found);
  });
}
