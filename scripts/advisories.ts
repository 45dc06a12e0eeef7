/**
 * Asks the registry for known advisories against the locked packages that are shipped (`npm audit`). Exit code 0: none; 1: some; 3: the
 * registry offers none, so nothing is known. Sends package names and versions to the registry, so it is no part of the tests.
 */
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";

interface Conclusion {
  readonly exitCode: 0 | 1 | 3;
  readonly lines: readonly string[];
}

interface Report {
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity?: string; readonly range?: string; readonly fixAvailable?: unknown }>
  >;
  readonly message?: string;
}

/** What `npm audit --json` says, in lines for people. Anything but a report is "not known", never "none". */
export function concludeFrom(output: string): Conclusion {
  let report: Report;
  try {
    report = JSON.parse(output) as Report;
  } catch {
    return { exitCode: 3, lines: ["npm audit gave no report: nothing is known"] };
  }
  const { vulnerabilities, message } = report;
  if (vulnerabilities === undefined)
    return { exitCode: 3, lines: [`the registry offers no advisories: ${message ?? "no reason given"}`] };
  const found = Object.entries(vulnerabilities);
  if (found.length === 0) return { exitCode: 0, lines: ["no known advisory against a package that is shipped"] };
  return {
    exitCode: 1,
    lines: found.map(([name, { severity = "unknown", range = "", fixAvailable }]) =>
      `${severity}: ${name} ${range}${fixAvailable ? " (a fix is available)" : ""}`.trim(),
    ),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { stdout } = spawnSync("npm", ["audit", "--omit=dev", "--json"], { encoding: "utf8" });
  const { exitCode, lines } = concludeFrom(stdout);
  for (const line of lines) console.log(line);
  process.exitCode = exitCode;
}
