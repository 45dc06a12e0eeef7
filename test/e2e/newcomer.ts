/**
 * The path of somebody who has just started verdictd for the first time: what the start prints, the demo page, the console, the first
 * active rule, the first block. All by a real browser and the program's own output; nothing is set up beforehand.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Test } from "tap";
import { Desk } from "../console/desk.js";
import { launch, sessionCookie } from "../support/chromium.js";

/** What the first start prints, by its label: `account token`, `private key`. */
type Welcome = ReadonlyMap<string, string>;

/** Runs `command`, which is to serve a new store, until the test ends; what it printed up to its last line of welcome. */
async function start(t: Test, command: readonly string[], cwd: string): Promise<Welcome> {
  const dataDir = t.testdir();
  const child = spawn(command[0]!, command.slice(1), {
    cwd,
    env: { ...process.env, VERDICTD_DATA_DIR: dataDir, VERDICTD_PORT: "0", VERDICTD_ADMIN_PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    // With what it started itself, as Ctrl-C at a terminal.
    process.kill(-child.pid!, "SIGINT");
    await gone;
  });
  const welcome = new Map<string, string>();
  for await (const line of createInterface({ input: child.stdout })) {
    const [, label, value] = /^([a-z ]+?) {2,}(\S+)$/.exec(line) ?? [];
    if (label !== undefined) welcome.set(label, value!);
    if (line.startsWith("The account token and the private key are shown only once")) {
      child.stdout.resume();
      return welcome;
    }
  }
  throw new Error(`${command.join(" ")} ended before it welcomed anybody`);
}

/** Walks the path on what `command` serves from the folder `cwd`. */
export async function walkAsNewcomer(t: Test, command: readonly string[], cwd: string): Promise<void> {
  const welcome = await start(t, command, cwd);
  const demo = new URL(welcome.get("demo") ?? "");
  t.equal(demo.pathname, "/demo", "the start says where the demo is");
  t.equal(
    (await fetch(new URL("/", demo))).url,
    welcome.get("console"),
    "and the console, where the bare address leads too",
  );
  t.equal((await fetch(welcome.get("documentation") ?? "")).status, 200, "and the documentation");

  const browser = await launch(t);
  const visitor = await browser.newPage();
  await visitor.goto(demo.href);
  await visitor.mouse.move(400, 300, { steps: 20 });
  await visitor
    .getByText(/navigator\.webdriver|user agent/i)
    .first()
    .waitFor();
  const cookie = await sessionCookie(visitor.context());
  const verdict = async (path: string) => {
    const address = new URL(`/v1/sessions/${cookie?.value}/verdict?path=${path}`, demo);
    const answer = await fetch(address, { headers: { Authorization: `Bearer ${welcome.get("private key")}` } });
    return (await answer.json()) as { verdict: string; action: string };
  };
  t.match(await verdict("/before"), { verdict: "definite", action: "allow" }, "a bot is seen, and nobody is blocked");

  const desk = await Desk.open(t, browser, { port: Number(demo.port) });
  await desk.signIn(welcome.get("account token") ?? "");
  await desk.go("Sessions");
  await desk.page.getByRole("link", { name: cookie!.value }).click();
  await desk.title("Session");
  await desk.page.getByText("webdriver").first().waitFor();
  t.pass("the console shows why");
  await desk.page.getByRole("img", { name: /^Pointer path of \d+ points/ }).waitFor();
  t.pass("and where the pointer went");
  await desk.go("Rules");
  await desk.page.getByRole("switch", { name: /definite/i }).click();
  // It blocks: what it would have done is shown first.
  await desk.page.getByRole("button", { name: "Activate it", disabled: false }).click();
  await desk.says(/ is active/);
  t.match(await verdict("/checkout"), { verdict: "definite", action: "block" }, "the first active rule blocks");
  await desk.go("Blocks");
  await desk.page.getByText("/checkout", { exact: true }).waitFor();
  t.pass("and the console shows the block");
  await desk.picture("newcomer-block");
  t.same(desk.broken, []);
}
