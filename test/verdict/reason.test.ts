/** Reasons read as sentences, whichever detections they name. */
import t from "tap";
import { detections } from "../../src/detections/catalogue.js";
import { verdictReason } from "../../src/verdict/reason.js";

t.test("a meaning becomes a clause: no capital but in names, no full stop, no markup", async (t) => {
  for (const { id, meaning } of detections) {
    t.match(meaning, /^[A-Z].*\.$/, `${id} is a sentence`);
    t.notMatch(meaning, /[`<>]/, `${id} has no markup`);
    const clause = verdictReason("definite", 3, ["First.", meaning])
      .replace(/^.*: first; /, "")
      .replace(/\.$/, "");
    const [first = ""] = clause.split(" ", 1);
    const isName =
      /^(?:Chromium|Origin|Playwright's|Puppeteer's|Selenium's|PhantomJS's|WebGL|UTC)$|[.-][A-Z]|^Sec-|^Function\./.test(
        first,
      );
    t.ok(isName || /^[a-z]/.test(first), `${id}: ${clause}`);
  }
});

t.test("three are named, the others counted", async (t) => {
  t.equal(verdictReason("likely_human", 60, []), "Likely human (score 60): no evidence of automation.");
  t.equal(verdictReason("likely_human", 84, ["Wheel."]), "Likely human (score 84): no evidence of automation.");
  t.equal(
    verdictReason("likely_human", 31, ["Keys are instant.", "Something else."]),
    "Likely human (score 31), although one thing is odd: keys are instant.",
  );
  t.equal(
    verdictReason("likely_automated", 1, ["Names of ChromeDriver were found in the page."], true),
    "Likely automated (score 1): names of ChromeDriver were found in the page. Capped: what the page shows of its environment never leads to a lower band alone.",
  );
  t.equal(
    verdictReason("definite", 2, ["One was.", "Two were.", "Chromium is claimed.", "Four.", "Five."]),
    "Definitely automated (score 2): one was; two were; Chromium is claimed; and 2 more.",
  );
  t.equal(verdictReason("verified", 0, ["Googlebot"]), "Verified bot: Googlebot.");
});
