/**
 * Holds the clients for all languages to the same scenarios, against a real verdictd behind a front that can fail: `protocol.ts` says what a further
 * client needs for it.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { startVerdictd } from "../middleware/verdictd-process.js";
import { freePort } from "../support/free-port.js";
import { type Front, startFront } from "./front.js";
import type { Answer, Command } from "./protocol.js";
import {
  commandOf,
  differences,
  expectedOf,
  filledIn,
  plainOptionNames,
  type Scenario,
  type Turn,
  turnsOf,
} from "./scenario.js";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../../..");
const adapters = join(root, "test/clients/adapters");
const served = join(root, "dist/clients");
const scenarios = JSON.parse(readFileSync(join(root, "test/clients/scenarios.json"), "utf8")) as readonly Scenario[];

const running = await startVerdictd(t);
await running.enableChallenge();
const front = await startFront(t, running.baseUrl);
const names = {
  url: front.url,
  closed: `http://127.0.0.1:${await freePort()}`,
  privateKey: running.privateKey,
  siteKey: running.siteKey,
  session: running.sessionToken,
};

/** By name, which scenarios know: the command of the adapter. */
const clients: Readonly<Record<string, readonly [string, ...string[]]>> = {
  node: [process.execPath, join(here, "adapters/node.js")],
  python: ["python3", join(adapters, "adapter.py"), served],
  "python-asgi": ["python3", join(adapters, "adapter.py"), served, "asgi"],
  php: ["php", join(adapters, "adapter.php"), served],
  "php-psr": ["php", join(adapters, "adapter.php"), served, "psr"],
  go: [goAdapter()],
};

/** Builds the adapter beside the client's package, and returns its path. */
function goAdapter(): string {
  const folder = join(t.testdirName, "go");
  mkdirSync(join(folder, "verdictd"), { recursive: true });
  writeFileSync(join(folder, "go.mod"), "module adapter\n\ngo 1.19\n");
  copyFileSync(join(adapters, "adapter.go"), join(folder, "main.go"));
  copyFileSync(join(served, "verdictd.go"), join(folder, "verdictd/verdictd.go"));
  const { status, error, stderr } = spawnSync("go", ["build", "-o", "adapter", "."], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`go build: ${error?.message ?? stderr}`);
  return join(folder, "adapter");
}

/** An adapter's process. */
class Adapter {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(t: Test, [program, ...args]: readonly [string, ...string[]]) {
    this.#child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
    // Fails the test, as it should where the language is not installed.
    this.#child.on("error", (error) => t.fail(error.message));
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
    const over = once(this.#child, "exit");
    t.teardown(async () => {
      this.#child.stdin!.end();
      await over;
    });
  }

  async answer(command: Command): Promise<Answer> {
    this.#child.stdin!.write(`${JSON.stringify(command)}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error("the adapter has ended");
    return JSON.parse(value) as Answer;
  }
}

async function play(t: Test, adapter: Adapter, scenario: Scenario, front: Front): Promise<void> {
  const { name, options = {}, hooks = {}, steps } = filledIn(scenario, names);
  // A busy machine is no failure: only the scenarios that are about it have the client's own limit.
  const client = { baseUrl: front.url, privateKey: running.privateKey, timeoutMs: 10_000, ...options.client };
  front.fault = "pass";
  const faults: string[] = [];
  const withClient = { ...options, client };
  const made = await adapter.answer({ do: "create", options: withClient, hooks });
  if (made.error !== undefined) faults.push(`the options are refused: ${made.error}`);
  for (const [index, step] of steps.entries()) {
    for (const [turn, each] of turnsOf(step).entries()) {
      if (each.fault !== undefined) front.fault = each.fault;
      front.asked.length = 0;
      const answer = await adapter.answer(commandOf(each, withClient, hooks));
      faults.push(...faultsOf(each, answer, front).map((fault) => `step ${index + 1}, turn ${turn}${fault}`));
    }
  }
  t.same(faults, [], name);
}

function faultsOf(turn: Turn, answer: Answer, front: Front): string[] {
  const { asked, unsent = [] } = turn;
  const { error } = answer;
  const given = error === undefined ? answer : { ...answer, error: plainOptionNames(error) };
  return [
    ...differences(given, expectedOf(turn)),
    ...(asked === undefined ? [] : differences(front.asked, asked, ".asked")),
    ...unsent.filter((text) => front.asked.some((each) => each.text.includes(text))).map((text) => `: sent ${text}`),
  ];
}

t.ok(scenarios.length >= 40, `${scenarios.length} scenarios`);
for (const [client, command] of Object.entries(clients)) {
  t.test(client, async (t) => {
    const adapter = new Adapter(t, command);
    for (const scenario of scenarios) {
      const why = scenario.except?.[client];
      if (why === undefined) await play(t, adapter, scenario, front);
      else t.ok(why.length > 20, `${scenario.name}: not of this client, because ${why}`);
    }
  });
}
