/** Browser extensions of people: unpacked, loaded by Chromium as a developer would, doing what the well-known ones of their kind do. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ScratchFolder, scratchFolder } from "../scratch-folder.js";

interface Extension {
  readonly script: string;
  /** Into the page's own world, before its scripts. */
  readonly isEarly?: boolean;
  /** Into every frame, the empty ones that a page makes among them. */
  readonly isEverywhere?: boolean;
  /** Sent in place of the browser's own. */
  readonly userAgent?: string;
}

/** F8 shows hints, a number follows one: the element is clicked by a script, as link hints of Vimium do. */
const linkHints = `
let hinting = false;
addEventListener("keydown", (event) => {
  if (event.key === "F8") { hinting = true; return; }
  if (!hinting || !/^[1-9]$/.test(event.key)) return;
  hinting = false;
  event.preventDefault();
  event.stopImmediatePropagation();
  const target = document.querySelectorAll("button")[event.key - 1];
  const init = { bubbles: true, cancelable: true, composed: true, view: window, detail: 1 };
  for (const type of ["pointerover", "mouseover", "pointerdown", "mousedown", "pointerup", "mouseup", "click"]) {
    target.dispatchEvent(new (type.startsWith("pointer") ? PointerEvent : MouseEvent)(type, init));
  }
}, true);
`;

/** F8 fills each field in one go, with the clicks, keys and changes that pages wait for, as password managers do. */
const filler = `
addEventListener("keydown", (event) => {
  if (event.key !== "F8") return;
  const fields = [...document.querySelectorAll("input, textarea")].filter((each) => each.tabIndex >= 0);
  for (const [index, field] of fields.entries()) {
    const send = (kind, type) => field.dispatchEvent(new kind(type, { bubbles: true, cancelable: true }));
    const keys = () => ["keydown", "keypress", "keyup"].forEach((type) => send(KeyboardEvent, type));
    field.click();
    field.focus();
    keys();
    field.value = "filled " + index;
    keys();
    for (const type of ["input", "change"]) send(Event, type);
    field.blur();
  }
}, true);
`;

/**
 * Small lies about the machine, the same in every frame, whose functions look as the browser's own to a page that asks for their text: what JShelter and
 * other privacy extensions do against fingerprints.
 */
const farbler = `
const texts = new WeakMap();
const asText = Function.prototype.toString;
const disguise = (name, lie, native) => (texts.set(lie, asText.call(native)), Object.defineProperty(lie, "name", { value: name }), lie);
Function.prototype.toString = disguise("toString", { toString() { return texts.get(this) ?? asText.call(this); } }.toString, asText);
function lieAbout(type, values) {
  for (const [key, value] of Object.entries(values)) {
    const native = Object.getOwnPropertyDescriptor(type.prototype, key);
    if (!native) continue;
    const { get } = Object.getOwnPropertyDescriptor({ get [key]() { native.get.call(this); return value; } }, key);
    Object.defineProperty(type.prototype, key, { ...native, get: disguise("get " + key, get, native.get) });
  }
}
lieAbout(Navigator, { hardwareConcurrency: 2, deviceMemory: 4 });
for (const type of [WebGLRenderingContext, WebGL2RenderingContext]) {
  const { getParameter } = type.prototype;
  type.prototype.getParameter = disguise("getParameter", { getParameter(of) {
    const value = getParameter.call(this, of);
    return of === 0x9245 || of === 0x9246 ? "R" + String(value).length + "mWf2" : value;
  } }.getParameter, getParameter);
}
const { toDataURL } = HTMLCanvasElement.prototype;
HTMLCanvasElement.prototype.toDataURL = disguise("toDataURL", { toDataURL(...how) {
  const context = this.getContext("2d");
  if (context && this.width && this.height) {
    const image = context.getImageData(0, 0, this.width, this.height);
    for (let at = 0; at < image.data.length; at += 97) image.data[at] ^= 1;
    context.putImageData(image, 0, 0);
  }
  return toDataURL.apply(this, how);
} }.toDataURL, toDataURL);
`;

const claims = (userAgent: string): Extension => ({
  isEarly: true,
  userAgent,
  script: `Object.defineProperty(Navigator.prototype, "userAgent", { get: () => ${JSON.stringify(userAgent)}, configurable: true });`,
});

const extensions = {
  linkHints: { script: linkHints },
  filler: { script: filler },
  farbler: { script: farbler, isEarly: true, isEverywhere: true },
  firefoxClaim: claims("Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0"),
  telephoneClaim: claims(
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.2 Mobile/15E148 Safari/604.1",
  ),
  webdriverHider: {
    isEarly: true,
    script: `Object.defineProperty(Navigator.prototype, "webdriver", { get: () => false, configurable: true });`,
  },
} satisfies Record<string, Extension>;

export type ExtensionName = keyof typeof extensions;

/** Chromium's switches for an unpacked extension. */
export const extensionArgs = (folder: string) => [
  "--disable-features=DisableLoadExtensionCommandLineSwitch",
  `--load-extension=${folder}`,
];

/** Writes the extension into a folder of its own. */
export async function unpackExtension(name: ExtensionName): Promise<ScratchFolder> {
  const { script, isEarly = false, isEverywhere = false, userAgent }: Extension = extensions[name];
  const folder = await scratchFolder();
  const content = {
    matches: ["http://127.0.0.1/*"],
    js: ["content.js"],
    ...(isEarly && { world: "MAIN", run_at: "document_start" }),
    ...(isEverywhere && { all_frames: true, match_origin_as_fallback: true }),
  };
  const rules = [
    {
      id: 1,
      action: { type: "modifyHeaders", requestHeaders: [{ header: "user-agent", operation: "set", value: userAgent }] },
      condition: { resourceTypes: ["main_frame", "sub_frame", "script", "xmlhttprequest", "ping", "other"] },
    },
  ];
  const manifest = {
    manifest_version: 3,
    name: "Aid",
    version: "1",
    content_scripts: [content],
    ...(userAgent !== undefined && {
      permissions: ["declarativeNetRequest"],
      host_permissions: ["http://127.0.0.1/*"],
      declarative_net_request: { rule_resources: [{ id: "agent", enabled: true, path: "rules.json" }] },
    }),
  };
  writeFileSync(join(folder.path, "manifest.json"), JSON.stringify(manifest));
  writeFileSync(join(folder.path, "content.js"), script);
  if (userAgent !== undefined) writeFileSync(join(folder.path, "rules.json"), JSON.stringify(rules));
  return folder;
}
