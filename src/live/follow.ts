/**
 * The reading end of `verdictd tail`: connects to every HTTP thread of every server on a data folder, also to those that start
 * later, and hands on what they show.
 */
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { LeftOut, LiveFilter, LiveVerdict } from "../contract/live-verdict.js";
import { limits } from "../limits.js";
import { liveFolder, socketPath, socketsIn } from "./folder.js";

export interface Listener {
  readonly onVerdict: (verdict: LiveVerdict) => void;
  /** Answers were given faster than they were read here. */
  readonly onLeftOut: (count: number) => void;
  /** Whether a server runs; told at first and on every change. */
  readonly onServer: (isRunning: boolean) => void;
}

/** Follows until the returned function is called. */
export function followVerdicts(dataDir: string, filter: LiveFilter, listener: Listener): () => void {
  const folder = liveFolder(dataDir);
  const known = new Map<string, Socket>();
  const following = new Set<string>();
  let told: boolean | null = null;
  const tell = (): void => {
    const isRunning = following.size > 0;
    // What is being connected to may be one.
    if (told === isRunning || (!isRunning && known.size > 0)) return;
    told = isRunning;
    listener.onServer(isRunning);
  };
  const follow = (name: string): void => {
    const { path, release } = socketPath(folder, name);
    const socket = connect(path);
    known.set(name, socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      release();
      known.delete(name);
      following.delete(name);
      tell();
    });
    socket.write(`${JSON.stringify(filter)}\n`);
    createInterface({ input: socket })
      // The reader of lines passes on errors of its socket, which is destroyed above: a server may be killed at any time.
      .on("error", () => {})
      .on("line", (line) => {
        if (line !== "") hear(line, listener);
        else {
          following.add(name);
          tell();
        }
      });
  };
  const look = (): void => {
    for (const name of socketsIn(folder)) if (!known.has(name)) follow(name);
    tell();
  };
  look();
  const looking = setInterval(look, limits.followLookMs);
  return () => {
    clearInterval(looking);
    for (const socket of known.values()) socket.destroy();
  };
}

function hear(line: string, { onVerdict, onLeftOut }: Listener): void {
  const heard = parsed(line);
  if (heard === null) return;
  if ("left_out" in heard) onLeftOut(heard.left_out);
  else onVerdict(heard);
}

/** Null for a line that was cut short: its server was killed while it wrote. */
function parsed(line: string): LiveVerdict | LeftOut | null {
  try {
    return JSON.parse(line) as LiveVerdict | LeftOut;
  } catch {
    return null;
  }
}
