/** The command line beside a running server on the same folder: the server notices every change at once, and stops in order. */
import { join } from "node:path";
import t from "tap";
import { command, type FirstKeys, json, serve } from "../support/process.js";
import { ingest, threads } from "./ingest.js";

t.test("a running server notices what commands change", async (t) => {
  const dir = join(t.testdir(), "store");
  const first = await json<FirstKeys>(dir, "init");
  const env = { VERDICTD_TRUSTED_PROXY: "10.0.0.0/8", VERDICTD_SERVICE_HOST: "10.0.0.1" };
  const serving = await serve(t, dir, { flags: ["--verdict-ttl", "0", ...threads], env });
  t.same(
    serving.log.map(({ msg }) => msg).filter((msg) => String(msg).includes("VERDICTD_")),
    ["VERDICTD_TRUSTED_PROXY is ignored: there is no such option; did you mean VERDICTD_TRUSTED_PROXIES?"],
  );
  const scoring = `/v1/projects/${first.project_id}/scoring`;
  const { json: keys } = await serving.ask("POST", scoring, { token: first.account_token });

  await t.test("accounts, users, members, projects and tokens", async (t) => {
    const [account, user] = await Promise.all([
      json(dir, "account", "create", "--name", "Acme", "--slug", "acme", "--plan", "pro", "--personal"),
      json(dir, "user", "create", "--name", "Ann", "--email", "Ann@example.com"),
    ]);
    t.match(account, { id: 2, name: "Acme", slug: "acme", is_personal: true, plan: "pro", subscription: "active" });
    t.same(Object.keys(account), ["id", "name", "slug", "is_personal", "plan", "subscription", "created_at"]);
    t.match(user, { id: 2, name: "Ann", email: "Ann@example.com" });
    t.same(Object.keys(user), ["id", "name", "email", "created_at"]);
    const whom = ["--account", "2", "--user", "2"];
    const [member, project] = await Promise.all([
      json(dir, "member", "set", ...whom, "--role", "admin"),
      json(dir, "project", "create", "--account", "2", "--name", "Shop"),
    ]);
    t.same(member, { account_id: 2, user_id: 2, role: "admin" });
    t.match(project, { id: 2, account_id: 2, name: "Shop" });
    t.same(Object.keys(project), ["id", "account_id", "name", "created_at"]);
    const token = await json<{ id: number; account_token: string }>(dir, "token", "create", ...whom);
    t.same(Object.keys(token), ["id", "account_token"]);
    const asked = () => serving.ask("GET", "/v1/account", { token: token.account_token });
    t.match(await asked(), { status: 200, json: { id: 2, role: "admin" } });
    await json(dir, "member", "set", ...whom, "--role", "viewer");
    t.match(await asked(), { status: 200, json: { role: "viewer" } });
    const account2 = ["--account", "2", "--data-dir", dir];
    t.same(await json(dir, "member", "list", "--account", "2"), {
      data: [{ user_id: 2, name: "Ann", email: "Ann@example.com", role: "viewer" }],
    });
    t.match(
      (await command(["member", "list", ...account2])).stdout,
      /^USER.*ROLE\n2 +Ann +Ann@example\.com +viewer\n$/,
    );
    t.match(await json(dir, "token", "list", "--account", "2"), {
      data: [{ id: token.id, name: null, user: "Ann", abilities: ["*"], last_used_at: /^2/ }],
    });
    await json(dir, "token", "create", ...whom, "--name", "backups", "--abilities", "projects:read,content:read");
    const { stdout: listed } = await command(["token", "list", ...account2]);
    t.match(listed, /^ID .*LAST USED\n/);
    t.match(listed, /^\d+ +backups +Ann +projects:read,content:read +2\S+ +never$/m);
    t.same(await json(dir, "member", "remove", ...whom), { account_id: 2, user_id: 2, role: "viewer" });
    t.equal((await asked()).status, 403, "a member no more");
    t.same(await json(dir, "token", "revoke", String(token.id)), { id: token.id, revoked: true });
    t.equal((await asked()).status, 401, "a revoked token");
    const changes = await json<{ data: { action: string }[] }>(dir, "changes", "--account", "2", "--limit", "2");
    t.match(changes.data, [
      { account_id: 2, user: null, action: "token.revoked" },
      { account_id: 2, user: null, action: "member.removed", before: { role: "viewer" }, after: null },
    ]);
    t.equal(changes.data.length, 2);
    const { stdout: told } = await command(["changes", ...account2]);
    t.match(told, /^AT .*BEFORE AND AFTER\n/);
    t.match(told, /command line +member\.set +.*role: admin -> viewer$/m);
  });

  await t.test("a subscription", async (t) => {
    const token = await ingest(serving, keys.site_key, 1);
    const asked = () => serving.ask("GET", `/v1/sessions/${token}/verdict`, { token: keys.private_key });
    t.equal((await asked()).status, 200);
    t.match(await json(dir, "account", "set", "1", "--subscription", "inactive"), { id: 1, subscription: "inactive" });
    t.equal((await asked()).status, 402);
    await t.rejects(ingest(serving, keys.site_key, 1), /402/);
    await json(dir, "account", "set", "1", "--subscription", "active");
    t.equal((await asked()).status, 200);
  });

  await t.test("a rotated key", async (t) => {
    const rotated = await serving.ask("POST", `${scoring}/rotate`, {
      token: first.account_token,
      body: { type: "site" },
    });
    await t.rejects(ingest(serving, keys.site_key, 1), /401/);
    keys.site_key = rotated.json.key;
    t.ok(await ingest(serving, keys.site_key, 1));
    t.match(await json(dir, "check"), { ok: true }, "the old key left nothing behind");

    const rotate = (...flags: string[]) =>
      command(["project", "rotate-key", String(first.project_id), "--type", "site", ...flags, "--data-dir", dir]);
    const second = (await rotate("--overlap-hours", "2")).stdout;
    t.match(second, /^key: pk_\S+\n\nThe site key before it works until 2\S+\.\n$/m);
    t.ok(await ingest(serving, keys.site_key, 1));
    t.match(await rotate(), { code: 1, stdout: "", stderr: /nothing was rotated; --yes rotates all the same\n$/ });
    const { stdout: third } = await rotate("--yes");
    t.match(third, /is refused from now on\.\n1 older site key from earlier rotations ended too\.\n$/);
    await t.rejects(ingest(serving, keys.site_key, 1), /401/);
    keys.site_key = /pk_\S+/.exec(third)![0];

    const [id, type] = [String(first.project_id), ["--type", "private"]];
    const overlapping = await json(dir, "project", "rotate-key", id, ...type, "--overlap-hours", "2");
    t.match(overlapping, { type: "private", key: /^sk_/, old_key_ends_at: /^2/, ended: 0 });
    t.same(await json(dir, "project", "end-old-keys", id, ...type), { type: "private", ended: 1 });
  });
});

t.test("SIGTERM stops the server in order; its batches are stored", async (t) => {
  const dir = join(t.testdir(), "store");
  const first = await json<FirstKeys>(dir, "init");
  const serving = await serve(t, dir, { flags: threads });
  const scoring = `/v1/projects/${first.project_id}/scoring`;
  const { json: keys } = await serving.ask("POST", scoring, { token: first.account_token });
  const token = await ingest(serving, keys.site_key, 2);
  t.equal(await serving.end("SIGTERM"), 0);
  t.equal(serving.log.at(-1)?.["msg"], "stopped");
  t.match(await json(dir, "session", "show", token), { event_count: 2 });
});

t.test("a second signal ends the server at once", async (t) => {
  const serving = await serve(t, join(t.testdir(), "store"), { flags: threads });
  serving.child.kill("SIGTERM");
  t.equal(await serving.end("SIGINT"), 1);
});
