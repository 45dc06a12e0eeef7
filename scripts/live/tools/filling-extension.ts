/**
 * A password manager as a browser extension: unpacked, loaded by Chromium as a developer would. It fills in all text fields of a page in the ways of the
 * well-known ones: as the page loads, by a shortcut of the browser (by message or by a script that it runs), from its window at the tool bar, and from an icon
 * beside each field, which is a frame of its own that the page can't look into.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ScratchFolder, scratchFolder } from "../scratch-folder.js";

/** What makes it fill in. `message` and `script`: after the shortcut. */
export type FillTrigger = "load" | "message" | "script" | "window" | "icon";

/** Keys that open its window and that make it fill in: Chromium's own, no page sees them. */
export const fillKeys = { window: "ctrl+shift+y", shortcut: "ctrl+shift+u" } as const;

/** Where the icon is: this far from the right end of a field, px. */
export const iconInset = 14;

/** Sets values as such extensions do: with the events that pages wait for; those of keys and clicks, and the focus, where it is thorough. */
const fill = `
function fillAll(isThorough) {
  const fields = [...document.querySelectorAll("input, textarea")].filter((each) => each.tabIndex >= 0);
  for (const [index, field] of fields.entries()) {
    const send = (kind, type) => field.dispatchEvent(new kind(type, { bubbles: true, cancelable: true }));
    const keys = () => ["keydown", "keypress", "keyup"].forEach((type) => send(KeyboardEvent, type));
    if (isThorough) { field.click(); field.focus(); keys(); }
    field.value = ["ada@mail.example", "brass0wl-17", "Norwich"][index % 3];
    if (isThorough) keys();
    for (const type of ["input", "change"]) send(Event, type);
  }
}
`;

const content = (trigger: FillTrigger, isThorough: boolean) => `${fill}
chrome.runtime.onMessage.addListener(() => fillAll(${isThorough}));
const trigger = "${trigger}";
if (trigger === "load") setTimeout(() => fillAll(${isThorough}), 700);
if (trigger === "icon") for (const field of document.querySelectorAll("input, textarea")) {
  const box = field.getBoundingClientRect();
  const host = document.createElement("div");
  host.style.cssText = "position: absolute; z-index: 9; width: 20px; height: 20px; left: " + (box.right - ${iconInset} - 10) + "px; top: " + (box.top + box.height / 2 - 10) + "px";
  const frame = document.createElement("iframe");
  frame.src = chrome.runtime.getURL("icon.html");
  frame.style.cssText = "width: 20px; height: 20px; border: 0";
  host.attachShadow({ mode: "closed" }).append(frame);
  document.body.append(host);
}
`;

const worker = (trigger: FillTrigger, isThorough: boolean) => `${fill}
chrome.commands.onCommand.addListener(async () => {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  if ("${trigger}" === "message") chrome.tabs.sendMessage(tab.id, "fill");
  else chrome.scripting.executeScript({ target: { tabId: tab.id }, func: fillAll, args: [${isThorough}] });
});
chrome.runtime.onMessage.addListener((_message, sender) => { if (sender.tab) chrome.tabs.sendMessage(sender.tab.id, "fill", { frameId: 0 }); });
`;

const windowScript = `
document.querySelector("button").addEventListener("click", async () => {
  const [tab] = await chrome.tabs.query({ active: true, currentWindow: true });
  await chrome.tabs.sendMessage(tab.id, "fill");
  window.close();
});
`;
const iconScript = `
addEventListener("mousedown", (event) => event.preventDefault());
addEventListener("click", () => chrome.runtime.sendMessage("fill"));
`;

const files = (trigger: FillTrigger, isThorough: boolean): Record<string, string> => ({
  "content.js": content(trigger, isThorough),
  "worker.js": worker(trigger, isThorough),
  "window.html": `<!doctype html><title>Aid</title><button autofocus style="width: 200px; height: 80px">Fill in</button><script src="window.js"></script>`,
  "window.js": windowScript,
  "icon.html": `<!doctype html><body style="margin: 0; background: #26c; height: 20px"><script src="icon.js"></script>`,
  "icon.js": iconScript,
  "manifest.json": JSON.stringify({
    manifest_version: 3,
    name: "Aid",
    version: "1",
    permissions: ["tabs", "scripting"],
    host_permissions: ["http://*/*"],
    background: { service_worker: "worker.js" },
    action: { default_popup: "window.html" },
    commands: {
      _execute_action: { suggested_key: { default: "Ctrl+Shift+Y" } },
      fill: { suggested_key: { default: "Ctrl+Shift+U" }, description: "Fill in" },
    },
    content_scripts: [{ matches: ["http://*/*"], js: ["content.js"] }],
    web_accessible_resources: [{ resources: ["icon.html"], matches: ["http://*/*"] }],
  }),
});

/** Writes it into a folder of its own. */
export async function unpackFilling(trigger: FillTrigger, isThorough: boolean): Promise<ScratchFolder> {
  const folder = await scratchFolder();
  for (const [name, text] of Object.entries(files(trigger, isThorough))) writeFileSync(join(folder.path, name), text);
  return folder;
}
