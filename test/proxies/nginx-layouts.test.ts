/**
 * The recipe for nginx inside the usual layouts of a site: PHP by FastCGI, static files, uploads, sub-folders, passwords, WebSockets and a second
 * site. Whatever location serves a request, verdictd is asked about it first, once. Skipped where nginx is missing.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import t, { type Test } from "tap";
import { nginxSite, runNginx } from "../middleware/proxies.js";
import { missing } from "../middleware/proxy.js";
import { startVerdictd } from "../middleware/verdictd-process.js";
import { fastcgiEcho } from "../support/fastcgi-echo.js";
import { freePort } from "../support/free-port.js";
import { listening } from "../support/listening.js";
import { socketEcho } from "../support/socket-echo.js";

interface Reached {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: number;
}

/** Echoes what reaches it, accepts WebSockets, and answers /intercepted with 403. */
async function application(t: Test): Promise<{ address: string; reached: Reached[] }> {
  const reached: Reached[] = [];
  const server = createServer((incoming, response) => {
    let bytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    incoming.on("end", () => {
      const echo = { url: incoming.url ?? "", headers: incoming.headers, bytes };
      reached.push(echo);
      response.writeHead(incoming.url === "/intercepted" ? 403 : 200).end(JSON.stringify(echo));
    });
  });
  server.on("upgrade", (_request, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    socket.on("data", (bytes: Buffer) => socket.end(bytes));
    socket.on("error", () => socket.destroy());
  });
  return { address: await listening(t, server), reached };
}

const mark = "  # --- verdictd: from here ---";
const end = "  # --- verdictd: to here ---";

/** Locations that sites have, before the recipe's own. */
const layouts = (fastcgi: string, application: string, root: string, phpLines: string): string => `
  client_max_body_size 20m;
  root ${root};
  error_page 404 /not-found.html;

  location ~ \\.php$ {
    fastcgi_pass ${fastcgi};
    fastcgi_param REQUEST_URI $request_uri;
    fastcgi_param SCRIPT_NAME $fastcgi_script_name;
    fastcgi_param REQUEST_METHOD $request_method;
    fastcgi_param CONTENT_LENGTH $content_length;
    ${phpLines}
  }
  location /block/wordpress/ { try_files $uri $uri/ /index.php?$args; }
  location /wordpress/ { try_files $uri $uri/ /index.php?$args; }
  location /block/uploads { client_max_body_size 100m; proxy_pass http://${application}; }
  location /uploads { client_max_body_size 100m; proxy_pass http://${application}; }
  location /block/sub/ { proxy_pass http://${application}/; }
  location /files/ { }
  location /block/files/ { }
  location /secret/ { auth_basic "secret"; auth_basic_user_file ${root}/passwords; try_files /page.html =404; }
  location /denied/ { deny all; }
  location /intercepted { proxy_intercept_errors on; proxy_pass http://${application}; }
  location /block/unasked/ { auth_request off; proxy_pass http://${application}; }
`;

t.test("nginx in the usual layouts", { skip: missing("nginx") ?? false }, async (t) => {
  const verdictd = await startVerdictd(t, ["--trusted-proxies", "127.0.0.1"]);
  const app = await application(t);
  const fastcgi = await fastcgiEcho(t);
  const [sitePort, secondPort] = [await freePort(), await freePort()];
  const folder = join(t.testdirName, "nginx");
  const root = join(folder, "root");
  for (const each of ["files", "block/files", "secret"]) mkdirSync(join(root, each), { recursive: true });
  for (const each of ["files/a.txt", "block/files/a.txt", "not-found.html", "page.html"])
    writeFileSync(join(root, each), each);
  writeFileSync(join(root, "passwords"), "me:{PLAIN}right\n");
  const { privateKey } = verdictd;
  const addresses = { verdictd: verdictd.baseUrl.slice(7), privateKey, application: app.address, sitePort, folder };
  const site = nginxSite({ ...addresses, answerMs: 10_000 });
  const [before, rest] = [site.slice(0, site.indexOf(mark)), site.slice(site.indexOf(mark))];
  const part = rest.slice(0, rest.indexOf(end));
  // Another site has another project: its key is wrong here, which lets everybody in.
  const second = `server { listen 127.0.0.1:${secondPort}; location / { proxy_pass http://application; }
    ${part.replaceAll(privateKey, "sk_of_another_site")} }`;
  // The recipe's own lines for PHP, which are a comment there.
  const phpLines = site.match(/(?<=# +)fastcgi_param HTTP_X_VERDICT.*;/g)?.join("\n    ") ?? "";
  const text = `${before}${layouts(fastcgi, app.address, root, phpLines)}${rest}${second}`;
  await runNginx(t, { ...addresses, answerMs: 10_000 }, text);
  const base = `http://127.0.0.1:${sitePort}`;
  const cookie = { Cookie: `service_session=${verdictd.sessionToken}` };
  const ask = async (path: string, init: RequestInit = {}, from = base) => {
    const answer = await fetch(from + path, { ...init, headers: { ...cookie, ...init.headers } });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };

  await t.test("every location is asked about, and none is let in unasked", async (t) => {
    app.reached.length = 0;
    for (const path of ["/block.php", "/block/x.php", "/block/wordpress/post", "/block/sub/x", "/block/files/a.txt"]) {
      const { status, text } = await ask(path);
      t.equal(status, 403, path);
      t.match(text, /looks automated/, path);
    }
    for (const path of ["/block/uploads", "/block/sub/x", "/block.php"]) {
      for (const size of [1_500_000, 21_000_000]) {
        const { status } = await ask(path, { method: "POST", body: "x".repeat(size) }).catch(() => ({ status: 403 }));
        t.ok(status === 403 || status === 413, `${path}: ${size} bytes let nobody in (${status})`);
      }
    }
    t.same(app.reached, [], "nothing of it reached the application");
    t.equal((await ask("/block/unasked/x")).status, 200, "a location may be left out");
  });

  await t.test("what is let in is served as without verdictd, with the verdict", async (t) => {
    const names = ["X-Verdict", "X-Verdict-Score", "X-Verdict-Action", "X-Verdict-Agent"];
    const php = await ask("/shop.php?a=b", { headers: Object.fromEntries(names.map((name) => [name, "forged"])) });
    t.notMatch(php.text, "forged");
    t.match(JSON.parse(php.text), { REQUEST_URI: "/shop.php?a=b", HTTP_X_VERDICT_ACTION: "allow" });
    t.match(JSON.parse(php.text).HTTP_X_VERDICT, /^[a-z_]+$/);
    const post = JSON.parse((await ask("/wordpress/post?p=1")).text);
    t.match(post, { SCRIPT_NAME: "/index.php", HTTP_X_VERDICT_ACTION: "allow" }, "also after an internal redirect");
    t.equal((await ask("/files/a.txt")).text, "files/a.txt");
    t.match(await ask("/files/none.txt"), { status: 404, text: "not-found.html" });
    const upload = JSON.parse(
      (await ask("/uploads", { method: "POST", body: "x".repeat(21_000_000) })).text,
    ) as Reached;
    t.equal(upload.bytes, 21_000_000);
  });

  await t.test("the site's own 401 and 403 are its own", async (t) => {
    const asking = await ask("/secret/");
    t.equal(asking.status, 401);
    t.match(asking.headers.get("www-authenticate"), /secret/);
    const given = { Authorization: `Basic ${Buffer.from("me:right").toString("base64")}` };
    t.match(await ask("/secret/", { headers: given }), { status: 200, text: "page.html" });
    for (const path of ["/denied/x", "/intercepted", "/files/"]) {
      const { status, text } = await ask(path);
      t.equal(status, 403, path);
      t.notMatch(text, /looks automated/, path);
    }
    t.equal((await ask("/challenge/x.php")).status, 403, "a challenge is a 403 here too");
  });

  await t.test("a request is asked about once, wherever nginx goes on to", async (t) => {
    const asked: string[] = [];
    const counting = createServer((incoming, response) => {
      asked.push(String(incoming.headers["x-forwarded-uri"]));
      response
        .writeHead(204, { "X-Verdict": "likely_human", "X-Verdict-Action": "allow", "X-Request-Id": "one" })
        .end();
    });
    const port = await freePort();
    const own = {
      ...addresses,
      verdictd: await listening(t, counting),
      sitePort: port,
      folder: join(folder, "counting"),
      answerMs: 10_000,
    };
    mkdirSync(own.folder);
    await runNginx(
      t,
      own,
      nginxSite(own).replace(mark, () => `${layouts(fastcgi, app.address, root, phpLines)}${mark}`),
    );
    asked.length = 0;
    const { text } = await ask("/wordpress/post", {}, `http://127.0.0.1:${port}`);
    t.match(JSON.parse(text), { SCRIPT_NAME: "/index.php", HTTP_X_VERDICT: "likely_human" });
    await ask("/files/none.txt", {}, `http://127.0.0.1:${port}`);
    t.same(asked, ["/wordpress/post", "/files/none.txt"]);
  });

  await t.test("WebSockets pass, and are asked about", async (t) => {
    const open = (path: string) => socketEcho(base + path, cookie);
    t.equal(await open("/socket"), "hello");
    t.equal(await open("/block/socket"), "403");
  });

  await t.test("a second site has a project of its own", async (t) => {
    t.equal((await ask("/block", {}, `http://127.0.0.1:${secondPort}`)).status, 200);
    t.equal((await ask("/block")).status, 403);
  });

  await t.test("preflights reach the application, whatever rules say", async (t) => {
    const preflight = { Origin: "https://app.example", "Access-Control-Request-Method": "POST" };
    t.equal((await ask("/block/x", { method: "OPTIONS", headers: preflight })).status, 200);
    t.equal((await ask("/block/x", { method: "OPTIONS" })).status, 403);
    const asked = { ...preflight, "Access-Control-Request-Headers": "content-type,baggage" };
    const own = await ask("/v1/events", { method: "OPTIONS", headers: asked });
    t.equal(own.status, 204);
  });

  await t.test("verdictd gone, everybody is let in", async (t) => {
    await verdictd.kill();
    for (const path of ["/block/x", "/block.php", "/block/wordpress/post", "/block/files/a.txt"]) {
      t.equal((await ask(path)).status, 200, path);
    }
    t.equal((await ask("/block/uploads", { method: "POST", body: "x".repeat(1_500_000) })).status, 200);
  });
});
