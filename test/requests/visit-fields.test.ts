/** The rule fields of visits, from the requests and reports that a server with two HTTP threads gets. */
import t from "tap";
import { batch, browserHeaders } from "../support/batches.js";
import { type Answer, firstTenant, startServer } from "../support/server.js";
import { type AskingProject, askingProject, navigation } from "./asking.js";

const server = await startServer(t, ["--http-threads", "2", "--trusted-proxies", "127.0.0.1"]);
const tenant = await firstTenant(server);
const page = { method: "GET", path: "/shop/a", host: "shop.example", ip: "203.0.113.7", headers: navigation };

async function fresh(): Promise<AskingProject> {
  const project = await askingProject(server, tenant);
  await project.enable();
  return project;
}

function judge(project: AskingProject, told: object, token: string | null = null): Promise<Answer> {
  const body = { request: told, session_token: token, issue_token: true };
  return server.ask("POST", "/v1/verdict", { token: project.privateKey, body });
}

t.test("pages, posts and kept cookies", async (t) => {
  const project = await fresh();
  await project.rule("visit_pages == 3 AND visit_seconds < 60 AND visit_silent_pages == 0", "block");
  await project.rule("visit_posts == 2", "challenge");
  await project.rule("cookie_kept == false AND visit_pages == 2", "log");
  await project.rule("cookie_kept == true AND visit_posts == 1", "delay");
  const first = await judge(project, page);
  t.match(first.json, { action: "allow", session_token: /^sess_/ });
  t.match((await judge(project, page)).json, { action: "log" }, "its cookie did not come back");
  const token = first.json.session_token;
  const post = { ...page, method: "POST", headers: [["Accept", "*/*"]] };
  t.match((await judge(project, post, token)).json, { action: "delay" }, "now it does");
  t.match((await judge(project, post, token)).json, { action: "challenge" });
  t.match((await judge(project, page, `sess_${"A".repeat(28)}`)).json, { action: "log" }, "a made-up one is none");
  t.match((await judge(project, page)).json, { action: "block" }, "one page less for the address");
  t.match(
    (await project.read(token, "?path=/shop/a&method=POST")).json,
    { action: "allow" },
    "no verdict read has them",
  );
});

t.test("a report of the SDK takes the page to its token's visit", async (t) => {
  const project = await fresh();
  await project.rule("visit_pages == 2", "block");
  const { session_token: token } = (await judge(project, page)).json;
  const headers = { ...browserHeaders, "x-service-site-key": project.siteKey };
  const reported = await server.ask("POST", "/v1/events", {
    headers,
    body: { ...batch("visitrep", 2), session_token: token },
  });
  t.equal(reported.json.session_token, token);
  t.match((await judge(project, page)).json, { action: "allow" }, "the first page of another visitor there");
  t.match((await judge(project, page, token)).json, { action: "block" }, "the second of this one");
});

t.test("preflights and skipped paths count nowhere, a second question about a request not again", async (t) => {
  const project = await fresh();
  await project.enable({ skip_paths: ["/feed*"] });
  await project.rule("visit_pages == 2 OR visit_posts == 1", "block");
  const preflight = [...navigation, ["Origin", "https://a.example"], ["Access-Control-Request-Method", "PUT"]];
  t.match((await judge(project, page)).json, { action: "allow" });
  for (const other of [
    { ...page, path: "/feed.xml" },
    { ...page, path: "/feed.xml", method: "POST" },
    { ...page, method: "OPTIONS", headers: preflight },
  ]) {
    t.match((await judge(project, other)).json, { action: "allow" });
  }
  const ask = (more: object): Promise<Answer> =>
    server.ask("GET", "/v1/forward-auth", {
      headers: {
        "x-service-private-key": project.privateKey,
        "x-forwarded-uri": "/shop/a",
        "x-forwarded-method": "GET",
        "x-forwarded-for": "203.0.113.7",
        "user-agent": browserHeaders["user-agent"],
        accept: "text/html",
        "sec-fetch-dest": "document",
        ...more,
      },
    });
  t.equal((await ask({ "x-service-asked-again": "1" })).status, 204, "still the first page");
  t.equal((await ask({ "x-service-asked-again": "0" })).status, 403, "the second");
  t.equal((await ask({ "x-service-asked-again": "1" })).status, 403, "the same, asked about again");
  t.equal((await ask({})).status, 204, "the third");
});
