/** What `npm run test:cluster` leaves out: no more than is named, and nothing that is gone or would not run anyway. */
import t from "tap";
import { clusterTests, isNamed, leftOut, testsWithStore } from "../../scripts/cluster-tests.js";

t.test("each name that is left out means tests that would run on a cluster otherwise", async (t) => {
  const all = testsWithStore();
  for (const [name, reason] of Object.entries(leftOut)) {
    t.ok(
      all.some((test) => isNamed(test, name)),
      name,
    );
    t.match(reason, /\w/, `${name} has a reason`);
    const others = Object.keys(leftOut).filter((other) => other !== name);
    t.notOk(
      others.some((other) => isNamed(name, other)),
      `${name} is named once`,
    );
  }
});

t.test("the tests of the API run on both", async (t) => {
  const tests = clusterTests();
  for (const folder of ["auth", "challenge", "http", "ingest", "middleware", "openapi", "requests"]) {
    t.ok(
      tests.some((test) => test.startsWith(`${folder}/`)),
      folder,
    );
  }
  t.same(
    testsWithStore().filter((test) => test.startsWith("http/") && !tests.includes(test)),
    [],
  );
});
