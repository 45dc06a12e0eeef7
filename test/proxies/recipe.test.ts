/**
 * `verdictd recipe`: what it prints is run by the real proxy in front of a site that knows nothing of verdictd, and `--check` finds nothing missing there.
 * Skipped where the proxy is missing.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import t, { type Test } from "tap";
import { checkHostile } from "../middleware/hostile.js";
import { runNginx } from "../middleware/proxies.js";
import { missing, runProxy } from "../middleware/proxy.js";
import { startVerdictd, type VerdictdProcess } from "../middleware/verdictd-process.js";
import { freePort } from "../support/free-port.js";
import { listening } from "../support/listening.js";
import { verdictd as run } from "../support/process.js";

/** A site with one page; elsewhere it echoes what reached it. */
async function application(t: Test): Promise<{ address: string; requests: string[] }> {
  const requests: string[] = [];
  const server = createServer(({ url = "", headers }, response) => {
    requests.push(url);
    if (url === "/") {
      response.setHeader("Content-Type", "text/html");
      response.end("<!doctype html><html><head><title>Shop</title></head><body>Hello</body></html>");
    } else response.end(JSON.stringify({ url, headers }));
  });
  return { address: await listening(t, server), requests };
}

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly verdictd: VerdictdProcess;
  readonly lua: string;
}
/** Runs the proxy with the printed text, on a port of loopback instead of the site's. */
type Start = (t: Test, text: string, place: Place) => Promise<void>;

/** Replaces what must be there. Late answers let in, as they should, and on a busy machine some are late. */
function changed(text: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((all, [from, to]) => {
    if (!all.includes(from)) throw new Error(`no "${from}" in what was printed`);
    return all.replaceAll(from, () => to);
  }, text);
}

const starts: Readonly<Record<string, Start>> = {
  nginx: async (t, text, { folder, port, verdictd }) => {
    const site = changed(text, [
      ["listen 80;", `listen 127.0.0.1:${port};`],
      ["sk_REPLACE_ME", verdictd.privateKey],
      ["150ms", "10000ms"],
      ["100ms", "10000ms"],
    ]);
    const addresses = { verdictd: "", application: "", privateKey: "", answerMs: 0, sitePort: port, folder };
    await runNginx(t, addresses, site);
  },
  caddy: async (t, text, { folder, port, verdictd }) => {
    const file = join(folder, "Caddyfile");
    const site = changed(text, [
      ["{\n\tservers {", "{\n\tadmin off\n\tservers {"],
      ["\nshop.example {\n", `\nhttp://shop.example:${port} {\n\tbind 127.0.0.1\n`],
      ["8001", `${await freePort()}`],
      ["500ms", "10s"],
      ["150ms", "10s"],
      ["100ms", "10s"],
    ]);
    writeFileSync(file, site);
    const env = { VERDICTD_PRIVATE_KEY: verdictd.privateKey, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
    await runProxy(t, ["caddy", "run", "--config", file, "--adapter", "caddyfile"], env, port);
  },
  haproxy: async (t, text, { folder, port, verdictd, lua }) => {
    const [file, luaFile] = [join(folder, "haproxy.cfg"), join(folder, "verdictd.lua")];
    writeFileSync(luaFile, changed(lua, [["answer_ms = 150", "answer_ms = 10000"]]));
    const site = changed(text, [
      ["bind :80\n", `bind 127.0.0.1:${port}\n`],
      ["sk_REPLACE_ME", verdictd.privateKey],
      ["/etc/haproxy/verdictd.lua", luaFile],
    ]);
    writeFileSync(file, site);
    await runProxy(t, ["haproxy", "-db", "-f", file], {}, port);
  },
};

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Asks the site by its name, with the path as it is written: `fetch` does neither. */
function visit(port: number, path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> {
  return new Promise((done, failed) => {
    const all = { Host: "shop.example", Accept: "text/html", ...headers };
    request({ host: "127.0.0.1", port, path, method, headers: all, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        body += part;
      });
      response.on("end", () => done({ status: response.statusCode ?? 0, headers: response.headers, body }));
    })
      .on("error", failed)
      .end();
  });
}

for (const [proxy, start] of Object.entries(starts)) {
  t.test(proxy, { skip: missing(proxy) ?? false }, async (t) => {
    const verdictd = await startVerdictd(t, ["--trusted-proxies", "127.0.0.1"]);
    await verdictd.enableChallenge();
    const { address: upstream, requests } = await application(t);
    const about = ["--upstream", `http://${upstream}`, "--verdictd", verdictd.baseUrl, "--site-key", verdictd.siteKey];
    const printed = async (...more: string[]): Promise<string> => {
      const { code, stdout, stderr } = await run(["recipe", proxy, "--host", "shop.example", ...about, ...more]);
      if (code !== 0) throw new Error(stderr);
      return stdout;
    };
    const lua = proxy === "haproxy" ? await printed("--lua") : "";
    const site = async (...more: string[]): Promise<number> => {
      const port = await freePort();
      const folder = join(t.testdirName, `proxy-${port}`);
      mkdirSync(folder);
      await start(t, await printed(...more), { folder, port, verdictd, lua });
      return port;
    };
    const session = { Cookie: `a=b; service_session=${verdictd.sessionToken}` };
    const port = await site();

    await t.test("asks verdictd about every request", async (t) => {
      const open = await visit(port, "/open?x=1", { ...session, "X-Verdict": "forged", "X-Verdict-Agent": "forged" });
      const { url, headers } = JSON.parse(open.body);
      t.equal(url, "/open?x=1");
      t.match(headers, { "x-verdict": /^[a-z_]+$/, "x-verdict-action": "allow" });
      t.notMatch(open.body, "forged");
      for (const path of ["/block", "/x/../block", "//block", "/%62lock", "/block?y"]) {
        const denied = await visit(port, path, session);
        t.equal(denied.status, 403, path);
        t.equal(denied.headers["x-verdict-score"], undefined);
      }
      t.equal((await visit(port, "/block", session, "POST")).status, 403);
      const challenged = await visit(port, "/challenge", session);
      t.equal(challenged.status, 403);
      t.match(challenged.body, /challenge\.js/, "verdictd's own page");
      t.equal((await visit(port, "/block")).status, 200, "no session");
    });

    // The recipes of the other two are held to it by their own tests.
    if (proxy === "haproxy")
      await t.test("whatever a blocked session sends, it stays outside", (t) =>
        checkHostile(t, `http://127.0.0.1:${port}`, verdictd.sessionToken, requests, false, true),
      );

    await t.test("tells the application which agent it is, and keeps that from the visitor", async (t) => {
      await verdictd.judgeRequests(true);
      const answer = await visit(port, "/open", { "User-Agent": "curl/8.5.0", "X-Verdict-Agent": "forged" });
      t.equal(JSON.parse(answer.body).headers["x-verdict-agent"], "curl;library;declared");
      t.equal(answer.headers["x-verdict-agent"], undefined);
    });

    await t.test("gives the first visit a token", async (t) => {
      await verdictd.issueTokens(true);
      const navigation = { "User-Agent": "Mozilla/5.0", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };
      const first = await visit(port, "/", navigation);
      t.match(String(first.headers["set-cookie"]), /^service_session=sess_/);
      t.match(first.headers["cache-control"], "private");
      await verdictd.issueTokens(false);
      await verdictd.judgeRequests(false);
    });

    await t.test("--check finds what is there, and what is missing", async (t) => {
      // It asks an address that a browser could ask: the name of this site is known to nobody here.
      const front = createServer(({ url, method, headers }, response) => {
        const asked = request({
          host: "127.0.0.1",
          port,
          path: url,
          method,
          headers: { ...headers, host: "shop.example" },
        });
        asked.on("response", (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(response);
        });
        asked.end(method === "POST" ? "{}" : undefined);
      });
      const checked = await run(["recipe", proxy, "--check", `http://${await listening(t, front)}`]);
      const putsScript = proxy === "nginx";
      t.equal(checked.code, putsScript ? 0 : 1, checked.stdout);
      const lacks = checked.stdout.split("\n").filter((line) => line.startsWith("MISSING"));
      t.equal(lacks.length, putsScript ? 0 : 1);
      if (!putsScript) t.match(lacks[0], /the script .*add the script tag/);
      const bare = await run(["recipe", proxy, "--check", `http://${upstream}`]);
      t.equal(bare.code, 1);
      t.match(bare.stdout, /MISSING {2}\/sdk\.js/);
      t.match(bare.stdout, /MISSING {2}\/v1\/events/);
    });

    await t.test("--protect asks about some paths, however they are spelt", async (t) => {
      const some = await site("--protect", "/block/here", "--protect", "/pay");
      for (const path of ["/block/here", "/block/here/x", "/x/../block/here", "//block//here", "/%62lock/here"]) {
        t.equal((await visit(some, path, session)).status, 403, path);
      }
      t.equal((await visit(some, "/block", session)).status, 200);
      const open = await visit(some, "/block/other", { ...session, "X-Verdict": "forged" });
      t.equal(open.status, 200);
      t.notMatch(open.body, "forged");
    });

    await t.test("without verdictd everybody is let in", async (t) => {
      await verdictd.kill();
      t.equal((await visit(port, "/block", session)).status, 200);
    });
  });
}
