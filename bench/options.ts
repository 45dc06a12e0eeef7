/** Flags of `npm run bench`. */
import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Run only scenarios and in-process benches whose names start with this; "" for those that are asked for otherwise. */
  readonly only: string;
  /** Whether all scenarios are run, not only those that figures to reach are measured in. */
  readonly full: boolean;
  /** Interleaved runs of each server in a scenario. */
  readonly pairs: number;
  readonly durationMs: number;
  /** Sessions the fill-up stores before the rest is measured. */
  readonly sessions: number;
  /** Keep-alive connections that read verdicts: those of backends. */
  readonly connections: number;
  /** Keep-alive connections that send batches: each visitor has one. */
  readonly visitors: number;
  readonly pipelining: number;
  /** A running deployment to measure instead of a server of our own, or null. */
  readonly remote: { readonly url: string; readonly siteKey: string; readonly privateKey: string } | null;
  /** Where results are written; null: they are printed only. */
  readonly outDir: string | null;
  /** Whether a deployment is measured without asking first. */
  readonly yes: boolean;
}

export const usage = `npm run bench -- [options]
  (none)              what has a figure to reach, with 200000 sessions: ten minutes on two free cores
  --full              all scenarios, with 1 million sessions: twenty-two minutes
  --sessions N        fill up to N sessions (10000000 takes most of an hour and 12 GB); default 200000
  --only NAME         only scenarios and in-process benches whose names start with NAME, such as fill, visitors, verdict, request,
                      forward-auth, ingest, mixed, limits, cluster, sdk, challenge
  --pairs N           interleaved runs of each server; default 10
  --seconds S         length of a run; default 0.75
  --connections N     keep-alive connections that read verdicts; default 64
  --visitors N        keep-alive connections that send batches; default 256
  --pipelining N      verdict reads of a connection in flight; default 1
  --url URL           a running deployment, with --site-key KEY and --private-key KEY
  --yes               measure that deployment without asking first
  --out DIR           where results go; default bench/results for a whole run; one with --only or --url is printed only`;

type NumberFlag = "sessions" | "pairs" | "seconds" | "connections" | "visitors" | "pipelining";

/** Throws a readable error for what can't be. */
export function readOptions(words: readonly string[]): BenchOptions {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...words],
    options: {
      only: text,
      full: { type: "boolean" },
      sessions: text,
      pairs: text,
      seconds: text,
      connections: text,
      visitors: text,
      pipelining: text,
      url: text,
      "site-key": text,
      "private-key": text,
      out: text,
      yes: { type: "boolean" },
    },
  });
  const full = values.full === true;
  const number = (name: NumberFlag, fallback: number): number => {
    const value = values[name] === undefined ? fallback : Number(values[name]);
    if (!(value > 0)) throw new Error(`--${name}: expected a positive number, got "${values[name]}"`);
    return value;
  };
  const { url, only = "", "site-key": siteKey, "private-key": privateKey } = values;
  if (url !== undefined && (siteKey === undefined || privateKey === undefined)) {
    throw new Error("--url needs --site-key and --private-key");
  }
  const isWhole = only === "" && url === undefined;
  return {
    only,
    full,
    pairs: number("pairs", 10),
    durationMs: number("seconds", 0.75) * 1000,
    sessions: number("sessions", full ? 1_000_000 : 200_000),
    connections: number("connections", 64),
    visitors: number("visitors", 256),
    pipelining: number("pipelining", 1),
    remote: url === undefined ? null : { url: url.replace(/\/$/, ""), siteKey: siteKey!, privateKey: privateKey! },
    yes: values.yes === true,
    outDir: values.out ?? (isWhole ? "bench/results" : null),
  };
}
