/** The receivers that the documentation shows run, take what is signed, and refuse the rest; Slack gets what its incoming webhooks take. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import t, { type Test } from "tap";
import { messageBody } from "../../src/alerting/messages.js";
import { sendWebhook } from "../../src/alerting/send-webhook.js";
import { startReceiver } from "./receiver.js";

const page = readFileSync(resolve(import.meta.dirname, "../../../src/docs/alerts.md"), "utf8");
const secret = "a secret of the test's own";
const message = {
  alert: { id: 1, name: "Under attack" },
  project: { id: 1, name: "Shop & <Co>" },
  at: "2026-11-26T09:19:02.512Z",
  expression: 'path == "/login"',
  link: "https://bots.example.com/console",
};

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}

/** The lines that the process prints, however it writes them. */
function linesOf(child: ChildProcess): () => Promise<string> {
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return async () => String((await lines.next()).value);
}

for (const [name, program, file] of [
  ["Node", process.execPath, "receiver.mjs"],
  ["Python", "python3", "receiver.py"],
] as const) {
  t.test(`the receiver in ${name}`, async (t: Test) => {
    const code = new RegExp(`\`\`\`\\w+ file=${file.replace(".", "\\.")}\\n(.*?)\`\`\``, "s").exec(page)?.[1];
    t.type(code, "string");
    const folder = t.testdir({ [file]: code! });
    const port = await freePort();
    const child = spawn(program, [join(folder, file)], {
      env: { ...process.env, PORT: String(port), ALERT_SECRET: secret },
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.teardown(async () => {
      const ended = once(child, "exit");
      child.kill();
      await ended;
    });
    const nextLine = linesOf(child);
    t.equal(await nextLine(), "listening");
    const url = `http://127.0.0.1:${port}/`;
    const sent = { url, body: messageBody({ kind: "webhook" }, message), arePrivateAllowed: true, nowMs: Date.now() };
    t.match(await sendWebhook({ ...sent, secret }), { isDelivered: true, status: 204 });
    t.equal(await nextLine(), 'Under attack (Shop & <Co>): path == "/login"');
    t.match(await sendWebhook({ ...sent, secret: "another secret" }), { status: 401 });
    t.match(await sendWebhook({ ...sent, secret, nowMs: Date.now() - 600_000 }), { status: 401 }, "an old one again");
  });
}

t.test("Slack", async (t) => {
  const slack = await startReceiver(t, (reply) => reply.writeHead(200).end("ok"));
  const body = messageBody({ kind: "slack" }, message);
  t.match(await sendWebhook({ url: slack.url, body, secret: "", arePrivateAllowed: true, nowMs: 0 }), {
    isDelivered: true,
  });
  t.same(Object.keys(JSON.parse(slack.received[0]!.body)), ["text"]);
  t.match(JSON.parse(body).text, /Under attack \(Shop &amp; &lt;Co&gt;\)/);
});
