/** Twenty backups of one server under load. */
import t from "tap";
import { backupUnderLoad } from "../resilience/backup-run.js";

t.test("twenty backups under load are each one whole state", async (t) => {
  await backupUnderLoad(t, 20, 24);
});
