/**
 * Weston, a compositor of Wayland, in a window that covers a virtual screen of X11: what xdotool plays into the screen reaches its clients as Wayland's own
 * input. It shows one program on the whole of it, so that places in a window are those on the screen.
 */
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { endChild, startChild } from "./child-process.js";
import { programs } from "./chromium.js";
import { type Display, screenSize } from "./display.js";
import { pause } from "./pause.js";
import { scratchFolder } from "./scratch-folder.js";

const startMsMax = 30_000;
const socketName = "wayland-live";

/** A running compositor. */
interface Compositor {
  /** Makes a program its client, and keeps it from the screen of X11. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts one on a screen; rejects when it takes no clients within 30 s. */
export async function openCompositor(display: Display): Promise<Compositor> {
  const folder = await scratchFolder();
  // It refuses a folder that others may read.
  chmodSync(folder.path, 0o700);
  const { width, height } = screenSize;
  const child = startChild(
    programs.weston,
    [
      "--backend=x11-backend.so",
      "--use-pixman",
      "--shell=kiosk-shell.so",
      "--no-config",
      "--idle-time=0",
      `--socket=${socketName}`,
      `--width=${width}`,
      `--height=${height}`,
    ],
    { env: { ...process.env, DISPLAY: display.name, XDG_RUNTIME_DIR: folder.path } },
  );
  const close = async () => {
    await endChild(child);
    await folder.erase();
  };
  const startedAt = performance.now();
  while (!existsSync(join(folder.path, socketName))) {
    if (child.exitCode !== null || performance.now() - startedAt > startMsMax) {
      await close();
      throw new Error("weston took no clients");
    }
    await pause(50);
  }
  return { env: { WAYLAND_DISPLAY: socketName, XDG_RUNTIME_DIR: folder.path, DISPLAY: "" }, close };
}
