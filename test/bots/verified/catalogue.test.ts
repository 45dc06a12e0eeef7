/** A catalogue is taken whole or refused whole; the shipped one passes the same check. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import t from "tap";
import { isCatalogueFault } from "../../../src/bots/catalogue-file.js";
import { mergeCatalogues, scriptRunnersOf, shippedCatalogue } from "../../../src/bots/verified/catalogue.js";
import { checkCatalogue } from "../../../src/bots/verified/catalogue-check.js";
import { shippedClaimTokens } from "../../../src/bots/verified/claims.js";
import { limits } from "../../../src/limits.js";
import { holds } from "../../support/property.js";

const google = { name: "Google", category: "search", match_method: "ip_cidr", match_value: "66.249.64.0/27" };
const bing = { name: "Bing", category: "search", match_method: "rdns_suffix", match_value: ".search.msn.com" };

function catalogue(value: unknown) {
  const result = checkCatalogue(value);
  if (isCatalogueFault(result)) throw new Error(result.message);
  return result;
}

function fault(value: unknown) {
  const result = checkCatalogue(value);
  return isCatalogueFault(result) ? result : { at: "none", message: "none" };
}

function faultOf(change: object) {
  return fault({ version: "1", entries: [google, bing, { ...google, ...change }] });
}

t.test("the shipped catalogue passes the check unchanged", async (t) => {
  const file = JSON.parse(
    readFileSync(new URL("../../../../src/bots/verified/catalogue.json", import.meta.url), "utf8"),
  );
  t.strictSame(catalogue(file), file, "every entry is canonical already, and none is a repeat");
  t.strictSame(shippedCatalogue(), file, "the compiled program ships the same file");
  t.equal(file.entries.length, 2822);
  t.equal(new Set(file.entries.map((entry: { name: string }) => entry.name)).size, 39);
});

t.test("every verifiable claim names an operator of the shipped catalogue", async (t) => {
  const operators = new Set(shippedCatalogue().entries.map((entry) => entry.name));
  const tokens = shippedClaimTokens();
  for (const token of tokens.filter((each) => each.isVerifiable)) t.ok(operators.has(token.operator), token.token);
  t.equal(new Set(tokens.map((each) => each.token.toLowerCase())).size, tokens.length, "no token is listed twice");
});

t.test("a bad field of any entry refuses the file and names the place", async (t) => {
  t.same(faultOf({ category: "spam" }).at, "entries[2].category");
  t.match(faultOf({ category: "spam" }).message, "must be one of search, ai_crawler, ai_search, monitoring, seo");
  t.same(faultOf({ match_method: "asn" }).at, "entries[2].match_method");
  for (const name of [undefined, "", " ", "Google ", 7, "two\nlines", "x".repeat(256)]) {
    t.same(faultOf({ name }).at, "entries[2].name", JSON.stringify(name));
  }
  for (const value of [
    "66.249.64.0",
    "66.249.64.1/27",
    "66.249.64.0/33",
    "0.0.0.0/0",
    "64.0.0.0/7",
    "::/0",
    "",
    5,
    null,
  ]) {
    t.same(faultOf({ match_value: value }).at, "entries[2].match_value", JSON.stringify(value));
  }
  for (const value of ["0.0.0.0/0", "::/0", "64.0.0.0/11", "2a00::/27"]) {
    t.match(faultOf({ match_value: value }), { at: "entries[2].match_value", message: "is too wide" });
  }
  for (const value of [
    "10.1.2.0/24",
    "127.0.0.1/32",
    "169.254.169.254/32",
    "100.64.0.0/12",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "224.0.0.0/24",
    "255.255.255.255/32",
    "::1/128",
    "::ffff:10.0.0.0/112",
    "fe80::/64",

    "2002::/28",
    "ff02::/32",
  ]) {
    t.match(faultOf({ match_value: value }), {
      at: "entries[2].match_value",
      message: "no range of the public internet",
    });
  }
  for (const value of ["co.uk", ".co.uk", ".com.au", ".github.io", ".compute.amazonaws.com", ".Co.Uk."]) {
    const refused = faultOf({ match_method: "rdns_suffix", match_value: value });
    t.match(refused, { at: "entries[2].match_value", message: "is a public suffix" }, value);
  }
  t.match(faultOf({ match_value: "66.249.64.1/27" }).message, '"66.249.64.1/27" has host bits set');
  t.match(faultOf({ match_value: "0.0.0.0/0" }).message, "is too wide");
  const suffixes = [
    ".com",
    "com",
    "",
    ".",
    "..com",
    "a..b",
    ".google bot.com",
    "*.google.com",
    "-a.com",
    "66.249.64.1",
    "é.fr",
  ];
  for (const value of [...suffixes, `${"a.".repeat(130)}com`]) {
    t.same(faultOf({ match_method: "rdns_suffix", match_value: value }).at, "entries[2].match_value", value);
  }
  t.ok(faultOf({ match_value: "9".repeat(5000) }).message.length < 300, "a long value is cut in the message");
});

t.test("ranges that are narrow enough each are refused when together they cover too much", async (t) => {
  const wide = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...google,
      match_value: `${first + Math.floor(index / 16)}.${16 * (index % 16)}.0.0/12`,
    }));
  t.equal(fault({ version: "1", entries: wide(20, 16) }).at, "none", "as much as a /8 has");
  t.same(fault({ version: "1", entries: wide(20, 17) }).at, "entries");
  t.equal(
    fault({ version: "1", entries: [...wide(20, 16), ...wide(20, 16), google] }).at,
    "entries",
    "and one range more",
  );
  t.equal(
    fault({ version: "1", entries: [...wide(20, 16), { ...google, match_value: "20.1.2.0/24" }] }).at,
    "none",
    "what lies inside another counts once",
  );
  const v6 = Array.from({ length: 17 }, (_, index) => ({ ...google, match_value: `2a0${index.toString(32)}::/28` }));
  t.same(
    fault({
      version: "1",
      entries: v6
        .slice(0, 16)
        .map((entry, index) => ({ ...entry, match_value: `2a00:${(16 * index).toString(16)}::/28` })),
    }).at,
    "none",
  );
  t.same(
    fault({
      version: "1",
      entries: v6.map((entry, index) => ({ ...entry, match_value: `2a00:${(16 * index).toString(16)}::/28` })),
    }).at,
    "entries",
  );
  const half = (first: number) => catalogue({ version: "1", entries: wide(first, 16) });
  t.ok(isCatalogueFault(mergeCatalogues(half(20), half(30))), "nor by adding one file to another");
});

t.test(
  "operators whose addresses run scripts are those of the file, or else those that verdictd knows of",
  async (t) => {
    const listed = { version: "1", entries: [google] };
    t.ok(scriptRunnersOf(shippedCatalogue()).has("Checkly"));
    const known = new Set(shippedCatalogue().entries.map(({ name }) => name));
    for (const name of scriptRunnersOf(shippedCatalogue())) t.ok(known.has(name), `${name} is in the catalogue`);
    t.same([...scriptRunnersOf(catalogue({ ...listed, script_runners: [] }))], []);
    t.same([...scriptRunnersOf(catalogue({ ...listed, script_runners: ["A", "A"] }))], ["A"]);
    for (const value of ["Checkly", [1], [""], { 0: "a" }]) {
      t.match(fault({ ...listed, script_runners: value }).at, /^script_runners/);
    }
    const merged = mergeCatalogues(catalogue({ ...listed, script_runners: [] }), catalogue(listed));
    t.same(isCatalogueFault(merged) ? null : [...scriptRunnersOf(merged)], [], "a merge keeps what was decided");
  },
);

t.test("a file of another form is refused", async (t) => {
  for (const value of [null, [], "x", 1, undefined]) t.same(fault(value).at, "catalogue");
  t.same(fault({ entries: [] }).at, "version");
  t.same(fault({ version: 2, entries: [] }).at, "version");
  t.same(fault({ version: "v".repeat(65), entries: [] }).at, "version");
  t.same(fault({ version: "1" }).at, "entries");
  t.same(fault({ version: "1", entries: { 0: google } }).at, "entries");
  for (const entry of [null, [], "x"]) t.same(fault({ version: "1", entries: [google, entry] }).at, "entries[1]");
  const many = Array.from({ length: limits.verifiedBotEntriesMax + 1 }, () => google);
  t.same(fault({ version: "1", entries: many }).at, "entries");
});

t.test("values become canonical, unknown keys go, repeats collapse", async (t) => {
  const result = catalogue({
    version: "1",
    entries: [
      { ...google, note: "ignored" },
      google,
      { ...google, category: "seo" },
      { ...google, match_value: "2001:4860:4801:0010::/64" },
      { ...bing, match_value: ".Search.MSN.com." },
    ],
  });
  t.strictSame(result.entries, [
    google,
    { ...google, category: "seo" },
    { ...google, match_value: "2001:4860:4801:10::/64" },
    bing,
  ]);
  t.strictSame(catalogue({ version: "0", entries: [] }), { version: "0", entries: [] }, "an empty list is fine");
});

t.test("checking twice changes nothing, and no input throws", async (t) => {
  holds(
    t,
    fc.property(
      fc.record({
        version: fc.oneof(fc.string({ maxLength: 70 }), fc.anything()),
        entries: fc.array(
          fc.oneof(
            fc.constantFrom(google, bing),
            fc.record({
              name: fc.string(),
              category: fc.constantFrom("search", "seo", "x"),
              match_method: fc.constantFrom("ip_cidr", "rdns_suffix"),
              match_value: fc.oneof(
                fc.ipV4().map((ip) => `${ip}/32`),
                fc.domain(),
                fc.string(),
              ),
            }),
            fc.anything(),
          ),
          { maxLength: 4 },
        ),
      }),
      (value) => {
        const first = checkCatalogue(value);
        if (isCatalogueFault(first)) assert.ok(first.message.startsWith(first.at));
        else assert.deepEqual(checkCatalogue(first), first);
      },
    ),
  );
});

t.test("a merge keeps what is there, adds what is new, and takes the new version", async (t) => {
  const current = catalogue({ version: "1", entries: [google, bing] });
  const merged = mergeCatalogues(current, catalogue({ version: "2", entries: [bing, { ...bing, name: "MSN" }] }));
  t.strictSame(merged, { version: "2", entries: [google, bing, { ...bing, name: "MSN" }] });
  const half = Array.from({ length: limits.verifiedBotEntriesMax }, (_, index) => ({ ...bing, name: `bot ${index}` }));
  const over = mergeCatalogues(current, catalogue({ version: "3", entries: half }));
  t.ok(isCatalogueFault(over), "too many together are refused");
});
