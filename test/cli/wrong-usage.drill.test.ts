/** What the command line does with mistakes: exit codes, one clear line, and nothing made by a slip of the hand. */

import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import t from "tap";
import { commands } from "../../src/cli/commands.js";
import { schemaVersion } from "../../src/store/open-store.js";
import { command, verdictd } from "../support/process.js";

const lineCount = (text: string): number => text.trimEnd().split("\n").length;

t.test("help and version are printed and are no mistake; no command is one", async (t) => {
  const [help, version, none] = await Promise.all([verdictd(["--help"]), verdictd(["--version"]), verdictd([])]);
  const asked = [["help"], ["help", "token", "revoke"], ["token", "revoke", "--help"]];
  const [general, ofCommand, itsOwn] = await Promise.all(asked.map((words) => command(words)));
  t.same([general, ofCommand], [help, itsOwn], "help is a command too");
  t.equal(help.code, 0);
  for (const command of commands) {
    t.match(help.stdout, new RegExp(`^  ${command.name}\\b`, "m"), `${command.name} is in the help`);
    for (const { name, isRetired = false } of command.flags ?? [])
      t.equal(
        help.stdout.includes(`--${name}`),
        !isRetired,
        `--${name} is in the help, unless it does nothing any more`,
      );
  }
  const { version: expected } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  const [first, commit, schema, node, ...natives] = version.stdout.trim().split("\n");
  t.same([version.code, first], [0, `verdictd ${expected}`]);
  t.match(commit, /^commit ([0-9a-f]{40}(-changed)?|unknown)$/);
  t.equal(schema, `store schema ${schemaVersion}`);
  t.match(node, `node ${process.versions.node} (ABI ${process.versions.modules}, `);
  t.same(
    natives.map((line) => line.split(" ")[0]),
    ["lmdb", "msgpackr-extract", "uWebSockets.js", "uWebSockets.js-next"],
    "every native part has a line",
  );
  t.equal(none.code, 2);
  t.match(none.stderr, /Usage: verdictd/);
});

t.test("wrong usage is exit code 2 and says what is wrong", async (t) => {
  const dir = join(t.testdir(), "store");
  const cases: [string[], RegExp, number][] = [
    [["acount"], /^unknown command 'acount'/, 1],
    [["acount", "--help"], /^unknown command 'acount'/, 1],
    [["help", "token", "revoke-all"], /^unknown command 'revoke-all'/, 1],
    [["stats", "--foo"], /unknown option '--foo'/, 1],
    [["serve", "--prot", "1"], /unknown option '--prot'/, 1],
    [["token", "revoke"], /missing required argument 'ID'/, 1],
    [["stats", "extra"], /too many arguments/, 1],
    [["account", "create"], /--name is required\n--slug is required/, 2],
    [["account", "create", "--name", "A", "--slug", "No Slug"], /slug/, 1],
    [["account", "create", "--name", "A", "--slug", "a", "--plan", "gold"], /--plan: expected free or/, 1],
    [["user", "create", "--name", "A", "--email", "none"], /not an e-mail/, 1],
    [["init", "--data-dir", "--json"], /--data-dir: a value is missing/, 1],
  ];
  await Promise.all(
    cases.map(async ([args, message, lines]) => {
      const inDir = args.includes("--data-dir") || args[0] === "serve" ? args : [...args, "--data-dir", dir];
      const { code, stdout, stderr } = await command(inDir);
      t.same([code, stdout], [2, ""], args.join(" "));
      t.match(stderr, message, args.join(" "));
      t.equal(lineCount(stderr), lines, `${args.join(" ")} says it on ${lines} lines`);
    }),
  );
  t.notOk(existsSync("--json"), "no folder is named after a flag");
});

t.test("serve lists every mistake of flags, variables and files at once", async (t) => {
  const dir = t.testdir({ port: "seventy\n" });
  const { code, stdout, stderr } = await verdictd(
    ["serve", "--data-dir", join(dir, "store"), "--scoring-threads", "0", "--durability", "never"],
    {
      VERDICTD_PORT_FILE: join(dir, "port"),
      VERDICTD_HTTP_THREADS: "many",
      VERDICTD_HOST_FILE: join(dir, "missing"),
      VERDICTD_ADMIN_PORT: "1",
      VERDICTD_ADMIN_PORT_FILE: join(dir, "port"),
    },
  );
  t.same([code, stdout], [2, ""]);
  for (const name of [
    "--scoring-threads",
    "--durability",
    "VERDICTD_PORT_FILE: .*seventy",
    "VERDICTD_HTTP_THREADS",
    "VERDICTD_HOST_FILE",
    "VERDICTD_ADMIN_PORT_FILE",
  ]) {
    t.match(stderr, new RegExp(`^${name}`, "m"));
  }
  t.equal(lineCount(stderr), 6);
  t.notOk(existsSync(join(dir, "store")), "nothing was started");
});

t.test("a command that makes no store refuses a folder without one and leaves it so", async (t) => {
  const dir = join(t.testdir(), "typo");
  const rows = [
    ["stats"],
    ["check"],
    ["backup", join(dir, "b")],
    ["session", "show", "sess_x"],
    ["verified-bots", "list"],
  ];
  await Promise.all(
    rows.map(async (args) => {
      const { code, stderr } = await command(args, { VERDICTD_DATA_DIR: dir });
      t.equal(code, 1, args.join(" "));
      t.ok(stderr.startsWith(`there is no store in ${dir}`), stderr);
      t.equal(lineCount(stderr), 1);
    }),
  );
  t.notOk(existsSync(dir), "the folder was not made");
});

t.test("what can't be done is exit code 1 and one line", async (t) => {
  const dir = t.testdir({ broken: { "verdictd.mdb": "x".repeat(70_000) }, file: "" });
  const store = join(dir, "store");
  const made = await command(["init", "--data-dir", store]);
  t.match(made, { code: 0, stderr: "" });
  const bad = join(dir, "bad.json");
  writeFileSync(bad, JSON.stringify({ version: "1", entries: [{ name: "A", category: "search" }] }));
  const port = createServer().listen(0, "127.0.0.1");
  t.teardown(() => port.close());
  await once(port, "listening");
  const taken = String((port.address() as AddressInfo).port);
  const cases: [string[], RegExp][] = [
    [["init"], /has accounts already/],
    [["account", "create", "--name", "B", "--slug", "default"], /slug "default" is taken/],
    [["user", "create", "--name", "B", "--email", "OWNER@localhost"], /taken/],
    [["account", "set", "99", "--plan", "pro"], /no account 99/],
    [["member", "set", "--account", "1", "--user", "99", "--role", "owner"], /no user 99/],
    [["member", "remove", "--account", "1", "--user", "99"], /no member/],
    [["project", "create", "--account", "99", "--name", "P"], /no account 99/],
    [["token", "create", "--account", "1", "--user", "99"], /no user 99/],
    [["token", "revoke", "99"], /no token 99/],
    [["session", "show", `sess_${"A".repeat(28)}`], /no project has a session/],
    [["session", "delete", `sess_${"A".repeat(28)}`], /no project has a session/],
    [["verified-bots", "import", join(dir, "missing.json")], /ENOENT/],
    [["verified-bots", "import", bad], /entries\[0\]\.match_method/],
    [["backup", store], /not empty/],
    [["backup", join(dir, "file")], /not a folder/],
    [["serve", "--port", taken, "--admin-port", "0"], /can't listen/],
    [["stats", "--data-dir", join(dir, "broken")], /no store of verdictd/],
    [["serve", "--port", "0", "--data-dir", join(dir, "broken")], /no store of verdictd/],
    [["serve", "--port", "0", "--data-dir", join(dir, "file", "below")], /ENOTDIR/],
    [["serve", "--port", "0", "--data-dir", "/proc/x/y"], /the folder \/proc\/x can't be made \(ENOENT\)/],
    [["backup", "/proc/x"], /the folder \/proc\/x can't be made/],
  ];
  await Promise.all(
    cases.map(async ([args, message]) => {
      const run = args[0] === "serve" ? verdictd : command;
      const { code, stdout, stderr } = await run(args.includes("--data-dir") ? args : [...args, "--data-dir", store]);
      t.same([code, stdout], [1, ""], args.join(" "));
      t.match(stderr, message, args.join(" "));
      t.equal(lineCount(stderr), 1, `${args.join(" ")} says it on one line`);
    }),
  );
});
