/** The alerts for Prometheus, evaluated by Prometheus' own `promtool`: each critical one fires, in its time, and what is over soon wakes nobody. */
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";

const rulesFile = fileURLToPath(new URL("../../../scripts/deploy/alerts.yaml", import.meta.url));
const rules = readFileSync(rulesFile, "utf8");

/** What a fault does to series. It begins after ten minutes; values are in promtool's notation, one in 15 s. */
interface Fault {
  readonly alert: string;
  /** How long it lasts before the alert fires, min. */
  readonly firesAfter: number;
  /** Its values before and after it begins. */
  readonly series: Readonly<Record<string, readonly [calm: string, broken: string]>>;
}

const calmSteps = 39;
const counter = (name: string): Fault["series"] => ({ [name]: [`0x${calmSteps}`, "5+5x90"] });

const faults: readonly Fault[] = [
  { alert: "VerdictdDown", firesAfter: 2, series: { 'up{job="verdictd"}': [`1x${calmSteps}`, "0x360"] } },
  { alert: "VerdictdNotReady", firesAfter: 5, series: { verdictd_ready: [`1x${calmSteps}`, "0x360"] } },
  {
    alert: "VerdictdFailing",
    firesAfter: 5,
    series: counter('verdictd_http_requests_total{status="503",route="/v1/events"}'),
  },
  { alert: "VerdictsFailOpen", firesAfter: 3, series: counter('verdictd_verdict_failures_total{cause="cluster"}') },
  { alert: "BatchesFail", firesAfter: 3, series: counter('verdictd_ingest_failures_total{cause="cluster"}') },
  { alert: "BatchesShed", firesAfter: 5, series: counter('verdictd_ingest_batches_total{result="shed"}') },
  {
    alert: "DiskAlmostFull",
    firesAfter: 15,
    series: {
      verdictd_store_disk_free_bytes: [`100000000000x${calmSteps}`, "500000000x360"],
      verdictd_store_bytes: [`1000000000x${calmSteps}`, "1000000000x360"],
    },
  },
  {
    // A week is left at ten minutes.
    alert: "CertificateExpires",
    firesAfter: 60,
    series: { verdictd_tls_certificate_expiry_timestamp_seconds: [`605400x${calmSteps}`, "605400x360"] },
  },
  { alert: "ClusterWritesFail", firesAfter: 3, series: counter("verdictd_cluster_failures_total") },
  {
    alert: "ClusterConfigurationOld",
    firesAfter: 1,
    series: { verdictd_cluster_config_age_seconds: [`1x${calmSteps}`, "20+15x360"] },
  },
  {
    alert: "ClusterShardRefuses",
    firesAfter: 1,
    series: { 'verdictd_cluster_shards_short_of_replicas{batches="refused"}': [`0x${calmSteps}`, "1x360"] },
  },
];

/** A case for promtool: the series, and which alerts fire at which minute. */
function caseOf(series: readonly (readonly [string, string])[], firing: readonly (readonly [number, string[]])[]) {
  const withInstance = (name: string): string =>
    name.includes("{") ? name.replace("{", '{instance="a",') : `${name}{instance="a"}`;
  return {
    interval: "15s",
    input_series: series.map(([name, values]) => ({ series: withInstance(name), values })),
    promql_expr_test: firing.map(([minute, alerts]) => ({
      expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: `${60 * minute}s`,
      exp_samples: alerts.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
    })),
  };
}

/** What promtool says of these cases; "" for no fault. JSON is YAML. */
function tried(t: Test, text: string, cases: readonly object[]): string {
  const folder = t.testdir();
  writeFileSync(join(folder, "alerts.yaml"), text);
  const file = join(folder, "tests.yaml");
  writeFileSync(file, JSON.stringify({ rule_files: ["alerts.yaml"], evaluation_interval: "15s", tests: cases }));
  const { status, stdout, stderr, error } = spawnSync("promtool", ["test", "rules", file], { encoding: "utf8" });
  return status === 0 ? "" : `${error ?? ""}${stdout}${stderr}`;
}

t.test("Prometheus takes the rules", async (t) => {
  const folder = t.testdir();
  copyFileSync(rulesFile, join(folder, "alerts.yaml"));
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", join(folder, "alerts.yaml")], {
    encoding: "utf8",
  });
  t.equal(status, 0, stdout + stderr);
});

t.test("each critical alert fires when its fault has lasted, not before", async (t) => {
  const critical = [...rules.matchAll(/- alert: (\w+)\n(?: {8}.*\n)*? {8}labels: \{ severity: critical \}/g)];
  t.same(critical.map(([, name]) => name).sort(), faults.map(({ alert }) => alert).sort(), "each has a fault here");
  const cases = faults.map(({ alert, firesAfter, series }) => {
    const written = Object.entries(series).map(([name, values]) => [name, values.join(" ")] as const);
    return caseOf(written, [
      [10, []],
      [10 + firesAfter - 0.5, []],
      [10 + firesAfter + 2, [alert]],
    ]);
  });
  t.equal(tried(t, rules, cases), "");
  t.match(
    tried(t, rules.replace(/for: 3m/g, "for: 9m"), cases.slice(3, 4)),
    /FAILED/,
    "the test sees an alert that comes late",
  );
});

t.test("requests that fail for half a minute, as while a master is replaced, wake nobody", async (t) => {
  const cases = faults
    .filter(({ series }) => Object.values(series).some(([, broken]) => broken === "5+5x90"))
    .map(({ series }) => {
      const written = Object.keys(series).map((name) => [name, `0x${calmSteps} 40 80 80x120`] as const);
      return caseOf(
        written,
        Array.from({ length: 8 }, (_, minute) => [11 + minute, []] as [number, string[]]),
      );
    });
  t.equal(cases.length, 5);
  t.equal(tried(t, rules, cases), "");
});
