/** Starts the real nginx and Caddy with the recipes of this repository, in front of a site. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { freePort } from "../support/free-port.js";
import { type Addresses, recipe, runProxy, type StartProxy } from "./proxy.js";

/** nginx with its recipe. */
export const startNginx: StartProxy = async (t, addresses) => runNginx(t, addresses, nginxSite(addresses));

/** The text of nginx's recipe: what is put into `sites-enabled`. */
export function nginxSite({ verdictd, privateKey, application, sitePort, answerMs }: Addresses): string {
  return recipe("nginx.conf", [
    ["server 127.0.0.1:8080;", `server ${verdictd};`],
    ["server 127.0.0.1:3000;", `server ${application};`],
    ["listen 8000;", `listen 127.0.0.1:${sitePort};`],
    ["sk_REPLACE_ME", privateKey],
    ["150ms", `${answerMs}ms`],
    ["100ms", `${answerMs}ms`],
  ]);
}

/** Runs nginx with these files of `sites-enabled`, included as Debian's `nginx.conf` does. */
export async function runNginx(t: Test, { folder, sitePort }: Addresses, site: string): Promise<void> {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((each) => `${each}_temp_path ${folder};`);
  const user = process.getuid?.() === 0 ? "user root;" : "";
  writeFileSync(join(folder, "site"), site);
  const text = `worker_processes 1; ${user}
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary.join("\n  ")}
  include ${join(folder, "site")};
}
`;
  const file = join(folder, "nginx.conf");
  writeFileSync(file, text);
  const globals = `daemon off; pid ${join(folder, "nginx.pid")}; error_log ${join(folder, "error.log")};`;
  await runProxy(t, ["nginx", "-p", folder, "-c", file, "-e", join(folder, "error.log"), "-g", globals], {}, sitePort);
}

/** Caddy with its recipe. */
export const startCaddy: StartProxy = (t, addresses) => runCaddy(t, addresses, addresses.answerMs + 200);

/** Caddy with its recipe; the site in front waits `siteMs` for the inner one, in place of the recipe's 500. */
export async function runCaddy(
  t: Test,
  { verdictd, privateKey, application, sitePort, folder, answerMs }: Addresses,
  siteMs: number,
): Promise<void> {
  const innerPort = await freePort();
  const text = recipe("Caddyfile", [
    // Cleartext HTTP/2 as well, which is the same to what stands behind it.
    ["{\n\tservers {", "{\n\tadmin off\n\tservers {\n\t\tprotocols h1 h2 h2c"],
    [":8000 {", `http://:${sitePort} {\n\tbind 127.0.0.1`],
    ["8001", `${innerPort}`],
    ["127.0.0.1:8080", verdictd],
    ["127.0.0.1:3000", application],
    ["150ms", `${answerMs}ms`],
    ["100ms", `${answerMs}ms`],
    // After the shorter ones, which may be what this comes to.
    ["500ms", `${siteMs}ms`],
    // Visitors are let in at once again after each phase of the outage, so that every phase is seen.
    ["fail_duration 5s", "fail_duration 50ms"],
  ]);
  const file = join(folder, "Caddyfile");
  writeFileSync(file, text);
  const env = { VERDICTD_PRIVATE_KEY: privateKey, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  await runProxy(t, ["caddy", "run", "--config", file, "--adapter", "caddyfile"], env, sitePort);
}
