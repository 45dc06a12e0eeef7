/** Holds the Caddy recipe to what it promises, with the real Caddy. Skipped where Caddy is missing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { freePort } from "../support/process.js";
import { checkProxy, missing, recipe, runProxy, type StartProxy } from "./proxy.js";

const start: StartProxy = async (t, { verdictd, privateKey, application, sitePort, folder, answerMs = 600 }) => {
  const innerPort = await freePort();
  const text = recipe("Caddyfile", [
    // Cleartext HTTP/2 as well, which is the same to what stands behind it.
    ["{\n\tservers {", "{\n\tadmin off\n\tservers {\n\t\tprotocols h1 h2 h2c"],
    [":8000 {", `http://:${sitePort} {\n\tbind 127.0.0.1`],
    ["8001", `${innerPort}`],
    ["127.0.0.1:8080", verdictd],
    ["127.0.0.1:3000", application],
    ["500ms", `${answerMs + 200}ms`],
    ["150ms", `${answerMs}ms`],
    ["100ms", `${answerMs}ms`],
    // Visitors are let in at once again after each phase of the outage, so that every phase is seen.
    ["fail_duration 5s", "fail_duration 50ms"],
  ]);
  const file = join(folder, "Caddyfile");
  writeFileSync(file, text);
  const env = { VERDICTD_PRIVATE_KEY: privateKey, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  await runProxy(t, ["caddy", "run", "--config", file, "--adapter", "caddyfile"], env, sitePort);
};

t.test("caddy", { skip: missing("caddy") ?? false }, (t) => checkProxy(t, start, { speaksHttp2: true }));
