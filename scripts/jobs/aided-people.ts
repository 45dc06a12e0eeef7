/**
 * People at the shop whose forms are filled in without their keys: by the browser itself, a password manager, a paste, a drag or a script of their own. Real windows and the operating system's input; nothing drives the browser.
 */
import { missingProgram } from "../live/chromium.js";
import type { Display } from "../live/display.js";
import { pause } from "../live/pause.js";
import { between, type Random } from "../live/randomness.js";
import { extensionArgs } from "../live/tools/aid-extensions.js";
import { type FillTrigger, fillKeys, iconInset, unpackFilling } from "../live/tools/filling-extension.js";
import { type EngineName, missingInputMethod, openInputMethod } from "../live/tools/input-methods.js";
import {
  fillChromium,
  fillFirefox,
  fillFirefoxHistory,
  firefoxAddressSettings,
  missingNss,
  savedArgs,
} from "../live/tools/saved-profiles.js";
import { type Hand, pageTop, playMovement, pointOf, visitInWindow, type WindowOptions } from "../live/tools/window.js";
import { type JobName, jobs } from "./jobs.js";
import { clickOn, playWheelUp, type Recordings } from "./people.js";
import type { ShopVisit } from "./shop.js";

interface Scene {
  readonly hand: Hand;
  readonly visit: ShopVisit;
  readonly recordings: Recordings;
  readonly random: Random;
  /** Of the form. */
  readonly fields: readonly string[];
}

/** Fills in the form of the page that is shown. */
type Fill = (scene: Scene) => Promise<void>;

interface AidedPerson {
  readonly name: string;
  readonly browser?: "firefox";
  readonly missing?: () => string | null;
  readonly jobs: readonly JobName[];
  readonly visit: (around: Around) => Promise<void>;
}

interface Around {
  readonly visit: ShopVisit;
  readonly display: Display;
  readonly recordings: Recordings;
  readonly random: Random;
  readonly job: JobName;
  readonly browser: "chromium" | "firefox";
}

const links: Partial<Record<JobName, string>> = {
  contact: "contact",
  "sign-up": "signup",
  "log-in": "login",
  checkout: "checkout",
  delivery: "delivery",
  account: "enter",
};
/** To the form by hand, `fill`, and its button by hand. */
async function buy(
  { visit, display, recordings, random, job, browser }: Around,
  fill: Fill,
  options: WindowOptions = {},
): Promise<void> {
  const step = jobs[job].findLast(({ kind }) => kind === "send");
  const fields = step?.kind === "send" ? Object.keys(step.fields) : [];
  await visitInWindow(
    { visit, display },
    async (hand) => {
      await playWheelUp(hand, random);
      await clickOn(hand, visit, links[job]!, recordings, random);
      await pause(between(random, 900, 1600));
      await fill({ hand, visit, recordings, random, fields });
      await pause(between(random, 600, 1400));
      await clickOn(hand, visit, "send", recordings, random);
      await pause(between(random, 800, 1500));
    },
    { browser, ...options },
  );
}

const press = async (hand: Hand, key: string, random: Random) => {
  hand.say(`keydown ${key}`);
  await pause(between(random, 50, 120));
  hand.say(`keyup ${key}`);
};

const pointAt = ({ hand, visit, recordings, random }: Scene, id: string) =>
  playMovement(hand, recordings.movement(), pointOf(visit.place!, id, random));

/** Chromium opens its list when the field is pressed, Firefox with a first arrow: Return without an entry would send the form. An arrow and Return choose. */
const fromList =
  (opensByPress: boolean): Fill =>
  async (scene) => {
    await pointAt(scene, scene.fields[0]!);
    await pause(900);
    for (let arrows = opensByPress ? 1 : 2; arrows > 0; arrows--) {
      await press(scene.hand, "Down", scene.random);
      await pause(1100);
    }
    await press(scene.hand, "Return", scene.random);
  };

/** The browser has filled it in before anybody came. */
const nothing: Fill = ({ random }) => pause(between(random, 500, 1500));

const origin = ({ visit }: Around) => new URL(visit.url).origin;

const saved = (fill: Fill) => (around: Around) =>
  around.browser === "firefox"
    ? buy(around, fill, {
        settings: firefoxAddressSettings,
        prepare: (folder) => fillFirefox(folder, origin(around)),
      })
    : buy(around, fill, {
        args: savedArgs,
        prepare: (folder) => fillChromium(folder, around.display, origin(around)),
      });

const withManager =
  (trigger: FillTrigger, isThorough: boolean, fill: Fill, before: Fill = nothing) =>
  async (around: Around) => {
    const folder = await unpackFilling(trigger, isThorough);
    const act: Fill = async (scene) => {
      await before(scene);
      await fill(scene);
    };
    try {
      await buy(around, act, { args: extensionArgs(folder.path) });
    } finally {
      await folder.erase();
    }
  };

const byShortcut: Fill = async ({ hand, random }) => {
  hand.say(`key ${fillKeys.shortcut}`);
  await pause(between(random, 900, 1500));
};

const byWindow: Fill = async ({ hand, random }) => {
  hand.say(`key ${fillKeys.window}`);
  await pause(between(random, 1800, 2400));
  hand.say("key Return");
  await pause(between(random, 900, 1500));
};

/** At the icon in the first field. */
const byIcon: Fill = async ({ hand, visit, recordings, random, fields }) => {
  const place = visit.place!;
  const [left, top, width, height] = place.boxes[fields[0]!]!;
  const target = { x: Math.round(left + width - iconInset), y: Math.round(pageTop(place) + top + height / 2) };
  await playMovement(hand, recordings.movement(), target);
  await pause(between(random, 900, 1500));
};

/** The console of the developer tools has been used before. */
const useConsole: Fill = async ({ hand, random }) => {
  hand.say("key ctrl+shift+j");
  await pause(6000);
  hand.say(`type --delay 30 "document.title"`);
  await pause(900);
  hand.say("key Return");
  await pause(between(random, 800, 1400));
};

/** Three clicks select the page's title, which a middle click then pastes. */
async function selectTitle(scene: Scene): Promise<void> {
  await pointAt(scene, "title");
  for (let more = 0; more < 2; more++) {
    await pause(90);
    scene.hand.say("click 1");
  }
  await pause(300);
}

const pasteByMiddle: Fill = async (scene) => {
  await selectTitle(scene);
  for (const field of scene.fields) {
    const { x, y } = pointOf(scene.visit.place!, field, scene.random);
    const movement = scene.recordings.movement().filter(({ kind }) => kind === "m");
    await playMovement(scene.hand, movement, { x, y });
    scene.hand.say(`mousemove ${x} ${y}`);
    await pause(120);
    scene.hand.say("mousedown 2");
    await pause(between(scene.random, 60, 120));
    scene.hand.say("mouseup 2");
    await pause(between(scene.random, 400, 900));
  }
};

/** The menu of the field, whose entry is chosen by its letter: the page sees no key. */
const pasteByMenu: Fill = async (scene) => {
  await selectTitle(scene);
  scene.hand.say("key ctrl+c");
  await pause(400);
  for (const field of scene.fields) {
    await pointAt(scene, field);
    await pause(300);
    scene.hand.say("mousedown 3");
    await pause(between(scene.random, 60, 120));
    scene.hand.say("mouseup 3");
    await pause(between(scene.random, 700, 1100));
    scene.hand.say("key p");
    await pause(between(scene.random, 500, 900));
  }
};

const pasteByKeys: Fill = async (scene) => {
  await selectTitle(scene);
  scene.hand.say("key ctrl+c");
  for (const field of scene.fields) {
    await pointAt(scene, field);
    await pause(300);
    scene.hand.say("key ctrl+v");
    await pause(between(scene.random, 400, 800));
  }
};

const drag: Fill = async (scene) => {
  const { hand, visit, random, fields } = scene;
  for (const field of fields) {
    await selectTitle(scene);
    const place = visit.place!;
    const [left, top, , height] = place.boxes["title"]!;
    hand.say(`mousemove ${Math.round(left + 40)} ${Math.round(pageTop(place) + top + height / 2)}`);
    await pause(500);
    hand.say("mousedown 1");
    await pause(300);
    const to = pointOf(place, field, random);
    for (let step = 1; step <= 24; step++) {
      const share = step / 24;
      const x = Math.round(left + 40 + (to.x - left - 40) * share);
      const y = Math.round(pageTop(place) + top + (to.y - pageTop(place) - top) * share);
      hand.say(`mousemove ${x} ${y}`);
      await pause(between(random, 12, 40));
    }
    await pause(300);
    hand.say("mouseup 1");
    await pause(between(random, 500, 900));
  }
};

const formScript = `for(const[i,f]of[...document.querySelectorAll('input')].entries()){f.value='ada'+i;for(const t of['input','change'])f.dispatchEvent(new Event(t,{bubbles:true}))}`;

/** A script of one's own in the address bar. */
const byScript: Fill = async ({ hand, random }) => {
  hand.say("key ctrl+l");
  await pause(500);
  hand.say(`type --delay 6 "javascript:${formScript}"`);
  await pause(formScript.length * 9 + 800);
  hand.say("key Return");
  await pause(between(random, 700, 1200));
};

const texts: Readonly<Record<string, string>> = {
  name: "Ada Bell",
  street: "12 Mill Lane",
  town: "Norwich",
  mail: "ada@mail.example",
  message: "I would like to have two of the small lamps",
};

type ToField = (scene: Scene, field: string) => Promise<void>;
const byPress: ToField = pointAt;
const byTab: ToField = async ({ hand, random }) => {
  await press(hand, "Tab", random);
  await pause(between(random, 300, 600));
};

/** `write` puts the text of each field in once the field has the focus; the first one is reached by a press. */
const fieldByField =
  (write: (scene: Scene, field: string) => Promise<void>, next: ToField = byPress): Fill =>
  async (scene) => {
    for (const [index, field] of scene.fields.entries()) {
      await (index === 0 ? byPress : next)(scene, field);
      await write(scene, field);
      await pause(between(scene.random, 500, 1000));
    }
  };

type Write = (say: (text: string) => void) => (scene: Scene, field: string) => Promise<void>;

const withInputMethod = (engine: EngineName, write: Write, next?: ToField) => async (around: Around) => {
  const method = await openInputMethod(around.display, engine);
  const options = { env: method.env, args: ["--gtk-version=3"] };
  try {
    await buy(
      around,
      fieldByField(write(method.say), next),
      around.browser === "firefox" ? { env: method.env } : options,
    );
  } finally {
    await method.close();
  }
};

/** Words come a while after they were said; `ms` for the first of a field. */
const dictated =
  (from: number, to: number): Write =>
  (say) =>
  async ({ random }, field) => {
    await pause(between(random, from, to));
    say(texts[field]!);
    await pause(500);
  };

/** Letters that an input method makes words of: Space for the next proposal, Return to take it. */
const composed: Write =
  () =>
  async ({ hand, random }) => {
    await pause(between(random, 400, 700));
    for (const key of [..."sakura", "space", "space", "Return"]) {
      await press(hand, key, random);
      await pause(between(random, 60, 220));
    }
  };

/** The expander takes the short form away and types the text. */
const expanded = async ({ hand, random }: Scene, field: string) => {
  for (const key of ["semicolon", "a", "b"]) {
    await press(hand, key, random);
    await pause(between(random, 60, 160));
  }
  hand.say("key --delay 4 BackSpace BackSpace BackSpace");
  await pause(60);
  hand.say(`type --clearmodifiers --delay 1 "${texts[field]!}"`);
  await pause(700);
};

/** What the browser remembers of each field. */
const fromHistory = async ({ hand, random }: Scene) => {
  await press(hand, "Down", random);
  await pause(900);
  await press(hand, "Down", random);
  await pause(400);
  await press(hand, "Return", random);
};

const two: readonly JobName[] = ["contact", "account"];
const three: readonly JobName[] = ["sign-up", "delivery"];
const filling = (trigger: FillTrigger, fill: Fill) => withManager(trigger, false, fill);

export const aidedPeople: readonly AidedPerson[] = [
  { name: "saved password", jobs: ["account"], visit: saved(nothing), missing: () => missingProgram("python3") },
  { name: "saved address", jobs: ["delivery"], visit: saved(fromList(true)), missing: () => missingProgram("python3") },
  { name: "saved password", browser: "firefox", jobs: ["account"], visit: saved(nothing), missing: missingNss },
  { name: "saved address", browser: "firefox", jobs: ["delivery"], visit: saved(fromList(false)), missing: missingNss },
  { name: "manager that fills at load", jobs: two, visit: filling("load", nothing) },
  { name: "manager by shortcut, a message", jobs: three, visit: filling("message", byShortcut) },
  { name: "manager by shortcut, a script", jobs: two, visit: filling("script", byShortcut) },
  { name: "manager by its window", jobs: three, visit: filling("window", byWindow) },
  { name: "manager by an icon in the field", jobs: two, visit: filling("icon", byIcon) },
  { name: "manager with keys and clicks, by shortcut", jobs: three, visit: withManager("message", true, byShortcut) },
  { name: "manager with keys and clicks, by its icon", jobs: ["account"], visit: withManager("icon", true, byIcon) },
  {
    name: "developer tools and a manager",
    jobs: two,
    visit: withManager("message", false, byShortcut, useConsole),
  },
  ...(["delivery", "contact"] as const).flatMap((job): AidedPerson[] => {
    const missing = () => missingInputMethod("dictation");
    const spoken = (from: number, to: number, next?: ToField) => withInputMethod("dictation", dictated(from, to), next);
    return [
      { name: "dictation by an input method", jobs: [job], missing, visit: spoken(1200, 2500) },
      { name: "dictation by an input method, at once", jobs: [job], missing, visit: spoken(30, 350) },
      { name: "dictation by an input method, at once, by Tab", jobs: [job], missing, visit: spoken(30, 250, byTab) },
      {
        name: "an input method for Japanese",
        jobs: [job],
        missing: () => missingInputMethod("anthy"),
        visit: withInputMethod("anthy", composed),
      },
      { name: "a text expander", jobs: [job], visit: (around) => buy(around, fieldByField(expanded)) },
    ];
  }),
  {
    name: "saved form history",
    browser: "firefox",
    jobs: ["delivery"],
    missing: () => missingProgram("python3"),
    visit: (around) =>
      buy(around, fieldByField(fromHistory), {
        prepare: (folder) => fillFirefoxHistory(folder, texts),
        settings: `user_pref("browser.formfill.enable", true);\nuser_pref("extensions.formautofill.addresses.enabled", false);\n`,
      }),
  },
  { name: "paste by the menu", jobs: three, visit: (around) => buy(around, pasteByMenu) },
  { name: "paste by the middle button", jobs: two, visit: (around) => buy(around, pasteByMiddle) },
  { name: "paste by keys", jobs: ["delivery"], visit: (around) => buy(around, pasteByKeys) },
  { name: "text dragged into fields", jobs: three, visit: (around) => buy(around, drag) },
  { name: "script in the address bar", jobs: two, visit: (around) => buy(around, byScript) },
  {
    name: "paste by the middle button",
    browser: "firefox",
    jobs: ["delivery"],
    visit: (around) => buy(around, pasteByMiddle),
  },
  { name: "paste by the menu", browser: "firefox", jobs: ["account"], visit: (around) => buy(around, pasteByMenu) },
];
