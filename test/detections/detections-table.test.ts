/** The table of the documentation says what the catalogue says. */
import t from "tap";
import { detectionsTable } from "../../scripts/detections-table.js";
import { publicCatalogue } from "../../src/detections/catalogue.js";

t.test("every detection has one row of six cells, in the order of ids", async (t) => {
  const rows = detectionsTable().split("\n").slice(2);
  const ids = rows.map((row) => Number(row.split("|")[1]));
  t.same(
    ids,
    publicCatalogue().map((each) => each.id),
  );
  for (const row of rows) t.equal(row.split(/(?<!\\)\|/).length, 8, row);
  t.ok(
    publicCatalogue().every(
      ({ slug, meaning }, index) => rows[index]!.includes(`\`${slug}\``) && rows[index]!.includes(meaning),
    ),
  );
});

t.test("a bar in a meaning stays inside of its cell", async (t) => {
  const odd = { ...publicCatalogue()[0]!, meaning: "This | that." };
  t.match(detectionsTable([odd]), /This \\\| that\. \|$/);
});
