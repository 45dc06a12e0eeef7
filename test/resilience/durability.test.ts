/** What a power cut leaves: with `--durability power-loss` all that was acknowledged, by default a whole store with all that was flushed. */

import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import t from "tap";
import { checkStore } from "../../src/control-plane/upkeep/store-check.js";
import { openStore } from "../../src/store/open-store.js";
import { batch } from "../support/batches.js";
import { openIngest } from "./ingest.js";
import { copyStoreFile, cutEverywhere, record, seenUnflushed } from "./power-cut.js";

const skip = spawnSync("strace", ["-V"]).status === 0 ? false : "needs strace";
const seed = Date.now() % 1_000_000;

t.test("with power-loss durability a cut at any moment loses nothing that was acknowledged", { skip }, async (t) => {
  // Timelines promise nothing, and their commits wait for nothing.
  const flags = ["--durability", "power-loss", "--scoring-threads", "1", "--timeline-sessions", "0"];
  const recording = await record(t, flags, 8, 1);
  t.equal(recording.answers.length, 8, "every answer was seen");
  t.ok(recording.writes.length >= 16 && recording.flushes.length >= 8, "and every commit");
  t.equal(seenUnflushed(recording), 0, "no commit is seen before its flush");
  const { lostMost } = await cutEverywhere(t, recording, 10, seed);
  t.equal(lostMost, 0);
});

t.test("by default a cut leaves the store whole, with all that was flushed", { skip }, async (t) => {
  const recording = await record(t, ["--scoring-threads", "1"], 24, 4);
  t.equal(recording.answers.length, 24, "every answer was seen");
  t.ok(seenUnflushed(recording) > 0, "which tells the modes apart: a commit is seen before its flush");
  await cutEverywhere(t, recording, 10, seed);
});

t.test("the file as it is after any commit opens, is sound and holds exactly what was committed by then", async (t) => {
  const { store, take } = await openIngest(t);
  const { path } = store.root;
  const copies = join(dirname(path), "copies");
  for (let commit = 1; commit <= 25; commit++) {
    take({ body: batch(`commit${String(commit).padStart(2, "0")}`, 7), nowMs: 1_790_000_000_000 + commit });
    copyStoreFile(path, join(copies, String(commit)));
  }
  for (let commit = 1; commit <= 25; commit++) {
    const copy = openStore(join(copies, String(commit)));
    t.equal(copy.sessions.getKeysCount({}), commit);
    t.equal(checkStore(copy).faultCount, 0);
    await copy.close();
  }
});
