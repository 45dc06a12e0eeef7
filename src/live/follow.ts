/**
 * The reading end of `verdictd tail`: connects to every HTTP thread of every server on a data folder, including those that start later, and passes on
 * what they show.
 */
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import type { LeftOut, LiveFilter, LiveVerdict } from "../contract/verdicts/live-verdict.js";
import { limits } from "../limits.js";
import { liveFolder, socketPath, socketsIn } from "./folder.js";

/** Receives what the servers show, and the state of the connection to them. */
interface Listener {
  readonly onVerdict: (verdict: LiveVerdict) => void;
  /** Called when answers came faster than they were read here. */
  readonly onLeftOut: (count: number) => void;
  /** Called at first and on every change. */
  readonly onServer: (state: FollowState) => void;
}

/**
 * `following`; `refused`: a server runs and takes no further follower; `denied`: this user may not connect; `unreachable`: nothing answers. A server
 * that is just starting, or that has a file system without sockets, is `unreachable` too.
 */
export type FollowState = "following" | "refused" | "denied" | "unreachable";

/** Follows until the returned function is called. */
export function followVerdicts(dataDir: string, filter: LiveFilter, listener: Listener): () => void {
  const folder = liveFolder(dataDir);
  const known = new Map<string, Socket>();
  const following = new Set<string>();
  let told: FollowState | null = null;
  /** Why the last look could not follow some sockets. */
  let failure: Exclude<FollowState, "following"> = "unreachable";
  const tell = (): void => {
    const state = following.size > 0 ? "following" : failure;
    // A connection that is still opening may follow.
    if (told === state || (state !== "following" && known.size > 0)) return;
    told = state;
    listener.onServer(state);
  };
  const follow = (name: string): void => {
    const { path, release } = socketPath(folder, name);
    const socket = connect(path);
    known.set(name, socket);
    let isConnected = false;
    socket.on("connect", () => {
      isConnected = true;
    });
    socket.on("error", ({ code }: NodeJS.ErrnoException) => {
      if (code === "EACCES" || code === "EPERM") failure = "denied";
      socket.destroy();
    });
    socket.on("close", () => {
      release();
      known.delete(name);
      // A followed server has ended; one that accepted the connection but never sent anything is full.
      if (following.delete(name)) failure = "unreachable";
      else if (isConnected) failure = "refused";
      tell();
    });
    socket.write(`${JSON.stringify(filter)}\n`);
    createInterface({ input: socket })
      // The line reader passes on errors of its socket, which is destroyed above: a server may be killed at any time.
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
    if (known.size === 0) failure = "unreachable";
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

/** Returns null for a line that was cut short: its server was killed while writing. */
function parsed(line: string): LiveVerdict | LeftOut | null {
  try {
    return JSON.parse(line) as LiveVerdict | LeftOut;
  } catch {
    return null;
  }
}
