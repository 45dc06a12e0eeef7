/** The twelve questions of an analyst, each answered in at most four clicks from the console's overview, in a real browser. */
import t from "tap";
import { Desk, traffic } from "../console/desk.js";
import { askAll, prepare } from "../console/questions.js";
import { launch, noChromium } from "../support/chromium.js";
import { firstTenant, startServer } from "../support/server.js";

if (noChromium !== undefined) {
  t.plan(0, noChromium);
  process.exit(0);
}

const server = await startServer(t, ["--verdict-ttl", "0", "--alert-private-addresses"]);
const tenant = await firstTenant(server);
await traffic(server, tenant);
const desk = await Desk.open(t, await launch(t, { isPlain: true }), server);
const scene = await prepare(t, server, tenant, desk);
await askAll(t, scene, (asked, clicks) => t.comment(`${clicks} clicks: ${asked}`));
