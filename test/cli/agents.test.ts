/** The agents that sign their requests, on the command line. */
import { join } from "node:path";
import t from "tap";
import { newKey } from "../bots/signed/signer.js";
import { command, json } from "../support/process.js";
import { startServer } from "../support/server.js";

const key = newKey();
const test = { kty: "OKP", crv: "Ed25519", x: "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs", d: "private" };

t.test(
  "agents are listed, added, taken off and replaced beside a running server, which shows them at once",
  async (t) => {
    const files = t.testdir({
      store: {},
      "list.json": JSON.stringify({
        version: "mine",
        agents: [{ url: "https://A.example/", name: "A", category: "seo" }],
      }),
      "bad.json": JSON.stringify({
        version: "mine",
        agents: [{ url: "http://a.example", name: "A", category: "seo" }],
      }),
      "keys.json": JSON.stringify({ keys: [key.jwk, test] }),
      "broken.json": JSON.stringify({ keys: [{ ...key.jwk, x: "AA" }] }),
      "text.json": "keys",
    });
    const server = await startServer(t, [], join(files, "store"));
    const shown = async () => (await server.ask("GET", "/v1/signed-agents")).json;
    const agents = (...words: string[]) => server.command("agents", ...words);
    const failure = async (...words: string[]) => {
      const { code, stderr } = await command(["agents", ...words, "--data-dir", join(files, "store")]);
      return `${code} ${stderr}`;
    };

    const shipped = await agents("list");
    t.match(shipped, { source: "shipped", count: shipped.agents.length });
    t.ok(shipped.agents.some((each: { url: string }) => each.url === "https://chatgpt.com"));
    t.match(await shown(), { meta: { count: shipped.count, version: shipped.version } });
    t.match(shipped.agents[0], { keys: null, fetch: null });

    const added = await agents("add", "https://Agent.example", "--name", "Example", "--category", "ai_agent");
    t.same(added, { url: "https://agent.example", name: "Example", category: "ai_agent" });
    const after = await shown();
    t.ok(after.data.some((each: object) => JSON.stringify(each) === JSON.stringify(added)));
    t.not(after.meta.version, shipped.version, "another list has another version");

    const imported = await agents("import", join(files, "keys.json"), "--url", "https://agent.example");
    t.same(imported, {
      url: "https://agent.example",
      keys: 2,
      key_ids: [key.thumbprint, "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"],
    });
    const mine = (await agents("list")).agents.find((each: { url: string }) => each.url === "https://agent.example");
    t.match(mine, { keys: { source: "imported", keys: [{ x: key.jwk.x }, { x: test.x }] } });
    t.notOk(JSON.stringify(mine).includes("private"), "no private part is stored");

    t.match(
      await failure("import", join(files, "keys.json"), "--url", "https://stranger.example"),
      /^1 .*add it first/,
    );
    t.match(await failure("import", join(files, "broken.json"), "--url", "https://agent.example"), /^1 .*1 of 1 keys/);
    t.match(await failure("import", join(files, "text.json"), "--url", "https://agent.example"), /^1 .*not JSON/);
    t.match(await failure("import", join(files, "none.json")), /^1 .*ENOENT/);
    t.match(await failure("import", join(files, "keys.json")), /^1 .*version must be a text/);
    t.match(await failure("import", join(files, "bad.json")), /^1 .*agents\[0\]\.url/);
    t.match(await failure("import", join(files, "keys.json"), "--url", "http://agent.example"), /^2 /);
    t.match(await failure("add", "https://a.example/path", "--name", "A", "--category", "seo"), /^2 .*https address/);
    t.match(await failure("add", "https://a.example", "--name", "A", "--category", "nice"), /^2 .*category/);
    t.match(await failure("add", "https://a.example"), /^2 .*--name is required/);
    t.match(await failure("remove", "https://stranger.example"), /^1 .*no agent/);

    t.same(await agents("remove", "https://agent.example"), added);
    t.same((await shown()).data.length, shipped.count);
    t.same(await agents("remove", "https://chatgpt.com"), {
      url: "https://chatgpt.com",
      name: "ChatGPT agent",
      category: "ai_agent",
    });
    t.same(await agents("import", join(files, "list.json")), {
      version: "mine",
      count: 1,
      added: 1,
      removed: shipped.count - 1,
    });
    t.same((await server.ask("GET", "/v1/signed-agents")).json, {
      data: [{ url: "https://a.example", name: "A", category: "seo" }],
      meta: { count: 1, version: "mine" },
    });
    t.match(await server.command("check"), { ok: true });
  },
);

t.test("refresh says of each agent what came of it, and refuses addresses that are not public", async (t) => {
  const list = { version: "1", agents: [{ url: "https://127.0.0.1:1", name: "Inner", category: "other" }] };
  const dir = t.testdir({ "list.json": JSON.stringify(list) });
  const store = join(dir, "store");
  await json(store, "init");
  await json(store, "agents", "import", join(dir, "list.json"));
  const { code, stdout, stderr } = await command(["agents", "refresh", "--json", "--data-dir", store]);
  t.same(JSON.parse(stdout), {
    agents: [{ url: "https://127.0.0.1:1", keys: null, failure: "its address is not public" }],
  });
  t.equal(code, 1);
  t.match(stderr, /1 of 1 agents could not be reached/);
  t.match((await json<{ agents: object[] }>(store, "agents", "list")).agents[0], {
    fetch: { failure: "its address is not public" },
  });
});
