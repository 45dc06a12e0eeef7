/**
 * Unusual honest visitors: people with an aid, an extension or a proxy, and pages that act by themselves, in real windows with the
 * operating system's input. Each hand is a recorded person's, each recording is played once.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingProgram } from "../chromium.js";
import type { CrossSessionCounts, LiveCase } from "../measurement.js";
import { pause } from "../pause.js";
import { between } from "../randomness.js";
import { scratchFolder } from "../scratch-folder.js";
import type { PagePlace } from "../site.js";
import type { Keystroke, Movement, PersonRecording } from "../traces.js";
import { type ExtensionName, extensionArgs, unpackExtension } from "./aid-extensions.js";
import { missingAccessibility, openAccessibilityBus, setMouseKeys } from "./aid-programs.js";
import { startFilteringProxy } from "./filtering-proxy.js";
import {
  type Hand,
  pageTop,
  playMovement,
  playTyping,
  playWheel,
  pointOf,
  visitInWindow,
  type WindowOptions,
} from "./window.js";

/** What a visit by a person is made of. */
interface Person {
  readonly movements: readonly Movement[];
  readonly typing: readonly Keystroke[];
}

interface Visitor extends Person {
  readonly around: CrossSessionCounts;
  readonly hand: Hand;
  readonly place: PagePlace;
}

type Act = (visitor: Visitor) => Promise<void>;

interface Aid {
  readonly who: string;
  /** Chromium unless told otherwise. */
  readonly browser?: "firefox";
  readonly missing?: () => string | null;
  readonly visit: (around: CrossSessionCounts, person: Person) => Promise<void>;
}

const buttons = ["info", "prices", "photos", "basket"] as const;

const inWindow = (around: CrossSessionCounts, person: Person, act: Act, options: WindowOptions = {}) =>
  visitInWindow(around, (hand, place) => act({ ...person, around, hand, place }), options);

const acting = (act: Act) => (around: CrossSessionCounts, person: Person) => inWindow(around, person, act);

async function point({ around, hand, place, movements }: Visitor, id: string): Promise<void> {
  const target = pointOf(place, id, around.random);
  for (const movement of movements) {
    await playMovement(hand, movement, target);
    await pause(between(around.random, 200, 500));
  }
}

/** A person's way into the message field, by mouse. */
const pointAtMessage: Act = (visitor) => point(visitor, "message");

async function press(hand: Hand, key: string, heldMs: number): Promise<void> {
  hand.say(`keydown ${key}`);
  await pause(heldMs);
  hand.say(`keyup ${key}`);
}

const pressLikeAFinger = ({ hand, around }: Visitor, key: string) => press(hand, key, between(around.random, 50, 120));

/** Software types a text, with a pause between keys. */
async function typeText(hand: Hand, text: string, delayMs: number): Promise<void> {
  hand.say(`type --clearmodifiers --delay ${delayMs} "${text}"`);
  await pause(text.length * (delayMs + 2) + 300);
}

const readByScreenReader = (browser: "chromium" | "firefox") => async (around: CrossSessionCounts, person: Person) => {
  const bus = await openAccessibilityBus();
  const args = browser === "chromium" ? ["--force-renderer-accessibility"] : [];
  const act: Act = async ({ hand, typing }) => {
    for (const id of [...buttons, "info", "photos"]) {
      await bus.press(`Show ${id}`);
      await pause(between(around.random, 700, 1400));
    }
    // From the last of the buttons on to the field.
    for (const key of ["Tab", "Tab", "Tab"]) await press(hand, key, between(around.random, 50, 120));
    await playTyping(hand, typing);
  };
  try {
    await inWindow(around, person, act, { browser, args, env: bus.env });
  } finally {
    await bus.close();
  }
};

/** The keys of the number pad that lead to a target: along one side, then along the other, then the click in the middle. */
async function moveByNumberPad(around: CrossSessionCounts, person: Person): Promise<void> {
  const display = around.display!;
  await setMouseKeys(display, "on");
  const act: Act = async (visitor) => {
    const { hand, random } = { ...visitor, random: around.random };
    hand.say("mousemove 640 420");
    for (const way of ["KP_Up", "KP_Left", "KP_Down", "KP_Right", "KP_Home", "KP_Next", "KP_Up", "KP_Left"]) {
      hand.say(`keydown ${way}`);
      await pause(between(random, 600, 1100));
      hand.say(`keyup ${way}`);
      await pause(between(random, 150, 400));
      await pressLikeAFinger(visitor, "KP_Begin");
      await pause(between(random, 250, 600));
    }
  };
  try {
    await inWindow(around, person, act);
  } finally {
    await setMouseKeys(display, "off");
  }
}

/** The pointer comes to rest on each button, and software clicks there after a while. */
const dwell: Act = async (visitor) => {
  const { around, hand, place, movements } = visitor;
  for (const [index, movement] of movements.entries()) {
    const moves = movement.filter((step) => step.kind === "m");
    await playMovement(hand, moves, pointOf(place, buttons[index % 4]!, around.random));
    await pause(800);
    hand.say("click 1");
    await pause(between(around.random, 400, 800));
  }
  for (let index = 0; index < 4; index++) {
    hand.say(`mousemove_relative -- ${index % 2 === 0 ? 9 : -9} 4`);
    await pause(800);
    hand.say("click 1");
  }
};

/** A stick moves the pointer by its tilt, sixty times a second, and its button is a finger's. */
const steer: Act = async ({ around, hand, place }) => {
  const { x, y } = pointOf(place, "basket", around.random);
  hand.say(`mousemove ${x} ${y}`);
  for (let way = 0; way < 8; way++) {
    // No thumb tilts a stick twice the same way.
    const [dx, dy] = [between(around.random, 6, 12), between(around.random, 2, 6)];
    const turn = between(around.random, 10, 25);
    for (let step = 0; step < 40; step++) {
      const across = Math.round(way % 2 === 0 ? -dx : dx);
      const down = Math.round((way % 4 < 2 ? dy : -dy) * Math.sin(step / turn));
      hand.say(`mousemove_relative -- ${across} ${down}`);
      await pause(16);
    }
    await pause(between(around.random, 200, 500));
    hand.say("mousedown 1");
    await pause(between(around.random, 60, 130));
    hand.say("mouseup 1");
    await pause(between(around.random, 300, 600));
  }
};

/** Taps of a touchpad are pressed and released by its driver. */
const tap: Act = async (visitor) => {
  const { around, hand, movements, place, typing } = visitor;
  for (const [index, movement] of movements.entries()) {
    const moves = movement.filter((step) => step.kind === "m");
    await playMovement(hand, moves, pointOf(place, index === movements.length - 1 ? "message" : "info", around.random));
    for (let taps = 0; taps < 2; taps++) {
      hand.say("mousedown 1");
      await pause(2);
      hand.say("mouseup 1");
      await pause(between(around.random, 300, 700));
    }
  }
  await playTyping(hand, typing);
};

/** One switch for the next element, one to choose it. */
const switches: Act = async (visitor) => {
  for (let element = 0; element < 4; element++) {
    await pressLikeAFinger(visitor, "Tab");
    await pause(between(visitor.around.random, 500, 1200));
    await pressLikeAFinger(visitor, "Return");
    await pause(between(visitor.around.random, 500, 1200));
  }
};

/** The pointer leaps to what was said. */
const speak =
  (isDictating: boolean): Act =>
  async ({ around, hand, place }) => {
    for (const id of [...buttons, "info", "prices", "message"]) {
      const { x, y } = pointOf(place, id, around.random);
      hand.say(`mousemove ${x} ${y} click 1`);
      await pause(between(around.random, 900, 1600));
    }
    if (isDictating) await typeText(hand, "i would like to have two of the small lamps please", 0);
  };

const password = "k7 Qw-zz0 rT+9a mV=3x bb81";

const autoType: Act = async (visitor) => {
  await point(visitor, "name");
  await typeText(visitor.hand, "somebody", 25);
  await pressLikeAFinger(visitor, "Tab");
  await typeText(visitor.hand, password, 25);
};

const scan: Act = async (visitor) => {
  await pointAtMessage(visitor);
  for (let code = 0; code < 4; code++) {
    await typeText(visitor.hand, `400638133393${code}`, 2);
    await pause(between(visitor.around.random, 700, 1500));
  }
};

const expand: Act = async (visitor) => {
  await pointAtMessage(visitor);
  await playTyping(visitor.hand, visitor.typing);
  await typeText(
    visitor.hand,
    "with kind regards from all of us here at the small workshop by the river ".repeat(2),
    0,
  );
};

const securityKey: Act = async (visitor) => {
  await pointAtMessage(visitor);
  await typeText(visitor.hand, "ccccccbcgujhingjrdejhgfnuetrgigvejhhgbkugded", 8);
};

/** Usual behaviour: hand, keyboard, wheel. */
const asUsual: Act = async (visitor) => {
  await pointAtMessage(visitor);
  await playTyping(visitor.hand, visitor.typing);
  await pause(between(visitor.around.random, 200, 500));
  await playWheel(visitor.hand, visitor.around.random);
};

/** A page with a script of its own. */
const onPage = (script: string) => (around: CrossSessionCounts, person: Person) => {
  around.visit.pageScript = script;
  return inWindow(around, person, asUsual);
};

const boxes = (count: number) => `
  const boxes = document.createElement("div");
  for (let at = 0; at < ${count}; at++) boxes.insertAdjacentHTML("beforeend", '<label><input type="checkbox"> ' + at + "</label>");
  document.body.append(boxes);
`;
const carousel = `setInterval(() => document.getElementById("photos").click(), 900);`;
const consent = `setTimeout(() => { for (const each of document.querySelectorAll("button[type=button]")) each.click(); }, 1500);`;
const selectAll = `${boxes(24)}
  document.getElementById("message").addEventListener("pointerdown", () => boxes.querySelectorAll("input").forEach((each) => each.click()));`;
const labels = `${boxes(6)}
  document.addEventListener("keydown", () => boxes.children[Math.floor(Math.random() * 6)].click());`;

const withExtension =
  (name: ExtensionName, act: Act, pageScript = "") =>
  async (around: CrossSessionCounts, person: Person) => {
    const folder = await unpackExtension(name);
    around.visit.pageScript = pageScript;
    try {
      await inWindow(around, person, act, { args: extensionArgs(folder.path), isAddressTyped: name.endsWith("Claim") });
    } finally {
      await folder.erase();
    }
  };

const followHints: Act = async (visitor) => {
  for (const number of [1, 2, 3, 4, 1, 3]) {
    await pressLikeAFinger(visitor, "F8");
    await pause(between(visitor.around.random, 350, 700));
    await pressLikeAFinger(visitor, String(number));
    await pause(between(visitor.around.random, 500, 1100));
  }
};

const fill: Act = async (visitor) => {
  await pointAtMessage(visitor);
  await pressLikeAFinger(visitor, "F8");
  await pause(900);
  visitor.hand.say("mousemove_relative 2 3");
  await pressLikeAFinger(visitor, "Tab");
};

const identity = `
  const form = document.querySelector("form");
  for (const each of ["street", "town", "code", "state", "country", "telephone", "company"])
    form.insertAdjacentHTML("beforeend", '<input name="' + each + '" placeholder="' + each + '">');
`;

const throughProxy = (others: readonly string[]) => async (around: CrossSessionCounts, person: Person) => {
  const proxy = await startFilteringProxy(others);
  try {
    await inWindow(around, person, asUsual, { args: proxy.args });
  } finally {
    await proxy.close();
  }
};

/** The console has the focus while its page loads again; then the pointer, which lay over the page, moves and clicks. */
const useConsole: Act = async (visitor) => {
  const { around, hand } = visitor;
  const { visit } = around;
  const evaluate = async () => {
    await typeText(hand, "document.title", 30);
    hand.say("key Return");
    await pause(800);
  };
  const before = visit.place;
  hand.say("mousemove 300 400");
  hand.say("key ctrl+shift+j");
  await visit.until(({ place }) => place !== before, "the developer tools", 20_000);
  await pause(3000);
  await evaluate();
  hand.say("key F5");
  await pause(2500);
  await evaluate();
  hand.say("mousemove_relative 3 2");
  await pause(400);
  const place = visit.place!;
  await point({ ...visitor, place }, "info");
};

/** Types an address that runs a script in the page, and goes on with the pointer. */
const typeScript: Act = async (visitor) => {
  visitor.hand.say("key ctrl+l");
  await typeText(visitor.hand, "javascript:void(document.title)", 20);
  visitor.hand.say("key Return");
  await pause(300);
  await asUsual(visitor);
};

/** The first bookmark of the bar runs a script; nothing of the page was touched before. */
async function clickBookmark(around: CrossSessionCounts, person: Person): Promise<void> {
  const folder = await scratchFolder();
  mkdirSync(join(folder.path, "Default"));
  const write = (name: string, value: object) =>
    writeFileSync(join(folder.path, "Default", name), JSON.stringify(value));
  const bookmark = { type: "url", id: "5", name: "Larger letters", url: "javascript:void(document.title)" };
  const root = (id: string, name: string, children: object[]) => ({ type: "folder", id, name, children });
  write("Bookmarks", {
    version: 1,
    roots: {
      bookmark_bar: root("1", "bar", [bookmark]),
      other: root("2", "other", []),
      synced: root("3", "synced", []),
    },
  });
  write("Preferences", { bookmark_bar: { show_on_all_tabs: true } });
  const act: Act = async (visitor) => {
    const { hand, place } = visitor;
    hand.say(`mousemove 70 ${pageTop(place) - 16}`);
    await pause(600);
    for (let times = 0; times < 3; times++) {
      await pressButton(hand);
      await pause(700);
    }
    await asUsual(visitor);
  };
  try {
    await inWindow(around, person, act, { args: [`--user-data-dir=${folder.path}`] });
  } finally {
    await folder.erase();
  }
}

async function pressButton(hand: Hand): Promise<void> {
  hand.say("mousedown 1");
  await pause(80);
  hand.say("mouseup 1");
}

const frame = `
  const frame = document.createElement("iframe");
  frame.srcdoc = "<button style='font: 40px sans-serif'>Play</button>";
  frame.style.cssText = "position: absolute; left: 700px; top: 200px; width: 300px; height: 120px";
  document.body.append(frame);
`;

/** A film or a map in a frame is used first. */
async function useFrame(around: CrossSessionCounts, person: Person): Promise<void> {
  around.visit.pageScript = frame;
  const act: Act = async (visitor) => {
    const { hand, place } = visitor;
    hand.say(`mousemove 760 ${pageTop(place) + 240}`);
    await pause(500);
    await pressButton(hand);
    await pause(300);
    await asUsual(visitor);
  };
  await inWindow(around, person, act);
}

const mouseKeysMissing = () => missingProgram("python3");

const aids: readonly Aid[] = [
  {
    who: "a screen reader's default actions (AT-SPI)",
    missing: missingAccessibility,
    visit: readByScreenReader("chromium"),
  },
  {
    who: "a screen reader's default actions (AT-SPI)",
    browser: "firefox",
    missing: () => missingProgram("firefox") ?? missingAccessibility(),
    visit: readByScreenReader("firefox"),
  },
  { who: "the number pad as a mouse (MouseKeys)", missing: mouseKeysMissing, visit: moveByNumberPad },
  { who: "a game controller's stick as a mouse", visit: acting(steer) },
  { who: "voice control: leaping pointer, instant clicks", visit: acting(speak(false)) },
  { who: "voice control with dictation", visit: acting(speak(true)) },
  { who: "a pointer that software clicks when it rests", visit: acting(dwell) },
  { who: "taps of a touchpad", visit: acting(tap) },
  { who: "switch access: Tab and Return", visit: acting(switches) },
  { who: "automatic typing of a password manager", visit: acting(autoType) },
  { who: "a bar code scanner", visit: acting(scan) },
  { who: "a text expander", visit: acting(expand) },
  { who: "a security key that types", visit: acting(securityKey) },
  { who: "a page whose carousel goes on by itself", visit: onPage(carousel) },
  { who: "a page that accepts cookies for its visitors", visit: onPage(consent) },
  { who: "a page that selects all boxes at once", visit: onPage(selectAll) },
  { who: "a page that passes clicks on", visit: onPage(labels) },
  { who: "link hints of the keyboard (extension)", visit: withExtension("linkHints", followHints) },
  { who: "a password manager's login (extension)", visit: withExtension("filler", fill) },
  { who: "a password manager's identity (extension)", visit: withExtension("filler", fill, identity) },
  { who: "open developer tools, whose console is used", visit: acting(useConsole) },
  { who: "an address that runs a script", visit: acting(typeScript) },
  { who: "a bookmark that runs a script", visit: clickBookmark },
  { who: "a frame that is used first", visit: useFrame },
  { who: "a proxy that strips Sec- headers", visit: throughProxy([]) },
  { who: "a proxy that strips Sec- headers and the language", visit: throughProxy(["accept-language"]) },
  { who: "a proxy that strips Sec- headers and the origin", visit: throughProxy(["origin", "referer"]) },
  { who: "small lies against fingerprints, in every frame (extension)", visit: withExtension("farbler", asUsual) },
  { who: "Chromium that says it is Firefox (extension)", visit: withExtension("firefoxClaim", asUsual) },
  { who: "Chromium that says it is a telephone (extension)", visit: withExtension("telephoneClaim", asUsual) },
  { who: "a user script that hides webdriver (extension)", visit: withExtension("webdriverHider", asUsual) },
];

/** Recordings that a row keeps to itself. */
const recordingsOfRow = 4;
/** From the end, where the rows of people without aids, which begin at the start, do not come. */
const source = "balabit";

const isClicking = ({ movements }: PersonRecording) => movements.some((each) => each.some(({ kind }) => kind === "d"));

/** A row an aid; `missing` is why there are no recorded hands. */
export function aidCases(
  missing: () => string | null,
  recordings: () => { persons: ReadonlyMap<string, readonly PersonRecording[]>; typing: readonly Keystroke[][] },
): LiveCase[] {
  return aids.map(
    (aid, row): LiveCase => ({
      goal: "aided",
      tool: `${aid.browser === "firefox" ? "Firefox" : "Chromium"} in a window, operating system's input`,
      behavior: aid.who,
      needsDisplay: true,
      missing: () => missing() ?? aid.missing?.() ?? null,
      runsMax: () => recordingsOfRow,
      carryOut: (around) => {
        const { persons, typing } = recordings();
        const number = row * recordingsOfRow + around.run;
        const { movements } = persons
          .get(source)!
          .filter(isClicking)
          .at(-1 - number)!;
        return aid.visit(around, { movements, typing: typing.at(-1 - number)! });
      },
    }),
  );
}
