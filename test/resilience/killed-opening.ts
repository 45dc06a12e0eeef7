/** Opens a store in a process of its own that is killed in a write transaction: `node killed-opening.js FOLDER TRANSACTION`, counted from 1. */

import { Environment } from "../../src/store/environment.js";
import { openStore } from "../../src/store/open-store.js";

const [dataDir = "", killAt = ""] = process.argv.slice(2);
const transactionSync = Environment.prototype.transactionSync;
let transactions = 0;

Environment.prototype.transactionSync = function <T>(this: Environment, work: () => T, flags?: number): T {
  // Those with flags open tables.
  if (flags !== undefined || ++transactions !== Number(killAt)) return transactionSync.call(this, work, flags) as T;
  return transactionSync.call(this, () => {
    work();
    process.kill(process.pid, "SIGKILL");
  }) as T;
};

await openStore(dataDir).close();
