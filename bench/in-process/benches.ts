/** The in-process benches by name: stages of the two hot paths without HTTP around them. Each returns microseconds. */
import { countingBench } from "./counting.js";
import { decodeBench } from "./decode.js";
import { enginesBench } from "./engines.js";
import { foldBench } from "./fold.js";
import { headersBench } from "./headers.js";
import { recordedBench } from "./recorded.js";
import { requestsBench } from "./requests.js";
import { rulesBench } from "./rules.js";
import { storeBench } from "./store.js";
import type { TimedRow } from "./timed.js";

export const inProcessBenches: Readonly<Record<string, () => TimedRow[] | Promise<TimedRow[]>>> = {
  headers: headersBench,
  decode: decodeBench,
  recorded: recordedBench,
  fold: foldBench,
  engines: enginesBench,
  rules: rulesBench,
  requests: requestsBench,
  counting: countingBench,
  store: storeBench,
};
