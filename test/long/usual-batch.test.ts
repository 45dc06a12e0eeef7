/** The long form of the differential test of the one-pass reader: half a million bodies. */
import t from "tap";
import { bothWaysAgree } from "../ingest/usual-batch-properties.js";

t.test("the reader and parse with typia agree on any body", async (t) => {
  const seen = bothWaysAgree(t, 500_000);
  t.ok(seen.usual > 50_000 && seen.refused > 50_000, JSON.stringify(seen));
});
