/** The list of what the store's user must be allowed has every command that the sources name, and is what the documentation says. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import { rowCommands, storeAclRules } from "../../src/cluster-store/permissions.js";

const folder = resolve(fileURLToPath(import.meta.url), "../../../../src/cluster-store");

/** Words that are arguments of commands, and codes of errors, of sockets too. */
const otherWords = [
  "BLOCK",
  "BYLEX",
  "COUNT",
  "LIMIT",
  "MATCH",
  "MAXLEN",
  "REV",
  "STREAMS",
  "NOAUTH",
  "WRONGTYPE",
  "ECONNREFUSED",
  "ECONNRESET",
];

t.test("every command of src/cluster-store is in the list", async (t) => {
  const ofConnections = storeAclRules.map((rule) => rule.slice(1).toUpperCase());
  const known = new Set([...rowCommands.map(([name]) => name), ...ofConnections]);
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  )) {
    for (const [, name = ""] of readFileSync(join(folder, file), "utf8").matchAll(/["']([A-Z]{3,})["']/g)) {
      if (!otherWords.includes(name)) t.ok(known.has(name), `${file}: ${name} is in permissions.ts`);
    }
  }
  t.equal(storeAclRules[0], "~vd{*");
});

t.test("every permission of the list is of a command that the sources name", async (t) => {
  const named = new Set<string>();
  for (const each of [folder, resolve(folder, "../cluster")]) {
    // The list itself names them all.
    for (const file of readdirSync(each, { recursive: true, encoding: "utf8" }).filter(
      (name) => name.endsWith(".ts") && name !== "permissions.ts",
    )) {
      for (const [, word = ""] of readFileSync(join(each, file), "utf8").matchAll(/["']([A-Z_]{3,})["']/g))
        named.add(word);
    }
  }
  for (const rule of storeAclRules.slice(1)) {
    for (const word of rule.slice(1).toUpperCase().split("|")) t.ok(named.has(word), rule);
  }
});

t.test("the documentation has the rules as they are", async (t) => {
  const text = readFileSync(resolve(folder, "../docs/operations.md"), "utf8");
  t.ok(text.includes(`\nuser verdictd on >PASSWORD ${storeAclRules.join(" ")}\n`));
});
