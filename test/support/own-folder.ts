/** A folder that is gone at the end of the test. Not the test's own, which is emptied whenever the test asks for it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";

/** Makes an empty folder; its path. */
export function ownFolder(t: Pick<Test, "teardown">): string {
  const folder = mkdtempSync(join(tmpdir(), "verdictd-test-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
