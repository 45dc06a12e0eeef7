/**
 * Assistive technology of the desktop: default actions by AT-SPI, as a screen reader or voice control asks a browser for them, and
 * MouseKeys of the X server. Both are asked through the system's own libraries, by Python, which needs no package for it.
 */
import { existsSync } from "node:fs";
import { awaitOutput, endChild, startChild } from "../child-process.js";
import { missingProgram, programs } from "../chromium.js";
import type { Display } from "../display.js";

const dbusDaemon = "/usr/bin/dbus-daemon";
const registry = "/usr/libexec/at-spi2-registryd";
const actionMsMax = 30_000;
const attemptsMax = 5;

/** Why AT-SPI can't be used; null when it can. */
export function missingAccessibility(): string | null {
  const file = [dbusDaemon, registry].find((each) => !existsSync(each));
  return file === undefined ? missingProgram("python3") : `${file} is missing`;
}

/** Does the default action of the first button that is called as its argument says. Text can't be entered so: Chromium's fields have no EditableText. */
const actionScript = `
import sys
from ctypes import CDLL, c_char_p, c_int, c_void_p
lib = CDLL("libatspi.so.0")
def call(name, result, *given):
    function = getattr(lib, "atspi_" + name)
    function.restype = result
    return function(*given)
call("init", c_int)
def find(node, name, depth=0):
    node = c_void_p(node)
    role = call("accessible_get_role_name", c_char_p, node, None) or b""
    if role in (b"push button", b"button") and call("accessible_get_name", c_char_p, node, None) == name:
        return node
    if depth > 40: return None
    for index in range(call("accessible_get_child_count", c_int, node, None)):
        child = call("accessible_get_child_at_index", c_void_p, node, c_int(index), None)
        found = child and find(child, name, depth + 1)
        if found: return found
button = find(call("get_desktop", c_void_p, c_int(0)), sys.argv[1].encode())
action = button and c_void_p(call("accessible_get_action_iface", c_void_p, button))
done = action and call("action_do_action", c_int, action, c_int(0), None)
print("done" if done else "refused" if action else "missing", flush=True)
`;

/** A session bus with the accessibility registry on it. */
interface AccessibilityBus {
  /** What a browser's environment needs to be on it. */
  readonly env: Readonly<Record<string, string>>;
  /** Does the default action of the button of this name. */
  press(name: string): Promise<void>;
  close(): Promise<void>;
}

/** Starts a bus of its own. */
export async function openAccessibilityBus(): Promise<AccessibilityBus> {
  // Without a display, or the registry would leave its address there for whoever comes later.
  const { DISPLAY: _, ...plain } = process.env;
  const daemon = startChild(dbusDaemon, ["--session", "--nofork", "--print-address"], { env: plain });
  const [address] = await awaitOutput(daemon, /unix:\S+/, actionMsMax);
  const env = { DBUS_SESSION_BUS_ADDRESS: address, ACCESSIBILITY_ENABLED: "1", GNOME_ACCESSIBILITY: "1" };
  return {
    env,
    async press(name) {
      // The library reads the list of applications once: of a browser that registers later a new process knows.
      for (let attempt = 1; ; attempt++) {
        const reader = startChild(programs.python3, ["-c", actionScript, name], { env: { ...plain, ...env } });
        const [answer] = await awaitOutput(reader, /done|refused|missing/, actionMsMax);
        await endChild(reader);
        if (answer === "done") return;
        if (answer === "refused" || attempt === attemptsMax) throw new Error(`AT-SPI: ${name} is ${answer}`);
      }
    },
    close: () => endChild(daemon),
  };
}

/** XkbUseCoreKbd; XkbMouseKeysMask and XkbMouseKeysAccelMask. */
const mouseKeysScript = `
import sys
from ctypes import CDLL, c_char_p, c_uint, c_void_p
lib = CDLL("libX11.so.6")
lib.XOpenDisplay.restype = c_void_p
display = c_void_p(lib.XOpenDisplay(None))
mask = 0x30
done = lib.XkbChangeEnabledControls(display, c_uint(0x100), c_uint(mask), c_uint(mask if sys.argv[1] == "on" else 0))
lib.XSync(display, 0)
print("done" if done else "refused", flush=True)
`;

/** Turns the number pad of a screen into a mouse, or back. */
export async function setMouseKeys(display: Display, mode: "on" | "off"): Promise<void> {
  const child = startChild(programs.python3, ["-c", mouseKeysScript, mode], {
    env: { ...process.env, DISPLAY: display.name },
  });
  const [answer] = await awaitOutput(child, /done|refused/, actionMsMax);
  if (answer !== "done") throw new Error("the X server has no MouseKeys");
}
