/** How this machine's browsers are started for a live measurement: paths, and the switches that the environment asks for. */
import { existsSync } from "node:fs";

/** Programs by name; each path can be set in the environment. */
export const programs = {
  chromium: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
  firefox: process.env["FIREFOX_PATH"] ?? "/usr/bin/firefox-esr",
  chromedriver: process.env["CHROMEDRIVER_PATH"] ?? "/usr/bin/chromedriver",
  Xvfb: process.env["XVFB_PATH"] ?? "/usr/bin/Xvfb",
  weston: process.env["WESTON_PATH"] ?? "/usr/bin/weston",
  xdotool: process.env["XDOTOOL_PATH"] ?? "/usr/bin/xdotool",
  x11vnc: process.env["X11VNC_PATH"] ?? "/usr/bin/x11vnc",
  vncviewer: process.env["VNCVIEWER_PATH"] ?? "/usr/bin/xtigervncviewer",
  curl: process.env["CURL_PATH"] ?? "/usr/bin/curl",
  python3: process.env["PYTHON_PATH"] ?? "/usr/bin/python3",
} as const;

type ProgramName = keyof typeof programs;

/** The first of the programs that is not there, as a reason to show; null when all are. */
export function missingProgram(...names: readonly ProgramName[]): string | null {
  const name = names.find((each) => !existsSync(programs[each]));
  return name === undefined ? null : `${programs[name]} is missing`;
}

/** Switches that keep Chromium off the network and let it run in a container. None of them tells a page of automation. */
export const quietArgs = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--no-default-browser-check",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
] as const;

/** Chromium's user agent of a window with a person before it: what headless Chromium says, less the word for it. */
export function ordinaryUserAgent(majorVersion: string): string {
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${majorVersion}.0.0.0 Safari/537.36`;
}
