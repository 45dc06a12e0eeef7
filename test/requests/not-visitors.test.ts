/** Requests that nothing judges: CORS preflights and skipped paths, at both entrances and through a middleware. */
import { createServer } from "node:http";
import express from "express";
import t from "tap";
import { verdictd } from "../../src/middleware/express.js";
import { listening } from "../support/listening.js";
import { firstTenant, startServer } from "../support/server.js";
import { waitUntil } from "../support/wait-until.js";
import { type AskingProject, askingProject, navigation } from "./asking.js";

const server = await startServer(t, ["--trusted-proxies", "127.0.0.1"]);
const tenant = await firstTenant(server);
const fresh = () => askingProject(server, tenant);

const preflight = {
  Origin: "https://app.example",
  "Access-Control-Request-Method": "POST",
  "Access-Control-Request-Headers": "content-type,traceparent",
};
const asked = { method: "OPTIONS", path: "/api/orders", ip: "203.0.113.9", headers: Object.entries(preflight) };
const letIn = { verdict: "not_computed", score: 0, action: "allow", detection_ids: [], subject: "request" };

async function forward(project: AskingProject, headers: Record<string, string>) {
  const all = { "X-Service-Private-Key": project.privateKey, "X-Forwarded-For": "203.0.113.9", ...headers };
  const { status, headers: shown } = await server.ask("GET", "/v1/forward-auth", { headers: all });
  return { status, verdict: shown.get("x-verdict"), error: shown.get("x-verdict-error") };
}
const proxied = { "X-Forwarded-Method": "OPTIONS", "X-Forwarded-Uri": "/api/orders" };

/** What the statistics have of a project. */
async function counted(project: AskingProject): Promise<number> {
  const { json } = await project.control("GET", "/stats?bucket=day");
  const rows: { requests: number; verdicts: Record<string, number> }[] = json.data;
  return rows.reduce((sum, { verdicts }) => sum + Object.values(verdicts).reduce((all, each) => all + each, 0), 0);
}

t.test("a preflight is allowed whatever rules say, and counted nowhere", async (t) => {
  const project = await fresh();
  await project.rule("score <= 99", "block");
  await project.rule('method == "GET" AND score <= 99', "block");
  const bot = await project.bot("preflight0");
  for (const enabled of [false, true]) {
    await project.enable({ enabled });
    for (const token of [null, bot]) {
      const { status, json } = await project.judge(asked, token);
      t.equal(status, 200);
      t.match(json, letIn, `request scoring ${enabled}, ${token === null ? "no session" : "a bot's session"}`);
      t.match(json.reason, /preflight/);
      const cookie: Record<string, string> = token === null ? {} : { Cookie: `service_session=${token}` };
      t.same(await forward(project, { ...preflight, ...proxied, ...cookie }), {
        status: 204,
        verdict: "not_computed",
        error: null,
      });
    }
  }
  const { json } = await project.judge({ ...asked, method: "GET" });
  t.equal(json.action, "block");
  t.equal(
    await waitUntil(
      async () => counted(project),
      (count) => count >= 1,
    ),
    1,
    "only the GET was counted",
  );
  t.equal((await project.control("GET", "/blocks")).json.data.length, 1);
});

t.test("a preflight does not raise its address's rate", async (t) => {
  const project = await fresh();
  await project.enable();
  await project.rule("requests_per_minute > 2", "block");
  for (let round = 0; round < 4; round++) await project.judge(asked);
  await forward(project, { ...preflight, ...proxied });
  t.equal((await project.judge({ ...asked, method: "GET" })).json.action, "allow");
});

t.test("what lacks one of a preflight's headers, or its method, is a request like any other", async (t) => {
  const project = await fresh();
  await project.enable();
  await project.rule("score <= 99", "block");
  const others = [
    { ...asked, method: "POST" },
    { ...asked, headers: [["Origin", "https://app.example"]] },
    { ...asked, headers: [["Access-Control-Request-Method", "POST"]] },
    {
      ...asked,
      headers: [
        ["Origin", ""],
        ["Access-Control-Request-Method", "POST"],
      ],
    },
  ];
  for (const request of others) t.equal((await project.judge(request)).json.action, "block", JSON.stringify(request));
  t.equal((await forward(project, { ...proxied, Origin: preflight.Origin })).status, 403);
  t.equal(
    (await project.judge({ ...asked, headers: { ORIGIN: "null", "access-control-request-method": "PUT" } })).json
      .action,
    "allow",
  );
});

t.test("an active rule that names OPTIONS has preflights judged, an inactive one does not", async (t) => {
  const project = await fresh();
  await project.enable();
  const id = await project.rule('method in {"TRACE", "OPTIONS"} AND path starts_with "/closed"', "block");
  t.match(
    (await project.judge(asked)).json,
    { action: "allow", verdict: "confident_automated" },
    "judged, and no rule matched",
  );
  t.equal((await project.judge({ ...asked, path: "/closed" })).json.action, "block");
  t.equal((await forward(project, { ...preflight, ...proxied, "X-Forwarded-Uri": "/closed" })).status, 403);
  await project.control("PATCH", `/rules/${id}`, { is_active: false });
  t.match((await project.judge({ ...asked, path: "/closed" })).json, letIn);
});

t.test("a skipped path is allowed and judged by nothing while request scoring is on", async (t) => {
  const project = await fresh();
  await project.rule("score <= 99", "block");
  await project.enable({ skip_paths: ["/webhooks/*", "/healthz"] });
  const bot = await project.bot("skipped00");
  const hook = {
    method: "POST",
    path: "/webhooks/stripe?x",
    ip: "203.0.113.10",
    headers: [["User-Agent", "curl/8.5.0"]],
  };
  for (const token of [null, bot]) {
    const { json } = await project.judge(hook, token);
    t.match(json, letIn);
    t.match(json.reason, /skip_paths/);
  }
  t.equal((await forward(project, { "X-Forwarded-Uri": "/healthz", "User-Agent": "kube-probe/1.33" })).status, 204);
  t.equal((await forward(project, { "X-Forwarded-Uri": "/", "User-Agent": "kube-probe/1.33" })).status, 403);
  for (const path of ["/webhooks", "/webhooks/..;/admin", "/webhooks/%2e%2e/admin", undefined]) {
    t.equal((await project.judge({ ...hook, path })).json.action, "block", path ?? "no path told");
  }
  await project.enable({ enabled: false });
  t.equal((await project.judge(hook, bot)).json.action, "block", "off, the answer is that of the verdict read");
  await project.enable({ enabled: true, skip_paths: [] });
  t.equal((await project.judge(hook)).json.action, "block", "a change takes effect at once");
});

t.test("a middleware lets preflights pass, with and without judging requests", async (t) => {
  const project = await fresh();
  await project.rule("score <= 99", "block");
  const bot = await project.bot("preflight1");
  const baseUrl = `http://127.0.0.1:${server.port}`;
  for (const requests of [false, true]) {
    await project.enable({ enabled: requests });
    const app = express();
    app.use(verdictd({ client: { baseUrl, privateKey: project.privateKey, timeoutMs: 10_000 }, requests }));
    app.use((_req, res) => res.send("application"));
    const site = await listening(t, createServer(app));
    const status = async (method: string, headers: Record<string, string>) => {
      const url = `http://${site}/api/orders`;
      const { status } = await fetch(url, { method, headers: { ...headers, "X-Service-Session": bot } });
      return status;
    };
    // What fetch does not let a program set: a browser's own preflight has it.
    t.equal(await status("OPTIONS", { Origin: "https://app.example", "Access-Control-Request-Method": "POST" }), 200);
    t.equal(await status("OPTIONS", {}), 403, "no preflight");
    t.equal(await status("GET", {}), 403);
    const id = await project.rule('method == "OPTIONS"', "block", { sort_order: -1 });
    t.equal(await status("OPTIONS", { Origin: "https://app.example", "Access-Control-Request-Method": "POST" }), 403);
    await project.control("DELETE", `/rules/${id}`);
  }
});

t.test("what a browser sends is a navigation still", async (t) => {
  const project = await fresh();
  await project.enable({ skip_paths: ["/feed.xml"] });
  t.match((await project.judge({ method: "GET", path: "/", headers: navigation })).json, { verdict: "likely_human" });
});
