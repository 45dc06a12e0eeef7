/** Parameters of a query: what `URLSearchParams` says, without it. */
import fc from "fast-check";
import t from "tap";
import { firstValues } from "../../src/http/query.js";
import { holds } from "../support/property.js";

const names = ["path", "method", "host", "ip", "user_agent"] as const;

function byUrlSearchParams(query: string): (string | undefined)[] {
  const read = new URLSearchParams(query);
  return names.map((name) => read.get(name) ?? undefined);
}

t.test("a query is read as URLSearchParams reads it", async (t) => {
  for (const query of [
    "",
    "?",
    "?path=/a",
    "??path=/a",
    "path=/a&path=/b",
    "path=&path=/b",
    "path",
    "path&path=/b",
    "&&=&path=/a&",
    "=path&path==a=b",
    "path=%2Fa%20b+c%2Bd&user_agent=Odd%2F1",
    "p%61th=/a&user%5Fagent=x&user+agent=y",
    "path=%",
    "path=%4",
    "path=%zz%4g%G4",
    "path=%25%32%35",
    "path=%C3%A9%c3%a9%E9%F0%9F%98%80",
    "path=%C3&host=%EF%BB%BFx%FF%FE",
    "path=%ED%A0%80%C0%AF%F5%80",
    "path=é&method=\u{1F600}+x",
    "PATH=/a&Path=/b",
    "path=/a;method=GET",
    "path=/a#b",
  ]) {
    t.same(firstValues(query, names), byUrlSearchParams(query), JSON.stringify(query));
  }
});

t.test("characters outside ASCII are themselves, also beside encoded ones", async (t) => {
  // By the standard. Node 20 takes each of them for a byte as soon as there is a `%`.
  t.same(firstValues("path=é%A9\u{1F600}%41", ["path"]), ["é\uFFFD\u{1F600}A"]);
});

t.test("any query is read as URLSearchParams reads it", async (t) => {
  const marks = fc.constantFrom(...names, "&", "=", "+", "?", "/a");
  const encoded = fc.oneof(
    marks,
    fc.constantFrom("%", "%2", "%C3%A9", "%ED%A0%80"),
    fc.string({ maxLength: 4 }),
    fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, "0")}`),
  );
  const plain = fc.oneof(
    marks,
    fc.string({ unit: "grapheme", maxLength: 4 }).map((text) => text.replaceAll("%", "")),
  );
  holds(
    t,
    fc.property(fc.oneof(fc.array(encoded, { maxLength: 24 }), fc.array(plain, { maxLength: 24 })), (pieces) => {
      const query = pieces.join("");
      const [own, expected] = [firstValues(query, names), byUrlSearchParams(query)];
      return names.every((_, index) => own[index] === expected[index]);
    }),
    { numRuns: 2000 },
  );
});
