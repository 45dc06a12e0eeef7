/** An empty root folder with the executable, glibc and libstdc++ in it, and nothing else: what a bare Linux host offers at least. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, linkSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Test } from "tap";

const machine = process.arch === "arm64" ? "arm64" : "x64";

/** The executable that `npm run package` makes for this machine; the tests that run it make it first. */
export const executable = fileURLToPath(new URL(`../../verdictd-linux-${machine}`, import.meta.url));

/** Why a root of one's own can't be had here; false when it can. */
export function cannotRun(): string | false {
  try {
    execFileSync("unshare", ["--user", "--map-user=1000", "true"], { stdio: "ignore" });
    return false;
  } catch {
    return "user namespaces (unshare --user) can't be used here";
  }
}

interface Done {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Serving {
  readonly address: string;
  readonly pid: number;
  /** From the start of the process to its word that it listens. */
  readonly startMs: number;
  /** Asks it to stop; its exit code. */
  stop(): Promise<number | null>;
}

/** Makes the root read-only but for `/data`, then does what follows. `$0` is the root. */
const onlyDataWritable =
  'mount --bind "$0" "$0" && mount --bind "$0/data" "$0/data" && mount -o remount,bind,ro "$0" && exec "$@"';

/** The root as seen by user 1000, whose home is the only folder beside `/data` and `/backups` that there is. */
export class BareRoot {
  /** Its path outside. */
  readonly path: string;
  readonly #t: Test;
  readonly #before: readonly string[];

  constructor(t: Test, options: { readonly isReadOnly?: boolean } = {}) {
    this.#t = t;
    this.path = t.testdir({ data: {}, backups: {}, home: { operator: {} } });
    for (const library of libraries()) {
      mkdirSync(join(this.path, dirname(library)), { recursive: true });
      copyFileSync(library, join(this.path, library));
    }
    this.install(executable);
    this.#before = options.isReadOnly
      ? ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", onlyDataWritable, this.path]
      : [];
  }

  /** Puts the file there as `/verdictd`, in the place of the one before. */
  install(file: string): void {
    rmSync(join(this.path, "verdictd"), { force: true });
    linkSync(file, join(this.path, "verdictd"));
  }

  #spawn(args: readonly string[]): ChildProcess {
    const inside = ["--user", "--map-user=1000", "--map-group=1000", "--root", this.path, "--wd", "/home/operator"];
    // tap has each Node process load a module of its own, which is not there.
    return spawn("env", ["-u", "NODE_OPTIONS", ...this.#before, "unshare", ...inside, "/verdictd", ...args], {
      env: { PATH: process.env["PATH"], HOME: "/home/operator", VERDICTD_DATA_DIR: "/data" },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** Runs a command to its end. */
  async run(...args: string[]): Promise<Done> {
    const child = this.#spawn(args);
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name]!.setEncoding("utf8").on("data", (text: string) => {
        said[name] += text;
      });
    }
    const [code] = (await once(child, "close")) as [number | null];
    return { code, ...said };
  }

  /** Runs the server on a free port until it is stopped, or the test is over. */
  async serve(...args: string[]): Promise<Serving> {
    const startedAt = performance.now();
    const child = this.#spawn(["serve", "--port", "0", "--admin-port", "0", "--scoring-threads", "1", ...args]);
    const ended = once(child, "close") as Promise<[number | null]>;
    this.#t.teardown(async () => {
      child.kill("SIGKILL");
      await ended;
    });
    child.stderr!.pipe(process.stderr);
    for await (const line of createInterface({ input: child.stdout! })) {
      const { msg, port } = JSON.parse(line) as { msg: string; port?: number };
      if (msg !== "listening") continue;
      const startMs = performance.now() - startedAt;
      child.stdout!.resume();
      const stop = async (): Promise<number | null> => {
        child.kill("SIGTERM");
        return (await ended)[0];
      };
      return { address: `http://127.0.0.1:${port}`, pid: child.pid!, startMs, stop };
    }
    throw new Error(`the server ended before it listened: exit ${(await ended)[0]}`);
  }
}

/** Paths of glibc's and libstdc++'s parts that the executable is linked with, the loader among them. */
function libraries(): string[] {
  const said = execFileSync("ldd", [executable], { encoding: "utf8" });
  const paths = [...said.matchAll(/(\/\S+) \(0x/g)].map(([, path]) => path!);
  const foreign = paths.filter((path) => !/\/(ld-linux|lib(c|m|dl|pthread|gcc_s|stdc\+\+)\.so)/.test(path));
  if (foreign.length > 0) throw new Error(`the executable needs more than glibc and libstdc++: ${foreign.join(", ")}`);
  return paths;
}
