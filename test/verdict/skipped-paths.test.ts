/** Which paths a project's patterns match, and which patterns are refused. */
import t from "tap";
import { rulePath } from "../../src/contract/verdicts/visitor-request.js";
import { isSkipped, skipPathFault } from "../../src/verdict/skipped-paths.js";

/** As the path of a request gets there. */
const skips = (pattern: string, target: string) => isSkipped([pattern], rulePath(target)!);

t.test("a pattern is that of the whole path, and a star is any characters", async (t) => {
  const matching: [string, string][] = [
    ["/webhooks/stripe", "/webhooks/stripe"],
    ["/webhooks/*", "/webhooks/"],
    ["/webhooks/*", "/webhooks/stripe/v1?x=1"],
    ["/webhooks*", "/webhooks"],
    ["*", "/"],
    ["*.xml", "/feeds/all.xml"],
    ["/*/hooks/*/in", "/shop/hooks/a/b/in"],
    ["/a*b*c", "/abc"],
    ["/a*b*bc", "/abbc"],
    ["/café", "/caf%c3%a9"],
    ["/caf%c3%a9", "/café"],
    ["/%7Euser", "/~user"],
    ["//health", "/health"],
    ["/health", "//health"],
    ["/health", "/x/../health#top"],
    ["/health", "http://shop.example/health"],
  ];
  for (const [pattern, target] of matching) t.ok(skips(pattern, target), `${pattern} ${target}`);
  const others: [string, string][] = [
    ["/webhooks", "/webhooks/"],
    ["/webhooks", "/my/webhooks"],
    ["/webhooks/*", "/webhooks"],
    ["/webhooks/*", "/Webhooks/stripe"],
    ["/webhooks/*", "/webhooks/../admin"],
    ["/webhooks/*", "/webhooks/%2e%2e/admin"],
    ["/a*b*bc", "/abc"],
    ["/ab*ba", "/aba"],
    ["*.xml", "/all.xmlx"],
    ["/?", "/a"],
    ["/a.b", "/axb"],
  ];
  for (const [pattern, target] of others) t.notOk(skips(pattern, target), `${pattern} ${target}`);
  t.notOk(isSkipped([], "/"));
  t.ok(isSkipped(["/a", "/b"], "/b"));
});

t.test("a path that a router may read as another one matches nothing", async (t) => {
  const targets = ["/webhooks/..;/admin", "/webhooks/a;x=1", "/webhooks/..%2fadmin", "/webhooks/..%5Cadmin"];
  targets.push("/webhooks/%252e%252e/admin", "/webhooks/a%3Fb", "/webhooks/a%23b", "/webhooks/a%3bb", "/webhooks/%00");
  for (const target of targets) t.notOk(skips("/webhooks/*", target), target);
  t.notOk(skips("*", `/${"x".repeat(600)}`), "nor one that was cut");
});

t.test("a pattern that could never match is refused", async (t) => {
  for (const pattern of [
    "",
    "webhooks",
    "https://shop.example/",
    "/a?b",
    "/a#b",
    "/a;b",
    "/a%2Fb",
    "/a%5cb",
    "/%25",
    "/%0a",
  ]) {
    t.type(skipPathFault(pattern), "string", pattern);
  }
  for (const pattern of ["/", "*", "/a/*", "*.xml", "/caf%C3%A9", "/a b", "/(x)"])
    t.equal(skipPathFault(pattern), null, pattern);
});
