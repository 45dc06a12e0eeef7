/**
 * Processes of two PID namespaces with the same number on one store, as two containers have them: LMDB knows readers by that number. Skipped where
 * the kernel lets this user make no PID namespace.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import t, { type Test } from "tap";
import { json, program } from "../support/process.js";

/** The first process of a namespace is number 1. */
const unshare = ["--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"];
const allowed = spawnSync("unshare", [...unshare, "true"]).status === 0;

function start(t: Test, ...args: string[]): ChildProcess {
  const command = [...unshare, "env", "-u", "NODE_OPTIONS", process.execPath, program, ...args];
  const child = spawn("unshare", command, { stdio: ["ignore", "pipe", "pipe"] });
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });
  return child;
}

async function ended(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

/** The port of a server that listens, and the number of its process in its namespace. */
async function listening(child: ChildProcess): Promise<{ port: number; pid: number }> {
  for await (const line of createInterface({ input: child.stdout! })) {
    if (!line.startsWith("{")) continue;
    const { msg, port, pid } = JSON.parse(line) as { msg: string; port: number; pid: number };
    if (msg === "listening") return { port, pid };
  }
  throw new Error("it ended before it listened");
}

t.test(
  "a second process 1 works beside the first",
  { skip: allowed ? false : "no PID namespaces for this user" },
  async (t) => {
    const dir = `${t.testdir()}/store`;
    await json(dir, "init");
    const serve = ["serve", "--data-dir", dir, "--port", "0", "--admin-port", "0", "--scoring-threads", "1"];
    const first = await listening(start(t, ...serve));
    t.equal(first.pid, 1);

    const listed = await ended(start(t, "project", "list", "--account", "1", "--data-dir", dir, "--json"));
    t.same([listed.code, listed.stderr], [0, ""]);
    t.match(JSON.parse(listed.stdout), { data: [{ id: 1 }] });
    const made = await ended(
      start(t, "project", "create", "--account", "1", "--name", "Two", "--data-dir", dir, "--json"),
    );
    t.same([made.code, made.stderr], [0, ""]);
    const wrong = await ended(start(t, "token", "revoke", "99", "--data-dir", dir));
    t.equal(wrong.code, 1, "and failures keep their code");
    t.equal(wrong.stderr.trim().split("\n").length, 1);

    const child = start(t, ...serve);
    const second = await listening(child);
    t.not(second.pid, 1, "it runs under another number");
    for (const { port } of [first, second]) t.equal((await fetch(`http://127.0.0.1:${port}/readyz`)).status, 200);
    // To the namespace's first process, as `docker stop` sends it.
    const inner = Number(
      spawnSync("pgrep", ["-P", String(child.pid)])
        .stdout.toString()
        .trim(),
    );
    process.kill(inner, "SIGTERM");
    const [code] = (await once(child, "exit")) as [number | null];
    t.equal(code, 0, "SIGTERM stops it in order");
    t.equal((await fetch(`http://127.0.0.1:${first.port}/readyz`)).status, 200, "and the first goes on");
  },
);
