/**
 * People's browsers that never run the SDK, through each proxy recipe and middleware with request scoring on: nobody takes them for programs by
 * their headers. Chromium in a window, since a headless one says so in its headers.
 */
import t from "tap";
import { openDisplay } from "../../scripts/live/display.js";
import { openShop } from "../challenge/challenged-site.js";
import { fronts } from "../challenge/fronts.js";
import { launch, noChromium, skipFileIf } from "../support/chromium.js";
import { launchFirefox, noFirefox } from "../support/firefox.js";

const lacking = noChromium ?? noFirefox;
skipFileIf(t, lacking);

const shop = { ...(await openShop(t)), requests: true };
const { server, tenant } = shop;
const configure = async (method: string, path: string, body: object): Promise<void> => {
  const answer = await server.ask(method, `/v1/projects/${tenant.projectId}/${path}`, { token: tenant.token, body });
  if (answer.status >= 300) throw new Error(answer.text);
};
await configure("PUT", "request-scoring", { enabled: true });
await configure("POST", "rules", { name: "Not human", expression: 'band != "likely_human"', action: "block" });

const display = await openDisplay();
t.teardown(() => display.close());
const chromium = await launch(t, { display: display.name });
const firefox = await launchFirefox(t);

for (const { name, open, missing } of fronts) {
  t.test(name, { skip: missing ?? false }, async (t) => {
    const site = await open(t, shop);
    const context = await chromium.newContext();
    const page = await context.newPage();
    await page.route("**/sdk.js", (route) => route.abort());
    for (const path of ["/", "/form"]) {
      t.equal((await page.goto(site + path))?.status(), 200, `Chromium: a navigation to ${path}`);
      await context.clearCookies();
    }
    t.equal((await page.reload())?.status(), 200, "Chromium: a reload");
    t.equal(await page.evaluate("fetch('/form').then((answer) => answer.status)"), 200, "Chromium: a fetch");
    t.same(await context.cookies(), [], "and there is no session");
    await context.close();

    const other = await firefox.newPage();
    await other.setRequestInterception(true);
    other.on("request", (request) => void (request.url().endsWith("/sdk.js") ? request.abort() : request.continue()));
    t.equal((await other.goto(`${site}/form`))?.status(), 200, "Firefox: a navigation");
    t.equal(await other.evaluate("fetch('/').then((answer) => answer.status)"), 200, "Firefox: a fetch");
    await other.close();
  });
}
