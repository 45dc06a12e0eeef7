/** The documentation's sample that keeps bots out of web analytics, as a process of its own, before a receiver that writes down what arrives. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import t from "tap";
import { testKeys } from "../../src/contract/configuration/test-keys.js";
import { freePort } from "../support/free-port.js";
import { serve } from "../support/process.js";
import { waitUntil } from "../support/wait-until.js";
import { installClient } from "./installed-client.js";
import { allSamples } from "./samples.js";

t.test("what people send arrives, with their address and agent, and what bots send does not", async (t) => {
  const folder = t.testdir();
  for (const name of ["data", "site"]) mkdirSync(join(folder, name));
  const server = await serve(t, join(folder, "data"), { flags: ["--test-keys"] });
  const arrived: string[] = [];
  const analytics = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const { "user-agent": agent, "x-forwarded-for": ip } = request.headers;
    arrived.push(`${request.method} ${request.url} ${agent} ${ip} ${body}`);
    response.writeHead(202, { "Content-Type": "text/plain" }).end("counted");
  }).listen(0, "127.0.0.1");
  await once(analytics, "listening");
  t.teardown(() => analytics.close());

  const site = join(folder, "site");
  installClient(site);
  writeFileSync(join(site, "package.json"), '{"type":"module"}');
  const { source } = allSamples().find((sample) => sample.source.startsWith("// analytics.js"))!;
  const started = async (privateKey: string): Promise<string> => {
    const port = await freePort();
    const file = join(site, `analytics-${port}.js`);
    // A busy machine may take longer than the 150 ms after which the visitor is let in.
    const here = source
      .replace("http://127.0.0.1:8080", server.address)
      .replace("3000", String(port))
      .replace("PRIVATE_KEY }", "PRIVATE_KEY, timeoutMs: 10_000 }");
    writeFileSync(file, here);
    const url = `http://127.0.0.1:${(analytics.address() as AddressInfo).port}`;
    const env = { ...process.env, NODE_OPTIONS: "", PRIVATE_KEY: privateKey, ANALYTICS_URL: url };
    const child = spawn(process.execPath, [file], { env, stdio: ["ignore", "ignore", "inherit"] });
    t.teardown(() => child.kill("SIGKILL"));
    const address = `http://127.0.0.1:${port}`;
    await waitUntil(
      () =>
        fetch(address).then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status > 0,
    );
    return address;
  };
  const headers = {
    "User-Agent": "Somebody/1.0",
    "X-Forwarded-For": "203.0.113.7",
    "Content-Type": "application/json",
  };
  const send = async (address: string) => [
    (await fetch(`${address}/api/event`, { method: "POST", headers, body: '{"name":"pageview"}' })).status,
    (await fetch(`${address}/matomo.php?idsite=1`, { headers })).status,
    await (await fetch(`${address}/api/send`, { method: "POST", headers, body: "{}" })).text(),
  ];

  t.same(await send(await started(testKeys("human").privateKey)), [202, 202, "counted"]);
  t.same(arrived.splice(0), [
    'POST /api/event Somebody/1.0 203.0.113.7 {"name":"pageview"}',
    "GET /matomo.php?idsite=1 Somebody/1.0 203.0.113.7 ",
    "POST /api/send Somebody/1.0 203.0.113.7 {}",
  ]);
  t.same(await send(await started(testKeys("challenge").privateKey)), [202, 202, ""]);
  t.same(arrived, []);
});
