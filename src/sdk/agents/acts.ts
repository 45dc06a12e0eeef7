/**
 * How agents act, where a page can tell and people can't do it: activation without an input, clicks in the very middle, input to a page that nobody sees,
 * two pages with the focus at once, keys that go down twice, text that is there at once. Counts since the last report; which key it was never leaves. A part of `/sdk-agents.js`, which
 * comes later: `collectors/activation.ts` has looked for an activation before the first touch, in fewer bytes than one rule for both would take in `/sdk.js`.
 */
import { bare, doc } from "../bare.js";
import { attempt, type PageHooks } from "../page-hooks.js";
import type { ObservedFacts } from "../recorder.js";

type Count =
  | "lone_activations"
  | "exact_clicks"
  | "hidden_acts"
  | "shared_focus"
  | "unpaired_keys"
  | "placed_texts"
  | "late_texts"
  | "led_texts";

/** Whatever may give an activation, ms: browsers keep it for five seconds. */
const activeMs = 6000;
/** How often activation is looked at while a page is young, and then: reports may be further apart than a browser keeps one. */
const checkMs = 1000;
const checksMost = 20;
const laterCheckMs = 4000;
/** The focus of two pages changes at once when a person goes from one to the other, ms. */
const focusMs = 1000;
/** Tabs of the site that have the focus tell each other this often at most, ms. */
const tellMs = 5000;
/** Text that is in a field so soon after it got the focus was not spoken or picked in a window of its own meanwhile, ms. */
const placedMs = 500;
/** Nobody speaks a character in less, ms. */
const spokenMs = 40;
/** No recogniser of speech needs less for its answer, ms. */
const heardMs = 300;
/** A hand that pressed so shortly before led the focus: who dictates all the time has text for it at any moment, ms. */
const handMs = 1000;
/** Emoji and signs of a picker are shorter. */
const placedMin = 3;
/** A frame in a shadow root is none of the page's: who leads the pointer into one may press there for so long, ms. */
const frameMs = 30_000;
/** A pointer that moved this often at most since its last press has not been touched. */
const movesFew = 2;
const middlePx = 0.5;
/** In a smaller target a person hits the middle by chance, px. */
const targetMin = 10;

/**
 * What a person, an aid or a page may do that browsers take for an activation, in this page or in a frame of it; a keyboard's media keys too. Keys and presses
 * are counted by the browser as well, but older Chromium does so after the listeners, and one of these may send a form.
 */
const causes =
  "keydown keyup pointerdown pointerup touchend click auxclick input change paste contextmenu drop focusin focus blur play pause timeupdate";
/** Keys that print, and are released wherever they were pressed. */
const printing = /^(Key[A-Z]|Digit\d|Space|Comma|Period)$/;
const controls = "a,button,input,select,textarea,label,summary,[role]";

/**
 * Inputs so far, by the browser's own count: those before this file came as well, and those that an extension keeps from the page, as keyboard navigation
 * does. Throws where the browser keeps none: nothing is found there.
 */
function inputCount(): number {
  const { eventCounts } = performance as unknown as { readonly eventCounts: ReadonlyMap<string, number> };
  return ["pointerdown", "keydown", "click", "input"].reduce((sum, type) => sum + eventCounts.get(type)!, 0);
}

function isMiddle(element: Element | null | undefined, x: number, y: number): boolean {
  if (!element) return false;
  const { left, top, width, height } = bare(element).getBoundingClientRect();
  return (
    width >= targetMin &&
    height >= targetMin &&
    Math.abs(x - left - width / 2) <= middlePx &&
    Math.abs(y - top - height / 2) <= middlePx
  );
}

/** Starts to count; returns what there is to report, and forgets it. */
export function watchActs(listen: PageHooks["listen"], later: PageHooks["later"]): () => ObservedFacts | undefined {
  let counts: { [Name in Count]?: number } = {};
  const count = (name: Count) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };

  let causeAt = -activeMs;
  let inputs = 0;
  let loneAt = -activeMs;
  /** When a hand last led the pointer, if not to a press of this page. */
  let ledAt = -frameMs;
  const { hasFocus: hasFocusOf } = Document.prototype;
  /** Past a named child of that name, and cheaper than through `doc` where every report asks. */
  const isFocused = () => hasFocusOf.call(document);
  const checkActivation = () => {
    const now = performance.now();
    // A frame passes its activation on, and the console of the developer tools gives one: who types there has the focus there.
    const before = inputs;
    inputs = inputCount();
    if (window.length || !isFocused() || now - ledAt < frameMs || inputs !== before) causeAt = now;
    if (!navigator.userActivation?.isActive || now - causeAt < activeMs || now - loneAt < activeMs) return;
    loneAt = now;
    count("lone_activations");
  };
  let checks = 0;
  const checkAgain = () => {
    checkActivation();
    later(checkAgain, ++checks < checksMost ? checkMs : laterCheckMs);
  };
  listen(window, causes, () => {
    causeAt = performance.now();
  });

  let moves = 0;
  let downX = -1;
  let downY = -1;
  let place = "";
  listen<PointerEvent>(window, "pointermove", (event) => {
    // What a script dispatches leads no pointer.
    if (!event.isTrusted) return;
    const here = `${event.screenX} ${event.screenY}`;
    // A page that opens under a resting pointer has a move of it as well, which goes nowhere.
    if ((place && place !== here) || event.getCoalescedEvents().length > 1) ledAt = performance.now();
    place = here;
    moves++;
  });
  listen<PointerEvent>(window, "pointerdown", ({ isTrusted, pointerType, button, clientX: x, clientY: y, target }) => {
    if (!isTrusted) return;
    ledAt = -frameMs;
    if (doc.hidden) count("hidden_acts");
    const isElsewhere = x !== downX || y !== downY;
    if (pointerType === "mouse" && !button && moves <= movesFew && isElsewhere && target instanceof Element) {
      if (isMiddle(target, x, y) || isMiddle(target.closest(controls), x, y)) count("exact_clicks");
    }
    moves = 0;
    downX = x;
    downY = y;
  });

  let held = new Set<string>();
  let loose = new Set<string>();
  const forgetKeys = () => {
    held = new Set();
    loose = new Set();
  };
  listen<KeyboardEvent>(window, "keydown keyup", (event) => {
    const { code, isTrusted } = event;
    if (isTrusted && doc.hidden && event.type === "keydown") count("hidden_acts");
    // Systems keep releases to themselves while such a key is held, and input methods do as they like.
    if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing || /^(Meta|Process)/.test(event.key)) {
      forgetKeys();
      return;
    }
    if (!isTrusted || event.repeat || !printing.test(code) || (event.target as HTMLInputElement).type === "password") {
      return;
    }
    if (event.type === "keydown") {
      if (held.has(code)) count("unpaired_keys");
      held.add(code);
    } else if (!held.delete(code)) {
      // The first one may be of a key that was pressed on the page before.
      if (loose.has(code)) count("unpaired_keys");
      loose.add(code);
    }
  });

  let focusedAt = performance.now();
  let backAt = -placedMs;
  listen(window, "focus blur", ({ target, type }) => {
    if (target !== window) return;
    focusedAt = performance.now();
    if (type === "focus") backAt = focusedAt;
  });
  listen(window, "focusin blur", forgetKeys);

  /** 0 for a field that had a key or a text since. */
  let fieldAt = 0;
  let fieldBefore: EventTarget | null = null;
  let isLed = false;
  /** By how much the texts of the page together came sooner than anybody speaks them, ms. */
  let early = 0;
  let handAt = -handMs;
  listen(window, "keydown keyup pointerdown pointerup touchend click", () => {
    handAt = performance.now();
  });
  listen(window, "focusin", ({ target }) => {
    const now = performance.now();
    // A window that comes back gives the focus to the field that had it: whoever was in front may have text for it.
    fieldAt = target !== fieldBefore || now - backAt > placedMs ? now : 0;
    fieldBefore = target;
    isLed = now - handAt < handMs;
  });
  listen<InputEvent>(window, "keydown beforeinput", ({ type, isTrusted, inputType, data }) => {
    const length = (isTrusted && inputType === "insertText" && data?.length) || 0;
    const isText = length >= placedMin;
    const ms = performance.now() - fieldAt;
    if (isText && fieldAt) {
      const sooner = heardMs + length * spokenMs - ms;
      const isQuick = ms < placedMs;
      const isPlaced = isQuick && !isLed;
      early += sooner;
      // After a hand the page's texts count together too, since who speaks is slow at times; but one long phrase makes no other one quick.
      if (sooner > 0 && (isPlaced || early > 0)) {
        count(isPlaced ? "placed_texts" : isQuick ? "led_texts" : "late_texts");
      }
    }
    // Once a focus, and never after a key: a suggestion may complete it.
    if (type === "keydown" || isText) fieldAt = 0;
  });

  const hasFocus = () => window === top && !doc.hidden && isFocused() && performance.now() - focusedAt > focusMs;
  let channel: BroadcastChannel | null = null;
  // A message costs more than all else that a report looks at: nobody speaks who is alone.
  let isAlone = true;
  let toldAt = -tellMs;
  const tell = (what: "came" | "here" | "focus") => attempt(() => channel?.postMessage(what));
  // An open channel may keep the page from being kept for a step back.
  const open = () => {
    channel = attempt(() => new BroadcastChannel("verdictd")) ?? null;
    if (!channel) return;
    listen<MessageEvent>(channel, "message", ({ data }) => {
      isAlone = false;
      if (data === "came") tell("here");
      if (data === "focus" && hasFocus()) count("shared_focus");
    });
    tell("came");
  };
  listen(window, "pagehide", () => {
    channel?.close();
    channel = null;
  });
  listen(window, "pageshow", () => {
    if (!channel) open();
  });
  open();
  later(checkAgain, 0);

  return () => {
    attempt(checkActivation);
    const now = performance.now();
    if (!isAlone && now - toldAt >= tellMs && hasFocus()) {
      toldAt = now;
      tell("focus");
    }
    const found = counts;
    counts = {};
    return Object.keys(found).length ? found : undefined;
  };
}
