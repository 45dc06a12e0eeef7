/** Runs every entry of the catalogue: its two examples, its identity, its place in the public list. */
import t from "tap";
import { detections, publicCatalogue } from "../../src/detections/catalogue.js";
import { requestEvidenceOf } from "../../src/engines/request-evidence.js";
import { firedDetections } from "../../src/engines/score.js";
import { scoreRequest } from "../../src/engines/score-request.js";
import { evidenceOf } from "../../src/engines/session-evidence.js";
import { newFeatures } from "../../src/engines/session-features.js";
import { noFindings, requestOf } from "../requests/judged.js";

const engineDigits = { heuristics: ["1", "4"], js_detection: ["2"], behavioral: ["3"] };
const nothingSeen = evidenceOf(newFeatures(), { ip: "", userAgent: "", path: "", host: "" });
const nothingSent = requestEvidenceOf(requestOf([]), noFindings);
const namesOf = { session: Object.keys(nothingSeen), request: Object.keys(nothingSent) };

for (const each of detections) {
  t.test(
    `${each.id} ${each.slug} fires on its example, is quiet on the other and skipped without evidence`,
    async (t) => {
      const run = (evidence: object) => firedDetections(evidence, [each]).length;
      const expected = each.state === "retired" ? 0 : 1;
      t.equal(run(each.fires), expected, "fires");
      t.equal(run(each.staysQuiet), 0, "stays quiet");
      t.same(Object.keys(each.fires).sort(), [...each.reads].sort(), "the example gives what is read");
      t.same(Object.keys(each.staysQuiet).sort(), [...each.reads].sort(), "the quiet example gives what is read");
      for (const name of each.reads) t.equal(run({ ...each.fires, [name]: undefined }), 0, `skipped without ${name}`);
      for (const subject of each.subjects) {
        for (const name of each.reads) t.ok(namesOf[subject].includes(name), `a ${subject} has ${name}`);
      }
      t.ok(engineDigits[each.engine].includes(`${each.id}`[0]!), "the id's first digit is its engine's");
      t.match(`${each.id}`, /^\d{6}$/);
      t.match(each.slug, /^[a-z0-9]+(-[a-z0-9]+)*$/);
      t.match(each.meaning, /^[A-Z].*\.$/, "the meaning is a sentence");
      t.ok(each.source.length > 10, "the source is named");
    },
  );
}

t.test("all evidence is read: what nothing reads is not made", async (t) => {
  const read = new Set<string>(detections.flatMap(({ reads }) => reads));
  // Groups of detections are weighed by these.
  read.add("strippedHeaders").add("renamedBrowser");
  const unread = [...namesOf.session, ...namesOf.request].filter((name) => !read.has(name));
  t.same(unread, []);
});

t.test("ids and slugs are unique", async (t) => {
  t.equal(new Set(detections.map((each) => each.id)).size, detections.length);
  t.equal(new Set(detections.map((each) => each.slug)).size, detections.length);
});

t.test("a session of which nothing is known fires nothing", async (t) => {
  t.same(
    firedDetections(nothingSeen).map((each) => each.slug),
    [],
  );
});

t.test("a request says nothing of what only sessions have, and the reverse", async (t) => {
  const only = (subject: "session" | "request") => detections.filter(({ subjects }) => `${subjects}` === subject);
  t.ok(only("session").length > 50);
  t.ok(only("request").length > 15);
  for (const { slug, engine, subjects } of detections) {
    if (subjects.includes("request")) t.equal(engine, "heuristics", `${slug}: the other engines abstain`);
  }
  const evidence = Object.assign({}, ...only("request").map(({ fires }) => fires));
  t.same(firedDetections(evidence), firedDetections({ ...evidence, method: undefined, headerOrder: undefined }));
  t.equal(firedDetections(evidence).filter(({ subjects }) => !subjects.includes("session")).length, 0);
});

t.test("a request of which nothing is known has but no user agent", async (t) => {
  const { score, detectionIds } = scoreRequest(requestOf([]), noFindings);
  t.same([score, detectionIds], [12, [100104]]);
});

t.test("the public catalogue lists every detection once, by id, without its predicate", async (t) => {
  const rows = publicCatalogue();
  t.equal(rows.length, detections.length);
  t.same(
    rows.map((each) => each.id),
    detections.map((each) => each.id).sort((one, other) => one - other),
  );
  for (const row of rows) t.same(Object.keys(row), ["id", "slug", "engine", "severity", "state", "meaning"]);
});
