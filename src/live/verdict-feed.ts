/**
 * The serving end of `verdictd tail`: one HTTP thread shows its verdict answers, as it sends them, to the followers connected to its socket. Nothing
 * is stored. Without followers an answer costs one look at a number. A follower that reads slowly loses answers and learns how many, and never delays
 * the thread.
 */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { LeftOut, LiveFilter, LiveVerdict, VerdictSource } from "../contract/verdicts/live-verdict.js";
import type { RequestContext, Verdict } from "../contract/verdicts/verdict.js";
import { limits } from "../limits.js";
import { liveFolder, type SocketPath, socketPath, socketSuffix } from "./folder.js";

/** The feed of one thread: `listen` once, `show` for every answer, `close` at the end. */
export class VerdictFeed {
  readonly #followers = new Set<Follower>();
  #server: Server | null = null;
  #file: { readonly name: string; readonly path: SocketPath } | null = null;

  /** Whether there are followers to `show` answers to. */
  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  /** Starts to accept followers. Rejects if the data folder's file system has no sockets. */
  async listen(dataDir: string): Promise<void> {
    const folder = liveFolder(dataDir);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    removeLeftBehind(folder);
    const name = randomBytes(6).toString("hex") + socketSuffix;
    const path = socketPath(folder, name);
    const server = createServer((socket) => this.#welcome(socket));
    this.#file = { name: join(folder, name), path };
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(path.path, resolve);
    });
    chmodSync(join(folder, name), 0o600);
    server.unref();
    this.#server = server;
  }

  show(answer: LiveVerdict): void {
    let line = "";
    for (const follower of this.#followers) {
      if (!follower.wants(answer)) continue;
      if (line === "") line = `${JSON.stringify(answer)}\n`;
      follower.send(line);
    }
  }

  /** Disconnects followers and accepts no more. May be called at any time, also when `listen` has failed. */
  async close(): Promise<void> {
    for (const follower of this.#followers) follower.leave();
    const server = this.#server;
    this.#server = null;
    if (server !== null) await new Promise((resolve) => server.close(resolve));
    if (this.#file === null) return;
    rmSync(this.#file.name, { force: true });
    this.#file.path.release();
    this.#file = null;
  }

  /** A connection follows once it has sent its first line, which is its filter. */
  #welcome(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    if (this.#followers.size >= limits.followersMax) {
      socket.destroy();
      return;
    }
    let text = "";
    socket.setEncoding("utf8").on("data", (piece: string) => {
      if (text.includes("\n")) return;
      text += piece;
      if (!text.includes("\n") && text.length <= limits.followFilterMax) return;
      const filter = readFilter(text);
      if (filter === null) {
        socket.destroy();
        return;
      }
      const follower = new Follower(socket, filter);
      this.#followers.add(follower);
      socket.on("close", () => this.#followers.delete(follower));
      socket.write("\n");
    });
  }
}

/** An answer in the form that followers see. */
export function liveVerdict(
  projectId: number,
  token: string | null,
  { verdict, score, action, detection_ids, reason }: Verdict,
  source: VerdictSource,
  { method = null, host = null, path = null }: Partial<Record<keyof RequestContext, string | null | undefined>>,
  nowMs: number,
): LiveVerdict {
  const at = new Date(nowMs).toISOString();
  const told = { verdict, score, action, detection_ids, reason, source, method, host, path };
  return { at, project_id: projectId, session_token: token, ...told };
}

class Follower {
  readonly #socket: Socket;
  readonly #filter: LiveFilter;
  #waiting = "";
  #leftOut = 0;

  constructor(socket: Socket, filter: LiveFilter) {
    this.#socket = socket;
    this.#filter = filter;
  }

  wants({ project_id, verdict, action }: LiveVerdict): boolean {
    const { project, bands, actions } = this.#filter;
    return (
      (project === null || project === project_id) &&
      (bands.length === 0 || bands.includes(verdict)) &&
      (actions.length === 0 || actions.includes(action))
    );
  }

  /** All lines of a tick are written at once. */
  send(line: string): void {
    if (this.#socket.writableLength + this.#waiting.length > limits.followBytesMax) {
      this.#leftOut++;
      return;
    }
    if (this.#waiting === "") setImmediate(() => this.#write());
    if (this.#leftOut > 0) this.#waiting += `${JSON.stringify({ left_out: this.#leftOut } satisfies LeftOut)}\n`;
    this.#leftOut = 0;
    this.#waiting += line;
  }

  leave(): void {
    this.#write();
    this.#socket.destroySoon();
  }

  #write(): void {
    if (this.#waiting !== "" && this.#socket.writable) this.#socket.write(this.#waiting);
    this.#waiting = "";
  }
}

function readFilter(text: string): LiveFilter | null {
  try {
    const { project = null, bands = [], actions = [] } = JSON.parse(text.slice(0, text.indexOf("\n")));
    return Array.isArray(bands) && Array.isArray(actions) ? { project, bands, actions } : null;
  } catch {
    return null;
  }
}

/** Removes sockets of killed processes: nothing answers there, and they are older than any socket that is just being created. */
function removeLeftBehind(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (!name.endsWith(socketSuffix) || age < limits.socketLeftBehindMs) continue;
    const { path, release } = socketPath(folder, name);
    const probe = connect(path)
      .once("connect", () => probe.destroy())
      .once("error", (error: NodeJS.ErrnoException) => {
        if (error.code === "ECONNREFUSED") rmSync(file, { force: true });
      })
      .once("close", release)
      .unref();
  }
}
