/** What the SDK's second file reports of a browser: absent is not empty, and contradictions are told from what other systems have by design. */
import t from "tap";
import type { EventPayload } from "../../src/contract/events/events.js";
import { explain } from "../../src/engines/score.js";
import { evidenceOf } from "../../src/engines/session-evidence.js";
import { chromeEnvironment, chromeFacts, event, folded, lastRequest, startMs, wobblyPath } from "./sessions.js";

/** Of an honest Chromium on Windows, in a window. */
const usual: EventPayload = {
  any_pointer: ["fine", "hover"],
  ua_platform: "Windows",
  ua_architecture: "x86",
  ua_bitness: "64",
  ua_full_version: "156.0.8078.79",
  system_fonts: ["windows"],
  worker_mismatch: [],
};
const moves = wobblyPath(40).map(([at, x, y]) => event("mouse", { t: at, x, y }, startMs + at));
const late = [200212, 200306, 200510, 200511, 200512, 200513];

function firedBy(changes: EventPayload): string[] {
  const environment = event("env", { ...usual, ...changes });
  const features = folded([event("page", { path: "/" }), event("env", chromeEnvironment), ...moves, environment]);
  return explain(features, lastRequest).flatMap(({ id, slug }) => (late.includes(id) ? slug : []));
}

t.test("an honest browser contradicts nothing, and each contradiction is told", async (t) => {
  t.match(chromeFacts.userAgent, /Windows NT/);
  t.same(firedBy({}), []);
  t.same(firedBy({ any_pointer: [] }), ["pointer-without-device"]);
  t.same(firedBy({ any_pointer: "" }), ["pointer-without-device"]);
  t.same(firedBy({ any_pointer: ["coarse"] }), []);
  t.same(firedBy({ worker_mismatch: ["webgl_renderer"] }), ["worker-graphics-mismatch"]);
  t.same(firedBy({ ua_architecture: "", ua_bitness: "", ua_full_version: "" }), ["empty-client-hints"]);
  t.same(firedBy({ ua_bitness: "" }), [], "one alone");
  t.same(firedBy({ ua_full_version: "156.0.0.0" }), ["full-version-of-zeros"]);
  t.same(firedBy({ ua_platform: "Linux" }), ["page-platform-contradiction"]);
  t.same(firedBy({ ua_platform: "Haiku" }), [], "no system that is known");
  t.same(firedBy({ system_fonts: ["linux", "mac"] }), ["foreign-fonts"]);
  t.same(firedBy({ system_fonts: ["linux", "windows"] }), [], "further fonts were installed");
  t.same(firedBy({ system_fonts: [] }), [], "a browser that hides its fonts");
});

t.test("what was not asked is not observed", async (t) => {
  const evidence = evidenceOf(folded([event("env", chromeEnvironment), ...moves]), lastRequest);
  for (const name of ["noPointer", "hintsEmpty", "pagePlatformForeign", "uaFullVersion", "fontsForeign"] as const) {
    t.equal(evidence[name], undefined, name);
  }
  const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0";
  const facts = { ...chromeFacts, userAgent, secChUa: "", secChUaPlatform: "" };
  const firefox = folded([event("env", { any_pointer: ["fine", "hover"], system_fonts: ["linux"] })], { facts });
  const inFirefox = evidenceOf(firefox, { ...lastRequest, userAgent });
  t.match(inFirefox, { noPointer: false, fontsForeign: false });
  t.equal(inFirefox.hintsEmpty, undefined, "a browser without hints leaves none empty");
});
