/** `verdictd exception` beside a running server, which notices each change. */
import t from "tap";
import { batch, browserHeaders } from "../support/batches.js";
import { command } from "../support/process.js";
import { firstTenant, startServer } from "../support/server.js";

t.test("an exception is made, listed and removed while the server runs", async (t) => {
  const server = await startServer(t);
  const one = await firstTenant(server);
  const at = `/v1/projects/${one.projectId}`;
  const headers = { ...browserHeaders, "x-service-site-key": one.siteKey };
  const { json } = await server.ask("POST", "/v1/events", { headers, body: batch("cliexc00", 3) });
  const body = { name: "Everybody", expression: "score > 0", action: "block" };
  await server.ask("POST", `${at}/rules`, { token: one.token, body });
  const read = async () =>
    (await server.ask("GET", `/v1/sessions/${json.session_token}/verdict`, { token: one.privateKey })).json;
  t.equal((await read()).action, "block");
  const flags = ["--project", String(one.projectId), "--data-dir", server.dataDir];
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const asked = ["--session", json.session_token, "--until", until, "--note", "Ms Miller"];
  const made = await command(["exception", "create", ...asked, ...flags, "--json"]);
  t.match(JSON.parse(made.stdout), { expires_at: until, note: "Ms Miller" });
  t.match(await read(), { action: "allow", reason: `Let through until ${until}: Ms Miller` });
  const listed = await command(["exception", "list", ...flags]);
  t.match(listed.stdout, new RegExp(`session_token ${json.session_token}.*Ms Miller`));
  const { id } = JSON.parse(made.stdout);
  t.equal((await command(["exception", "remove", String(id), ...flags])).code, 0);
  t.equal((await read()).action, "block");
  t.equal((await command(["exception", "remove", String(id), ...flags])).code, 1);
  const refused = [
    ["--until", until],
    ["--ip", "x", "--until", until],
    ["--ip", "192.0.2.1", "--agent", "x", "--until", until],
    ["--ip", "192.0.2.1", "--until", "soon"],
    ["--ip", "192.0.2.1"],
  ];
  for (const wrong of refused) t.equal((await command(["exception", "create", ...wrong, ...flags])).code, 2);
});
