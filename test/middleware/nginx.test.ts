/** Holds the nginx recipe to what it promises, with the real nginx. Skipped where nginx is missing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { checkProxy, missing, recipe, runProxy, type StartProxy } from "./proxy.js";

const start: StartProxy = async (t, { verdictd, privateKey, application, sitePort, folder, answerMs = 600 }) => {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((each) => `${each}_temp_path ${folder};`);
  const text = recipe("nginx.conf", [
    ["server 127.0.0.1:8080;", `server ${verdictd};`],
    ["server 127.0.0.1:3000;", `server ${application};`],
    ["listen 8000;", `listen 127.0.0.1:${sitePort};`],
    ["sk_REPLACE_ME", privateKey],
    ["150ms", `${answerMs}ms`],
    ["100ms", `${answerMs}ms`],
    ["worker_processes auto;", process.getuid?.() === 0 ? "worker_processes 1; user root;" : "worker_processes 1;"],
    ["http {\n", `http {\n  access_log off;\n  ${temporary.join("\n  ")}\n`],
  ]);
  const file = join(folder, "nginx.conf");
  writeFileSync(file, text);
  const globals = `daemon off; pid ${join(folder, "nginx.pid")}; error_log ${join(folder, "error.log")};`;
  await runProxy(t, ["nginx", "-p", folder, "-c", file, "-e", join(folder, "error.log"), "-g", globals], {}, sitePort);
};

t.test("nginx", { skip: missing("nginx") ?? false }, (t) => checkProxy(t, start, { speaksHttp2: false }));
