/**
 * Texts that come by the desktop's input methods: IBus with the engine of a language, and with an engine that puts in what was said, as dictation does. A bus
 * and a configuration of their own; the browser finds them by its environment.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { awaitOutput, endChild, startChild } from "../child-process.js";
import { missingProgram, programs } from "../chromium.js";
import type { Display } from "../display.js";
import { scratchFolder } from "../scratch-folder.js";

const dbusDaemon = "/usr/bin/dbus-daemon";
const ibusDaemon = "/usr/bin/ibus-daemon";
const bindings = "/usr/lib/x86_64-linux-gnu/girepository-1.0/IBus-1.0.typelib";
const startMsMax = 30_000;

/** Engines by the way they are used. */
const engineFiles = { dictation: bindings, anthy: "/usr/share/ibus/component/anthy.xml" } as const;
export type EngineName = keyof typeof engineFiles;

/** Why an engine can't be used; null when it can. */
export function missingInputMethod(engine: EngineName): string | null {
  const file = [dbusDaemon, ibusDaemon, bindings, engineFiles[engine]].find((each) => !existsSync(each));
  return file === undefined ? missingProgram("python3") : `${file} is missing`;
}

/** Chooses an engine; offers one of its own that puts in each line of its input, all at once. */
const engineScript = `
import sys, threading, time, gi
gi.require_version("IBus", "1.0")
from gi.repository import GLib, IBus
IBus.init()
while not IBus.get_address(): time.sleep(0.3)
bus = IBus.Bus()
shown = []
class Dictation(IBus.Engine):
    __gtype_name__ = "Dictation"
    def do_enable(self): shown.append(self)
    def do_focus_in(self): shown.append(self)
factory = IBus.Factory.new(bus.get_connection())
factory.add_engine("dictation", Dictation)
component = IBus.Component.new("org.example.Dictation", "Dictation", "1", "MIT", "", "", "", "dictation")
component.add_engine(IBus.EngineDesc.new("dictation", "Dictation", "", "en", "MIT", "", "", "us"))
bus.register_component(component)
bus.request_name("org.example.Dictation", 0)
def chosen(bus, result, tries):
    done = False
    try: done = bus.set_global_engine_async_finish(result)
    except GLib.Error as error: print(error.message, flush=True)
    if done: print("chosen", flush=True)
    elif tries < 20: GLib.timeout_add(500, choose, tries + 1)
    else: print("refused", flush=True)
def choose(tries=0):
    # Its own engine is asked for within this process: to wait for the answer would be to wait for itself.
    bus.set_global_engine_async(sys.argv[1], 5000, None, chosen, tries)
    return False
GLib.idle_add(choose)
def put(text):
    if shown: shown[-1].commit_text(IBus.Text.new_from_string(text))
    else: print("nowhere", flush=True)
    return False
def read():
    for line in sys.stdin: GLib.idle_add(put, line.rstrip("\\n"))
threading.Thread(target=read, daemon=True).start()
GLib.MainLoop().run()
`;

/** A running input method on one screen. */
interface InputMethod {
  /** What a browser's environment needs to use it. */
  readonly env: Readonly<Record<string, string>>;
  /** Puts a text in where the focus is; of the engine `dictation` only. */
  say(text: string): void;
  close(): Promise<void>;
}

/** Starts IBus with an engine. */
export async function openInputMethod(display: Display, engine: EngineName): Promise<InputMethod> {
  const home = await scratchFolder();
  // Engines are scripts of the system's Python.
  const PATH = `/usr/bin:${process.env["PATH"]}`;
  const plain = { ...process.env, PATH, DISPLAY: display.name, XDG_CONFIG_HOME: home.path, XDG_CACHE_HOME: home.path };
  // Anthy begins in Latin letters unless told otherwise.
  const settings = join(home.path, "glib-2.0/settings");
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "keyfile"), "[org/freedesktop/ibus/engine/anthy/common]\ninput-mode=0\n");
  const session = startChild(dbusDaemon, ["--session", "--nofork", "--print-address"], { env: plain });
  const children = [session];
  const close = async () => {
    for (const child of children.reverse()) await endChild(child);
    await home.erase();
  };
  try {
    const [address] = await awaitOutput(session, /unix:\S+/, startMsMax);
    const own = { DBUS_SESSION_BUS_ADDRESS: address, XDG_CONFIG_HOME: home.path, XDG_CACHE_HOME: home.path };
    const env = { ...own, GTK_IM_MODULE: "ibus", XMODIFIERS: "@im=ibus" };
    const all = { ...plain, ...env, GSETTINGS_BACKEND: "keyfile" };
    children.push(startChild(ibusDaemon, ["--xim", "--panel=disable", "--emoji-extension=disable"], { env: all }));
    const client = startChild(programs.python3, ["-c", engineScript, engine], {
      env: all,
      stdio: ["pipe", "pipe", "pipe"],
    });
    children.push(client);
    const [answer] = await awaitOutput(client, /chosen|refused/, startMsMax);
    if (answer !== "chosen") throw new Error(`IBus refuses ${engine}`);
    return { env, say: (text) => void client.stdin!.write(`${text}\n`), close };
  } catch (error) {
    await close();
    throw error;
  }
}
