/** The operator's lists of addresses: imported and removed by the command line, seen by a running server at once. */
import { join } from "node:path";
import t from "tap";
import { roles } from "../../src/contract/configuration/entities.js";
import { Accounts } from "../../src/control-plane/accounts/accounts.js";
import { IpLists } from "../../src/control-plane/lists/ip-lists.js";
import { limits } from "../../src/limits.js";
import { command } from "../support/process.js";
import { firstTenant, newToken, startServer } from "../support/server.js";

t.test("lists of addresses", async (t) => {
  const many = Array.from(
    { length: limits.ipListEntriesMax + 1 },
    (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
  );
  const dir = t.testdir({
    "tor.txt":
      "\uFEFF# exits\r\n192.0.2.7\r\n  198.51.100.0/24   # a network\n\n2001:db8::/32\n::ffff:203.0.113.9\n192.0.2.7\n",
    "as.txt": "AS13335\nas15169 # Google\n",
    "numbers.txt": "13335\n",
    "bits.txt": "192.0.2.0/24\n\n192.0.2.5/24\n",
    "word.txt": "# one\nexample.com\n",
    "range.txt": "AS0\n",
    "empty.txt": "# nothing\n",
    "many.txt": many.join("\n"),
  });
  const store = join(dir, "store");
  const server = await startServer(t, [], store);
  const tenant = await firstTenant(server);
  const read = async () => (await server.ask("GET", "/v1/ip-lists", { token: tenant.token })).json;
  const lists = new IpLists(server.store, (address) => (address === "1.1.1.1" ? 13335 : undefined));

  await t.test("none is shipped", async (t) => {
    t.same(await read(), { data: [], meta: { count: 0 } });
    t.same(lists.namesOf("192.0.2.7"), []);
  });

  await t.test("an import is listed, and asked about, from the next request on", async (t) => {
    const made = await server.command("ip-list", "import", "tor", join(dir, "tor.txt"));
    t.match(made, { name: "tor", count: 4, imported_at: /^\d{4}-.*Z$/ });
    t.same(await server.command("ip-list", "import", "cdn", join(dir, "as.txt")), {
      name: "cdn",
      count: 2,
      imported_at: (await read()).data[0].imported_at,
    });
    const { data, meta } = await read();
    t.same(
      data.map(({ name, count }: { name: string; count: number }) => [name, count]),
      [
        ["cdn", 2],
        ["tor", 4],
      ],
    );
    t.same(meta, { count: 2 });
    t.same((await server.command("ip-list", "list")).data, data);
    const on: Record<string, readonly string[]> = {
      "192.0.2.7": ["tor"],
      "::ffff:192.0.2.7": ["tor"],
      "192.0.2.8": [],
      "198.51.99.255": [],
      "198.51.100.0": ["tor"],
      "198.51.100.255": ["tor"],
      "198.51.101.0": [],
      "2001:db8::": ["tor"],
      "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff": ["tor"],
      "2001:db9::": [],
      "203.0.113.9": ["tor"],
      "1.1.1.1": ["cdn"],
      "no address": [],
      "": [],
    };
    for (const [address, names] of Object.entries(on)) t.same(lists.namesOf(address), names, address);
  });

  await t.test("a bad line refuses the file, says its number and changes nothing", async (t) => {
    const before = await read();
    const bad: readonly (readonly [name: string, file: string, expected: RegExp])[] = [
      ["tor", "bits.txt", /bits\.txt:3: "192\.0\.2\.5\/24" has host bits set: the range is 192\.0\.2\.0\/24/],
      ["tor", "word.txt", /word\.txt:2: "example\.com" is not an address/],
      ["tor", "numbers.txt", /numbers\.txt:1: "13335" is not an address/],
      ["tor", "range.txt", /range\.txt:1: "AS0" is not an AS number/],
      ["tor", "empty.txt", /empty\.txt: holds no address/],
      ["tor", "many.txt", new RegExp(`many\\.txt:${many.length}: is beyond the ${limits.ipListEntriesMax} entries`)],
      ["tor", "missing.txt", /can't read .*ENOENT/],
      ["a b", "tor.txt", /the name of a list has/],
      ["-x", "tor.txt", /./],
      ["x".repeat(limits.ipListNameMax + 1), "tor.txt", /the name of a list has/],
    ];
    for (const [name, file, expected] of bad) {
      const { code, stderr } = await command(["ip-list", "import", name, join(dir, file), ...server.where]);
      t.ok(code === 1 || code === 2, file);
      t.match(stderr, expected);
      t.equal(stderr.trim().split("\n").length, 1, "one line");
    }
    t.same(await read(), before);
  });

  await t.test("--as takes bare numbers as autonomous systems, and an import replaces the list", async (t) => {
    t.match(await server.command("ip-list", "import", "cdn", join(dir, "numbers.txt"), "--as"), {
      name: "cdn",
      count: 1,
    });
    t.same((await read()).meta, { count: 2 });
    t.same(lists.namesOf("1.1.1.1"), ["cdn"]);
  });

  await t.test("any role may read it with projects:read, no token without", async (t) => {
    const accounts = new Accounts(server.store, Date.now);
    for (const role of roles) {
      await accounts.setMember(tenant.accountId, tenant.userId, role);
      for (const ability of ["*", "projects:read", "projects:write", "content:read"]) {
        const token = await newToken(server, tenant.accountId, tenant.userId, [ability]);
        const { status, json } = await server.ask("GET", "/v1/ip-lists", { token });
        if (ability === "*" || ability === "projects:read") t.equal(status, 200, `${role}, ${ability}`);
        else t.same([status, json.code], [403, "INSUFFICIENT_TOKEN_ABILITY"], `${role}, ${ability}`);
      }
    }
    t.equal((await server.ask("GET", "/v1/ip-lists", {})).status, 401);
    t.equal((await server.ask("GET", "/v1/ip-lists", { token: tenant.privateKey })).status, 401);
  });

  await t.test("what is removed is gone at once; there is nothing to remove twice", async (t) => {
    await server.command("ip-list", "remove", "tor");
    t.same(
      (await read()).data.map(({ name }: { name: string }) => name),
      ["cdn"],
    );
    t.same(lists.namesOf("192.0.2.7"), []);
    const { code, stderr } = await command(["ip-list", "remove", "tor", ...server.where]);
    t.equal(code, 1);
    t.match(stderr, /there is no list "tor"/);
    t.match(await server.command("check"), { ok: true });
  });
});
