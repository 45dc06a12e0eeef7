/** What `verdictd recipe` prints for every proxy, and which values it refuses. `test/proxies/recipe.test.ts` runs what can be run. */
import t from "tap";
import { parseAllDocuments } from "yaml";
import { proxyNames } from "../../src/cli/recipes/recipe.js";
import { command } from "../support/process.js";

const site = ["--upstream", "http://10.0.0.3:3001", "--host", "bikes.example", "--verdictd", "http://10.0.0.4:8081"];

t.test("every recipe has the site's names, and none of another's", async (t) => {
  for (const proxy of proxyNames) {
    const names = ["--site-key", "pk_a-b_c", "--protect", "/pay.now", "--protect", "/login"];
    const { code, stdout, stderr } = await command(["recipe", proxy, ...site, ...names]);
    t.equal(code, 0, stderr);
    // A service of Kubernetes has a name of its own.
    const upstream = ["ingress", "envoy", "gateway"].includes(proxy) ? /3001/ : /10\.0\.0\.3:3001/;
    for (const name of [upstream, /bikes\.example/, /8081/, /pk_a-b_c/, /\/pay\\*\.now/, /\/login/])
      t.match(stdout, name, proxy);
    t.notMatch(stdout, /shop\.example|127\.0\.0\.1:(?:3000|8080)|pk_REPLACE_ME/, proxy);
    if (proxy === "caddy") t.match(stdout, "VERDICTD_PRIVATE_KEY");
    else t.match(stdout, "sk_REPLACE_ME");
    if (!["traefik", "envoy", "gateway", "ingress"].includes(proxy)) continue;
    const found = parseAllDocuments(stdout);
    if (!("length" in found)) throw new Error("nothing was printed");
    t.same(
      found.flatMap(({ errors }) => errors),
      [],
      proxy,
    );
  }
});

t.test("a value that could end a quotation or a line is wrong usage", async (t) => {
  const wrong = [
    ["--upstream", "https://10.0.0.3"],
    ["--upstream", "http://10.0.0.3:3001/path"],
    ["--upstream", "http://10.0.0.3:99999"],
    ["--host", "a;b"],
    ["--host", "a\nb"],
    ["--site-key", 'pk_"'],
    ["--site-key", "sk_secret"],
    ["--protect", "checkout"],
    ["--protect", "/a/../b"],
    ["--protect", "/a b"],
    ["--protect", "/a'"],
    ["--verdictd", "10.0.0.4:8081}"],
    ["--check", "shop.example"],
  ];
  for (const flags of wrong) {
    const { code, stdout, stderr } = await command(["recipe", "nginx", ...site, ...flags]);
    t.same([code, stdout], [2, ""], flags.join(" "));
    t.match(stderr, flags[0]!);
  }
  t.equal((await command(["recipe", "apache", ...site])).code, 2);
  t.equal((await command(["recipe", "nginx", "--host", "a"])).code, 2, "no application");
  t.equal((await command(["recipe", "nginx", "--lua"])).code, 2);
});

t.test("--check of an address where nothing answers is a failure that says so", async (t) => {
  const { code, stderr } = await command(["recipe", "nginx", "--check", "http://127.0.0.1:1"]);
  t.equal(code, 1);
  t.match(stderr, /127\.0\.0\.1:1 does not answer/);
});
