/** Retries on a store whose sessions are in one environment; `test/ingest/retries.test.ts` has three. */
import t from "tap";
import { retries } from "../ingest/retry-claims.js";

t.test("retries, sessions in 1 environment", (t) => retries(t, 1));
