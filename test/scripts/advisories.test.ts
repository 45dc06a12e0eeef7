/** What is made of `npm audit`: only a report without findings is "none". */
import t from "tap";
import { concludeFrom } from "../../scripts/advisories.js";

t.test("a report without findings is none, one with findings names them", async (t) => {
  t.equal(concludeFrom('{"auditReportVersion": 2, "vulnerabilities": {}}').exitCode, 0);
  const found = { ws: { severity: "high", range: "<8.17.1", fixAvailable: true }, odd: {} };
  t.same(concludeFrom(JSON.stringify({ vulnerabilities: found })), {
    exitCode: 1,
    lines: ["high: ws <8.17.1 (a fix is available)", "unknown: odd"],
  });
});

t.test("a registry without advisories, or no report at all, is not taken for none", async (t) => {
  t.match(concludeFrom('{"message": "405 Method Not Allowed", "statusCode": 405}'), {
    exitCode: 3,
    lines: ["the registry offers no advisories: 405 Method Not Allowed"],
  });
  for (const output of ["", "npm error", "{}"]) t.equal(concludeFrom(output).exitCode, 3, JSON.stringify(output));
});
