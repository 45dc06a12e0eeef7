/** Runs the same reads with `wrk`, the well-known generator, where it is installed: does the bench's own give the same ratios? */
import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createTraffic } from "./traffic.js";
import type { TrafficSpec } from "./traffic-spec.js";

/** Different requests that it sends, one after another. */
const requestsMade = 4096;
/** Between two requests of the file: stands in none. */
const separator = "\n--next--\n";

/** Where `wrk` is, or null. */
export function wrkProgram(): string | null {
  const folders = (process.env["PATH"] ?? "").split(":");
  return folders.map((folder) => join(folder, "wrk")).find((file) => existsSync(file)) ?? null;
}

/** Sends a traffic's requests from so many connections for whole seconds; returns how many a second were answered with 200. */
export async function runWrk(
  program: string,
  folder: string,
  url: string,
  traffic: TrafficSpec,
  connections: number,
  seconds: number,
): Promise<number> {
  const { next } = createTraffic(traffic, new URL(url).host).connection();
  const requests = Array.from({ length: requestsMade }, () => next().toString("latin1"));
  const [requestsFile, scriptFile] = [join(folder, "wrk-requests"), join(folder, "wrk.lua")];
  writeFileSync(requestsFile, requests.join(separator) + separator, "latin1");
  writeFileSync(scriptFile, script(requestsFile));
  const words = ["-t", "1", "-c", String(connections), "-d", `${seconds}s`, "-s", scriptFile, url];
  const { stdout } = await promisify(execFile)(program, words);
  const failed = /(?:Non-2xx or 3xx responses|Socket errors): (.*)/.exec(stdout);
  if (failed !== null) throw new Error(`wrk: ${failed[0]}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
}

function script(file: string): string {
  return `
local requests, at = {}, 0
init = function()
  local opened = io.open(${JSON.stringify(file)}, "rb")
  local text = opened:read("*a")
  opened:close()
  local from = 1
  while true do
    local first, last = string.find(text, ${JSON.stringify(separator)}, from, true)
    if not first then break end
    requests[#requests + 1] = string.sub(text, from, first - 1)
    from = last + 1
  end
end
request = function()
  at = at % #requests + 1
  return requests[at]
end
`;
}
