/** Visits of hands in real browsers on real window systems, as the SDK reported them: none is a program's. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t from "tap";
import type { IngestEvent } from "../../src/contract/events/events.js";
import { batchHeaders, headerFactsOf, requestFactsOf } from "../../src/contract/evidence/header-facts.js";
import { foldBatch } from "../../src/engines/fold-batch.js";
import { combine, explain, runEngines } from "../../src/engines/score.js";
import { newFeatures } from "../../src/engines/session-features.js";
import { aloneAsRecorded } from "../engines/sessions.js";

interface RecordedVisit {
  readonly why: string;
  readonly batches: readonly { readonly headers: Record<string, string>; readonly events: IngestEvent[] }[];
}

const folder = fileURLToPath(new URL("../../../test/detections/recorded-visits", import.meta.url));

for (const file of readdirSync(folder)) {
  const { why, batches } = JSON.parse(readFileSync(join(folder, file), "utf8")) as RecordedVisit;
  t.test(`${why}: nothing counts`, async (t) => {
    const features = newFeatures();
    let userAgent = "";
    for (const { headers, events } of batches) {
      const lines = headerFactsOf((position) => headers[batchHeaders[position]!.name] ?? "");
      userAgent = lines.userAgent;
      const nowMs = Date.parse(events.at(-1)!.received_at) + 20;
      foldBatch(features, events, requestFactsOf(lines, nowMs, "198.51.100.7"), aloneAsRecorded(events));
    }
    const last = { ip: "198.51.100.7", userAgent, path: "/", host: "shop.example" };
    const counted = explain(features, last).filter(({ contribution }) => contribution > 0);
    t.same(
      counted.map(({ slug }) => slug),
      [],
    );
    const { score, detectionIds } = combine(runEngines(features, last));
    t.ok(score >= 60);
    t.notOk(detectionIds.includes(100410), "its start ticket came with it");
  });
}
