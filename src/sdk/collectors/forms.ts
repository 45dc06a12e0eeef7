/**
 * How forms are filled in: counts and times. A value is looked at in one place only, to tell whether a trap field that
 * people can't see was filled in; no value is kept or sent.
 */
import { bare, doc } from "../bare.js";
import type { Collector, Scene } from "../collector.js";
import { attempt } from "../page-hooks.js";
import { round } from "../recorder.js";

type Field = HTMLInputElement;

/** Names and attributes by which sites mark a trap field. Counts only for a field that people can't see. */
const trapMark = /honey|^hp[_-]|[_-]hp$|gotcha|bot[_-]?(field|trap|catch)|leave[_-]?(this[_-])?(blank|empty)/i;
/** An input is explained by a key or a paste this recent. */
const causeMs = 1000;

interface Filling {
  readonly start: number;
  readonly fields: Set<EventTarget>;
  /** The latest change. */
  last: number;
  count: number;
  unkeyed: number;
  autofill: boolean;
}

function isAutofilled(field: Field): boolean | undefined {
  return attempt(() => field.matches(":autofill"));
}

function isUnseen(field: Field): boolean {
  const box = field.getBoundingClientRect();
  return (
    box.width < 2 ||
    box.height < 2 ||
    box.right + scrollX <= 0 ||
    box.bottom + scrollY <= 0 ||
    field.checkVisibility?.({ opacityProperty: true, visibilityProperty: true }) === false
  );
}

function isTrap(field: Field): boolean {
  if (field.type === "hidden") return false;
  if (field.closest("[data-verdictd-honeypot]")) return true;
  return trapMark.test(`${field.name} ${field.id}`) && isUnseen(field);
}

/** True when a trap was filled in, and not by the browser; undefined when there is none. */
function trapSprung(fields: Iterable<Element>): boolean | undefined {
  let found: boolean | undefined;
  for (const each of fields) {
    const field = each as Field;
    if (!("value" in field) || !isTrap(field)) continue;
    const changed = /checkbox|radio/.test(field.type)
      ? field.checked !== field.defaultChecked
      : field.value !== (field.defaultValue ?? "");
    found = found || (changed && !isAutofilled(field));
  }
  return found;
}

/** Follows the filling in of forms and loose fields, from the first change to the submission or to leaving the page. */
export const collectForms: Collector = (scene: Scene) => {
  let fillings = new Map<HTMLFormElement | null, Filling>();
  let pastedAt = -causeMs;
  /** Forms whose first input was reported at once: before they are sent, their visitor is known. */
  const begun = new WeakSet<object>();

  const fillingOf = (form: HTMLFormElement | null, at: number) => {
    let filling = fillings.get(form);
    if (!filling) {
      filling = { start: at, last: at, fields: new Set(), count: 0, unkeyed: 0, autofill: false };
      if (fillings.size > 16) fillings = new Map();
      fillings.set(form, filling);
    }
    return filling;
  };
  const report = (form: HTMLFormElement | null, end: number, submit: boolean, trusted?: boolean) => {
    const filling = fillings.get(form);
    fillings.delete(form);
    scene.record("form", {
      field_count: filling?.fields.size ?? 0,
      fill_ms: filling ? round(end - filling.start, 1) : undefined,
      // A page keeps its visitor's activation for good, and takes it over from the page of the site that led to it.
      untouched_ms:
        filling && navigator.userActivation?.hasBeenActive === false ? round(filling.last - filling.start) : undefined,
      count: filling?.count,
      unkeyed: filling?.unkeyed,
      autofill: filling?.autofill,
      honeypot: trapSprung(form ? bare(form).elements : doc.querySelectorAll("[data-verdictd-honeypot]")),
      submit,
      trusted,
      scroll_input: scene.input.kind,
    });
  };

  scene.listen(window, "paste drop compositionend", (event) => {
    pastedAt = event.timeStamp;
  });
  scene.listen<InputEvent>(window, "input", (event) => {
    const field = event.target as Field | null;
    if (!field || !/^(INPUT|TEXTAREA|SELECT)$/.test(field.tagName)) return;
    const filling = fillingOf(field.form, event.timeStamp);
    const textual = !/checkbox|radio|range|color|date|time|file|select|number/.test(field.type);
    if (filling.fields.size < 64) filling.fields.add(field);
    filling.last = event.timeStamp;
    filling.count++;
    if (isAutofilled(field)) filling.autofill = true;
    else if (
      !event.isTrusted ||
      (textual &&
        event.timeStamp - pastedAt > causeMs &&
        !(scene.input.kind === "key" && performance.now() - scene.input.at < causeMs))
    ) {
      filling.unkeyed++;
    }
    const form = field.form ?? window;
    if (!begun.has(form)) {
      begun.add(form);
      scene.report();
    }
  });
  scene.listen(window, "submit", (event) => {
    report(event.target as HTMLFormElement, event.timeStamp, true, event.isTrusted);
  });
  scene.listen(doc, "visibilitychange", (event) => {
    if (!doc.hidden) return;
    for (const form of [...fillings.keys()]) report(form, event.timeStamp, false);
  });
};
