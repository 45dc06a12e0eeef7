/** Holds the Caddy recipe to what it promises, with the real Caddy. Skipped where Caddy is missing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { checkProxy, missing, patience, recipe, runProxy, type StartProxy } from "./proxy.js";

const start: StartProxy = async (t, { verdictd, privateKey, application, sitePort, folder }) => {
  const text = recipe("Caddyfile", [
    [":8000 {", `http://127.0.0.1:${sitePort} {`],
    ["127.0.0.1:8080", verdictd],
    ["127.0.0.1:3000", application],
    ...patience,
    // Visitors are let in at once again after each phase of the outage, so that every phase is seen.
    ["fail_duration 5s", "fail_duration 50ms"],
  ]);
  const file = join(folder, "Caddyfile");
  writeFileSync(file, `{\n\tadmin off\n}\n${text}`);
  const env = { VERDICTD_PRIVATE_KEY: privateKey, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  await runProxy(t, ["caddy", "run", "--config", file, "--adapter", "caddyfile"], env, sitePort);
};

t.test("caddy", { skip: missing("caddy") ?? false }, (t) => checkProxy(t, start));
