/** The twelve questions of an analyst, each answered in at most four clicks from the console's overview, in a real browser. */
import t from "tap";
import { Desk, traffic } from "../console/desk.js";
import { askAll, prepare } from "../console/questions.js";
import { consoleServer } from "../console/visited-desk.js";
import { noChromium, skipFileIf } from "../support/chromium.js";

skipFileIf(t, noChromium);

const { server, tenant, browser } = await consoleServer(t, ["--alert-private-addresses"]);
await traffic(server, tenant);
const desk = await Desk.open(t, browser, server);
const scene = await prepare(t, server, tenant, desk);
await askAll(t, scene, (asked, clicks) => t.comment(`${clicks} clicks: ${asked}`));
