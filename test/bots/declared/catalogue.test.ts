/** A list of declared bots is taken whole or refused whole; the shipped one passes the same check and agrees with the lists beside it. */
import t from "tap";
import { isCatalogueFault } from "../../../src/bots/catalogue-file.js";
import { checkDeclaredBots, shippedDeclaredBots } from "../../../src/bots/declared/catalogue.js";
import { createDeclaredBots } from "../../../src/bots/declared/declared-bots.js";
import { shippedClaimTokens } from "../../../src/bots/verified/claims.js";
import { botCategories } from "../../../src/contract/bots/bot-categories.js";
import { automationUserAgents } from "../../../src/detections/automation-user-agents.js";
import { limits } from "../../../src/limits.js";

const good = { name: "ExampleBot", operator: "Example", category: "seo", token: "ExampleBot/" };

function faultAt(value: unknown): string {
  const checked = checkDeclaredBots(value);
  return isCatalogueFault(checked) ? checked.at : "none";
}

t.test("unknown keys are ignored, exact repeats dropped, an empty list is fine", async (t) => {
  const entries = [{ ...good, note: 1 }, good, { ...good, token: "examplebot/" }];
  t.strictSame(checkDeclaredBots({ version: "1", entries, source: "x" }), { version: "1", entries: [good] });
  t.strictSame(checkDeclaredBots({ version: "1", entries: [] }), { version: "1", entries: [] });
});

t.test("one bad entry refuses the whole list and says which", async (t) => {
  const long = (length: number) => "x".repeat(length);
  const changes: Record<string, readonly unknown[]> = {
    name: [undefined, "", 1, " x", "a\nb", long(256)],
    operator: [undefined, "", null, "a\u0007"],
    category: [undefined, "SEO", "crawler", null, 1],
    token: [undefined, "", "ab", null, 7, "bot\n", "böt", long(limits.declaredBotTokenMax + 1)],
  };
  for (const [key, values] of Object.entries(changes)) {
    for (const value of values) {
      const entries = [good, { ...good, token: "OtherBot", [key]: value }];
      t.equal(faultAt({ version: "1", entries }), `entries[1].${key}`, `${key}: ${JSON.stringify(value)}`);
    }
  }
  t.equal(faultAt({ version: "1", entries: [null] }), "entries[0]");
  t.equal(faultAt({ version: "1", entries: {} }), "entries");
  t.equal(faultAt({ version: "", entries: [] }), "version");
  for (const value of [null, [], "x", 1]) t.equal(faultAt(value), "catalogue");
});

t.test("a token that ordinary browsers have, and one of two bots, are refused", async (t) => {
  for (const token of ["Mozilla/5.0", "chrome/", "Safari", "Android 1", "rv:143", "iPhone OS 18", "Firefox/143.0"]) {
    t.equal(faultAt({ version: "1", entries: [{ ...good, token }] }), "entries[0].token", token);
  }
  t.equal(faultAt({ version: "1", entries: [good, { ...good, name: "Another" }] }), "entries[1].token");
});

t.test("the number of entries and of their characters is bounded", async (t) => {
  const many = Array.from({ length: limits.declaredBotEntriesMax + 1 }, (_, index) => ({
    ...good,
    token: `bot-${index}`,
  }));
  t.equal(faultAt({ version: "1", entries: many }), "entries");
  const most = limits.declaredBotTokenMax;
  const long = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...good, token: `bot-${index}-`.padEnd(most, "x") }));
  const fitting = Math.floor(limits.declaredBotTokenCharactersMax / most);
  const checked = checkDeclaredBots({ version: "1", entries: long(fitting) });
  t.notOk(isCatalogueFault(checked));
  if (!isCatalogueFault(checked))
    t.ok(createDeclaredBots(checked).of("bot-1-".padEnd(most, "x")), "the largest is usable");
  t.equal(faultAt({ version: "1", entries: long(fitting + 1) }), "entries");
});

t.test("the shipped list has every category, and what tools and claims are known elsewhere", async (t) => {
  const shipped = shippedDeclaredBots();
  t.strictSame(checkDeclaredBots(shipped), shipped, "serving does not check it again");
  t.ok(shipped.entries.length > 1000);
  t.match(shipped.version, /^\d{4}-\d\d-\d\d$/);
  const used = new Set(shipped.entries.map(({ category }) => category));
  t.same([...used].sort(), [...botCategories].sort());
  const bots = createDeclaredBots(shipped);
  for (const { token, operator, category } of shippedClaimTokens()) {
    const bot = bots.of(`Mozilla/5.0 (compatible; ${token})`);
    t.equal(bot?.operator, operator, `${token} has the operator of its claim`);
    if (category !== null) t.equal(bot?.category, category, token);
  }
  const short = new Set(["Java/", "PHP/"]);
  for (const { token } of automationUserAgents) {
    if (!short.has(token)) t.ok(bots.of(token), `${token} is a declared bot`);
  }
});

t.test("callers that are no visitors are known by what they send", async (t) => {
  const bots = createDeclaredBots(shippedDeclaredBots());
  const agents: Record<string, string> = {
    "Stripe/1.0 (+https://stripe.com/docs/webhooks)": "webhook",
    "PayPal/AUHR-214.0-58843836": "webhook",
    "PayPal IPN ( https://www.paypal.com/ipn )": "webhook",
    "GitHub-Hookshot/c80b888": "webhook",
    "GitLab/15.5.0-pre": "webhook",
    "GitLab/18.5.1-ee": "webhook",
    "WooCommerce/8.5.1 Hookshot (WordPress/6.4.3)": "webhook",
    "Adyen HttpClient 1.0": "webhook",
    "Shopify-Captain-Hook": "webhook",
    "Amazon Simple Notification Service Agent": "webhook",
    "Webhooks/1.0 (https://fb.me/webhooks)": "webhook",
    "kube-probe/1.33": "probe",
    "ELB-HealthChecker/2.0": "probe",
    "GoogleHC/1.0": "probe",
    "Envoy/HC": "probe",
    "Consul Health Check": "probe",
    "Amazon-Route53-Health-Check-Service (ref 1; report http://amzn.to/1vsZADi)": "probe",
    "Edge Health Probe": "probe",
    "Mozilla/5.0 (compatible; Cloudflare-Healthchecks/1.0; +https://www.cloudflare.com/; healthcheck-id: 1)": "probe",
    "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)": "monitoring",
    "TelegramBot (like TwitterBot)": "preview",
    "Feedly/1.0 (+http://www.feedly.com/fetcher.html; 3 subscribers)": "feed",
  };
  for (const [agent, category] of Object.entries(agents)) t.equal(bots.of(agent)?.category, category, agent);
  t.equal(bots.of("WordPress/6.4.3; https://blog.example")?.category, "other");
});
