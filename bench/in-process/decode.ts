/** From body bytes to a checked batch: parse alone, and parse with validation. */
import { parseJsonObject } from "../../src/contract/api/json-body.js";
import { Refusal } from "../../src/errors.js";
import { checkBatch } from "../../src/ingest/decode-batch.js";
import { readUsualBatch } from "../../src/ingest/usual-batch.js";
import { batchText } from "../load/batches.js";
import { type TimedRow, timed } from "./timed.js";

export function decodeBench(): TimedRow[] {
  return [1, 10, 100].flatMap((size) => {
    const body = Buffer.from(batchText(size, 1, false));
    const parsed = parseJsonObject(body);
    if (parsed instanceof Refusal || checkBatch(parsed) instanceof Refusal) throw new Error("a good batch was refused");
    const rounds = Math.ceil(20_000 / size);
    const what = `${size} events, ${body.length} bytes`;
    return [
      timed(`parse, ${what}`, rounds, () => parseJsonObject(body)),
      timed(`parse and check, ${what}`, rounds, () => checkBatch(parseJsonObject(body) as typeof parsed)),
      timed(`read and check in one pass, ${what}`, rounds, () => {
        if (readUsualBatch(body) === null) throw new Error("a usual batch was left to others");
      }),
    ];
  });
}
