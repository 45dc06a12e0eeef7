/** Configuration from flags, environment and file together, as `verdictd config` shows it and `serve` refuses it. */
import { existsSync } from "node:fs";
import t from "tap";
import { givenOptions } from "../../src/cli/cluster-choice.js";
import {
  camelCase,
  environmentName,
  type GivenFlags,
  readServeConfig,
  serveOptions,
  unknownVariables,
} from "../../src/config/config.js";
import { command, verdictd } from "../support/process.js";

/** No environment variables. */
const bare = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => name.startsWith("VERDICTD_"))
    .map((name) => [name, undefined]),
);

t.test("config shows each value with its source; flags win over environment, environment over file", async (t) => {
  const folder = t.testdir({
    "config.json": JSON.stringify({
      port: 1001,
      "verdict-ttl": 1,
      "session-days": 7,
      "trusted-proxies": ["10.0.0.0/8", "192.168.0.0/16"],
      "dns-servers": [],
      demo: true,
      "admin-token": "very secret",
    }),
    ttl: "3\n",
  });
  const env = {
    ...bare,
    VERDICTD_CONFIG: `${folder}/config.json`,
    VERDICTD_PORT: "1002",
    VERDICTD_VERDICT_TTL_FILE: `${folder}/ttl`,
  };
  const { code, stdout, stderr } = await command(["config", "--json", "--port", "1003"], env);
  t.same({ code, stderr }, { code: 0, stderr: "" });
  const rows = JSON.parse(stdout);
  t.same(rows.port, { value: "1003", source: "flag", from: "--port" });
  t.same(rows["verdict-ttl"], { value: "3", source: "environment", from: "VERDICTD_VERDICT_TTL_FILE" });
  t.same(rows["session-days"], { value: "7", source: "file", from: `${folder}/config.json:1: session-days` });
  t.same(rows["trusted-proxies"].value, "10.0.0.0/8,192.168.0.0/16");
  t.same(rows["dns-servers"], { value: "", source: "default", from: "" }, "an empty list is none");
  t.same(rows.demo, { value: "true", source: "file", from: `${folder}/config.json:1: demo` });
  t.same(rows.host, { value: "127.0.0.1", source: "default", from: "" });
  t.match(rows["admin-token"], { value: "(hidden)", source: "file" });
  t.same(Object.keys(rows), Object.keys(serveOptions), "every option is there");
  t.notOk(stdout.includes("very secret"));
  const table = (await command(["config", "--port", "1003"], env)).stdout;
  t.match(table, /^port +1003 +flag \(--port\)$/m);
  t.match(table, /^host +127\.0\.0\.1 +default$/m);
  t.notOk(table.includes("very secret"));
});

t.test("all mistakes of flags, environment and file are told at once", async (t) => {
  const folder = t.testdir({
    "config.json": JSON.stringify({
      port: "eighty",
      verdict_ttl: 5,
      colour: "red",
      porrt: 1,
      "trusted-proxies": [1],
      demo: { yes: true },
      config: "other.json",
    }),
  });
  const file = `${folder}/config.json`;
  const env = {
    ...bare,
    VERDICTD_DURABILITY: "none",
    VERDICTD_ADMIN_TOKEN_FILE: `${folder}/missing`,
    VERDICTD_QUEUE_MB: "1",
    VERDICTD_QUEUE_MB_FILE: file,
  };
  for (const name of ["config", "serve"]) {
    const { code, stdout, stderr } = await verdictd([name, "--config", file, "--http-threads", "0"], env);
    t.same({ code, stdout }, { code: 2, stdout: "" }, name);
    const lines = stderr.trim().split("\n").sort();
    t.same(
      lines,
      [
        '--http-threads: expected a whole number from 1 to 256, got "0"',
        `VERDICTD_ADMIN_TOKEN_FILE: can't read "${folder}/missing" (ENOENT)`,
        'VERDICTD_DURABILITY: expected process or power-loss, got "none"',
        "VERDICTD_QUEUE_MB_FILE: VERDICTD_QUEUE_MB is also set; give only one of them",
        `${file}:1: colour: no such option`,
        `${file}:1: porrt: no such option, did you mean "port"?`,
        `${file}:1: config: no such option`,
        `${file}:1: demo: expected a string, a number, true, false or a list of strings`,
        `${file}:1: port: expected a whole number from 0 to 65535, got "eighty"`,
        `${file}:1: trusted-proxies: expected a string, a number, true, false or a list of strings`,
        `${file}:1: verdict_ttl: no such option, did you mean "verdict-ttl"?`,
      ].sort(),
      name,
    );
  }
});

t.test("config and serve refuse the same, all of it at once, and before anything is made or started", async (t) => {
  const folder = t.testdir();
  const given: [flag: string, value: string, mistake: RegExp][] = [
    ["data-dir", `${folder}/store`, /^$/],
    ["log-level", "loud", /^--log-level: expected trace or .*, got "loud"/],
    ["host", "10.0.0.256", /^--host: expected an IP address or a host name, got "10\.0\.0\.256"/],
    ["admin-host", "http://localhost", /^--admin-host: expected an IP address/],
    [
      "trusted-proxies",
      "10.0.0.1/8,proxy,::/0",
      /"10\.0\.0\.1\/8" has host bits set: the range is 10\.0\.0\.0\/8; "proxy" is not an address range.*; "::\/0" trusts every/,
    ],
    ["dns-servers", "9.9.9.9,9.9.9.9:0", /^--dns-servers: expected ADDRESS or ADDRESS:PORT, .* not "9\.9\.9\.9:0"/],
    ["tls-cert", `${folder}/cert.pem`, /^--tls-cert: can't read .*cert\.pem \(ENOENT\)/],
    ["tls-key", `${folder}/key.pem`, /^$/],
  ];
  const flags = given.flatMap(([flag, value]) => [`--${flag}`, value]);
  for (const name of ["config", "serve"]) {
    const { code, stdout, stderr } = await verdictd([name, ...flags], bare);
    t.same({ code, stdout }, { code: 2, stdout: "" }, `${name}: not a line of a log`);
    const lines = stderr.trim().split("\n");
    const wrong = given.filter(([, , mistake]) => mistake.source !== "^$");
    t.equal(lines.length, wrong.length, `${name}: a line a mistake`);
    for (const [flag, , mistake] of wrong)
      t.ok(
        lines.some((line) => mistake.test(line)),
        `${name}: ${flag}`,
      );
  }
  t.notOk(existsSync(`${folder}/store`));
});

t.test("addresses, proxies and name servers are taken in every right form", async (t) => {
  const right: Record<string, string[]> = {
    host: ["0.0.0.0", "::1", "fe80::1%eth0", "localhost", "verdictd-1.internal.example"],
    "trusted-proxies": ["10.0.0.1", "10.0.0.0/8, 2001:db8::/32", "::1"],
    "dns-servers": ["9.9.9.9", "9.9.9.9:5353,2620:fe::fe", "[2620:fe::fe]:53"],
  };
  for (const [flag, values] of Object.entries(right)) {
    for (const value of values) t.match(readServeConfig({ [flag]: value }, {}), { config: {} }, `${flag} ${value}`);
  }
});

t.test("a file in YAML is read like one in JSON; mistakes say their line", async (t) => {
  const folder = t.testdir({
    "good.yaml": [
      "# the shop's own",
      "port: 1001",
      "trusted-proxies: [10.0.0.0/8, 192.168.0.0/16]",
      "dns-servers: []",
      "demo: true",
      "ip-storage: none",
      "admin-token: 0123",
      "data-dir: &here verdictd.example",
      "host: *here",
      "admin-host: 10.0.0.1",
    ].join("\n"),
    "commented.yaml": "# port: 80\n",
    "bad.yaml": "port: eighty\n\nverdict_ttl: 5\ndemo:\n  yes: true\nhost:\n",
    "broken.yaml": "port: 80\nhost: [a\nport: 81\n",
  });
  const read = readServeConfig({ config: `${folder}/good.yaml` }, {});
  t.match(read, {
    config: {
      port: 1001,
      trustedProxies: ["10.0.0.0/8", "192.168.0.0/16"],
      dnsServers: [],
      demo: true,
      ipStorage: "none",
      adminToken: "0123",
      dataDir: "verdictd.example",
      host: "verdictd.example",
      adminHost: "10.0.0.1",
    },
  });
  t.match(readServeConfig({ config: `${folder}/commented.yaml` }, {}), { config: { port: 8080 } });
  const bad = `${folder}/bad.yaml`;
  t.same(readServeConfig({ config: bad }, {}), {
    mistakes: [
      `${bad}:3: verdict_ttl: no such option, did you mean "verdict-ttl"?`,
      `${bad}:4: demo: expected a string, a number, true, false or a list of strings`,
      `${bad}:6: host: expected a string, a number, true, false or a list of strings`,
      `${bad}:1: port: expected a whole number from 0 to 65535, got "eighty"`,
    ],
  });
  const broken = readServeConfig({ config: `${folder}/broken.yaml` }, {});
  if (!("mistakes" in broken)) throw new Error("a broken file was read");
  t.ok(broken.mistakes.length > 0);
  for (const mistake of broken.mistakes) t.match(mistake, /broken\.yaml:[23]: ./);
});

t.test("a file that is none is one mistake", async (t) => {
  const folder = t.testdir({ list: "[]", text: "eighty", empty: "" });
  const mistakesOf = (path: string) => {
    const read = readServeConfig({ config: path }, {});
    return "mistakes" in read ? read.mistakes : [];
  };
  for (const name of ["list", "text", "empty"]) {
    t.same(mistakesOf(`${folder}/${name}`), [
      `${folder}/${name}: expected a map of options by flag name, in YAML or JSON`,
    ]);
  }
  t.same(mistakesOf(`${folder}/nowhere`), [`--config: can't read "${folder}/nowhere" (ENOENT)`]);
});

t.test("values that contradict each other are refused", async (t) => {
  const mistakesOf = (flags: Record<string, string>) => {
    const read = readServeConfig(flags, {});
    return "mistakes" in read ? read.mistakes : [];
  };
  t.match(mistakesOf({ "tls-cert": "a.pem" }), [/^--tls-cert: --tls-key is missing/]);
  t.match(mistakesOf({ "tls-key": "a.pem" }), [/^--tls-key: --tls-cert is missing/]);
  t.match(mistakesOf({ port: "9464" }), [/^--admin-port: 9464 is also the port/]);
  t.match(
    mistakesOf({ port: "9464", host: "0.0.0.0" }),
    [/^--admin-port: 9464 is also the port/],
    "all addresses are one of them",
  );
  t.same(mistakesOf({ port: "9464", host: "10.0.0.1" }), []);
  t.same(mistakesOf({ port: "0", "admin-port": "0" }), []);
});

t.test("a secret is not told in a mistake", async (t) => {
  const read = readServeConfig({}, { VERDICTD_ADMIN_TOKEN: "" });
  t.same(read, { mistakes: ["VERDICTD_ADMIN_TOKEN: expected some text, got something else"] });
});

t.test("every option can be given by flag, variable and file alike", async (t) => {
  const defaults = readServeConfig({}, {});
  if (!("config" in defaults)) throw new Error("the defaults are wrong");
  for (const { name, value } of defaults.effective) {
    if (value === "" || name === "config") continue;
    const byFlag = readServeConfig({ [name]: value }, {});
    const byVariable = readServeConfig({}, { [environmentName(name)]: value });
    for (const read of [byFlag, byVariable]) {
      if (!("config" in read)) t.fail(`${name}: ${read.mistakes}`);
      else t.same(read.config[camelCase(name)], defaults.config[camelCase(name)], name);
    }
  }
});

t.test("--ip-database may be given several times, and like all options by environment and file", async (t) => {
  const folder = t.testdir({ "config.yaml": "ip-database: [/a.mmdb, /b.mmdb]\nja4-header: CF-JA4\n" });
  const shown = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    JSON.parse((await command(["config", "--json", ...args], { ...bare, ...env })).stdout);
  const flags = await shown(["--ip-database", "/a.mmdb", "--ip-database", "/b.mmdb"]);
  t.same(flags["ip-database"], { value: "/a.mmdb,/b.mmdb", source: "flag", from: "--ip-database" });
  t.equal((await shown([], { VERDICTD_IP_DATABASE: "/c.mmdb" }))["ip-database"].value, "/c.mmdb");
  const file = await shown(["--config", `${folder}/config.yaml`]);
  t.equal(file["ip-database"].value, "/a.mmdb,/b.mmdb");
  t.equal(file["ja4-header"].value, "cf-ja4", "header names have no case");
  for (const [flag, value] of [
    ["--ip-database", "a,,b"],
    ["--ip-database", "a,b,c,d,e,f,g,h,i"],
    ["--ja4-header", "CF JA4"],
    ["--ja4-header", "x:y"],
  ] as const) {
    const { code, stderr } = await command(["config", flag, value], bare);
    t.equal(code, 2, value);
    t.ok(stderr.startsWith(`${flag}: expected`), stderr);
  }
});

t.test("the former name of an option still works, and is told of; the present one wins", async (t) => {
  const former = readServeConfig({ "engine-deadline-ms": "7" } as GivenFlags, {});
  t.match(former, {
    config: { storeDeadlineMs: 7 },
    notes: ["--engine-deadline-ms: the option is called store-deadline-ms now"],
  });
  t.match(readServeConfig({}, { VERDICTD_ENGINE_DEADLINE_MS: "8" }), {
    config: { storeDeadlineMs: 8 },
    notes: ["VERDICTD_ENGINE_DEADLINE_MS: the option is called store-deadline-ms now"],
  });
  t.match(readServeConfig({ "store-deadline-ms": "9" }, { VERDICTD_ENGINE_DEADLINE_MS: "8" }), {
    config: { storeDeadlineMs: 9 },
  });
  t.same(unknownVariables({ VERDICTD_ENGINE_DEADLINE_MS: "8" }), []);
  t.match(readServeConfig({}, {}), { config: { storeDeadlineMs: 50 }, notes: [] });
  t.match(readServeConfig({ "engine-deadline-ms": "many" } as GivenFlags, {}), {
    mistakes: ['--engine-deadline-ms: expected a whole number from 2 to 10000, got "many"'],
  });
  t.equal(givenOptions({ "engine-acks": "0" }, ["store-acks"]).storeAcks, 0, "commands take it too");
});
