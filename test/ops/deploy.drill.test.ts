/** The example files for operators: every metric and label that dashboard and alerts name exists in the real exposition. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import t, { type Test } from "tap";
import { batch } from "../support/batches.js";
import type { Exposition } from "../support/exposition.js";
import { command, serve } from "../support/process.js";
import { startRedis } from "../support/redis-cluster.js";
import { selfSigned } from "./certificates.js";
import { client, tenantOf } from "./traffic.js";

const folder = fileURLToPath(new URL("../../../scripts/deploy/", import.meta.url));
const read = (name: string): string => readFileSync(`${folder}${name}`, "utf8");

/** What Prometheus adds to every series at the scrape. */
const scrapeLabels = ["job", "instance"];
const scrapeMetrics = ["up"];
const words = new Set(
  "sum min max avg count by without on ignoring group_left rate increase topk histogram_quantile time offset and or unless".split(
    " ",
  ),
);

interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly op: string; readonly value: string }[];
}

/** Metric names with their matchers, and the labels of `by (…)`. */
function readQuery(query: string): { selectors: Selector[]; grouped: string[] } {
  const texts: string[] = [];
  const plain = query.replace(/"((?:[^"\\]|\\.)*)"/g, (_, text: string) => `"q${texts.push(text) - 1}"`);
  const grouped: string[] = [];
  const ungrouped = plain.replace(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g, (_, names: string) => {
    grouped.push(...names.split(",").map((name) => name.trim()));
    return "";
  });
  const selectors: Selector[] = [];
  const rest = ungrouped.replace(/\[[^\]]*\]/g, "").replace(/\b\d[\w.]*\b/g, "");
  for (const [, metric, inside = ""] of rest.matchAll(/\b([a-zA-Z_][\w:]*)\s*(?:\{([^}]*)\})?/g)) {
    if (words.has(metric!)) continue;
    const matchers = [...inside.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"q(\d+)"/g)].map(([, label, op, index]) => ({
      label: label!,
      op: op!,
      value: texts[Number(index)] ?? "",
    }));
    selectors.push({ metric: metric!, matchers });
  }
  return { selectors, grouped };
}

/** What a query names that the exposition does not have. */
function faultsOf(query: string, { samples }: Exposition): string[] {
  const { selectors, grouped } = readQuery(query);
  if (selectors.length === 0) return [`no metric in: ${query}`];
  const faults: string[] = [];
  const allLabels = new Set(scrapeLabels);
  for (const { metric, matchers } of selectors) {
    if (scrapeMetrics.includes(metric)) continue;
    const series = samples.filter(({ name }) => name === metric);
    if (series.length === 0) faults.push(`no metric ${metric} in: ${query}`);
    for (const { labels } of series) for (const label of Object.keys(labels)) allLabels.add(label);
    for (const { label, op, value } of matchers) {
      if (scrapeLabels.includes(label)) continue;
      const values = series.map(({ labels }) => labels[label]).filter((each) => each !== undefined);
      if (values.length === 0) faults.push(`${metric} has no label ${label} in: ${query}`);
      else if (label !== "status" && op === "=" && !values.includes(value)) {
        faults.push(`${metric} has no ${label}="${value}" in: ${query}`);
      } else if (op === "=~" && label !== "status" && !values.some((each) => new RegExp(`^(?:${value})$`).test(each))) {
        faults.push(`${metric} has no ${label}=~"${value}" in: ${query}`);
      }
    }
  }
  for (const label of grouped) if (!allLabels.has(label)) faults.push(`no label ${label} in: ${query}`);
  return faults;
}

/** The exposition of a server that has answered every kind of request that the files ask about. */
async function fullExposition(t: Test): Promise<Exposition> {
  const { certificate, key } = selfSigned(t, "verdictd.example");
  const plain = await serve(t, `${certificate}.data`, { flags: [] });
  const tenant = await tenantOf(plain);
  const { ask, ingest } = client(plain, tenant);
  const { json } = await ingest(batch("someone"));
  await ask("GET", `/v1/sessions/${json.session_token}/verdict`, { token: tenant.privateKey });
  const tls = await serve(t, `${certificate}.tls`, { flags: ["--tls-cert", certificate, "--tls-key", key] });
  const { url } = await startRedis(t, { masters: 1, replicas: 1 });
  const mirror = `${certificate}.mirror`;
  const made = await command(["init", "--store", url, "--data-dir", mirror]);
  if (made.code !== 0) throw new Error(made.stderr);
  const onCluster = await serve(t, mirror, { flags: ["--store", url] });
  const ofCluster = await onCluster.metricsOnce((seen) => seen.sum("verdictd_cluster_engine_link_up") === 1);
  const expositions = [await plain.metrics(), await tls.metrics(), ofCluster];
  return { ...expositions[0]!, samples: expositions.flatMap(({ samples }) => samples) };
}

t.test("the files for Prometheus and Grafana name what is exposed", async (t) => {
  const exposition = await fullExposition(t);

  t.test("the check itself sees what is missing", async (t) => {
    for (const bad of [
      "rate(verdictd_no_such_total[5m])",
      'rate(verdictd_verdicts_total{colour="red"}[5m])',
      'rate(verdictd_verdicts_total{band="nobody"}[5m])',
      "sum by (colour) (rate(verdictd_verdicts_total[5m]))",
    ]) {
      t.equal(faultsOf(bad, exposition).length, 1, bad);
    }
    t.same(faultsOf('sum by (band) (rate(verdictd_verdicts_total{source="cached"}[5m])) > 2 * time()', exposition), []);
  });

  t.test("alerts", async (t) => {
    const text = read("alerts.yaml");
    const queries = [...text.matchAll(/^\s+expr: (.+)$/gm)].map(([, query]) => query!);
    t.equal(queries.length, text.match(/- alert: /g)?.length, "every alert has an expression on one line");
    t.ok(queries.length > 10);
    t.same(
      queries.flatMap((query) => faultsOf(query, exposition)),
      [],
    );
    t.equal(text.match(/^ {10}summary: /gm)?.length, queries.length, "every alert says what it means");
    t.equal(text.match(/^ {10}action: /gm)?.length, queries.length, "and what to do");
  });

  t.test("dashboard", async (t) => {
    const dashboard = JSON.parse(read("grafana-dashboard.json")) as Dashboard;
    const targets = dashboard.panels.flatMap(({ targets = [] }) => targets);
    t.ok(targets.length > 20);
    t.same(
      targets.flatMap(({ expr }) => faultsOf(expr, exposition)),
      [],
    );
    const known = new Set([...scrapeLabels, ...exposition.samples.flatMap(({ labels }) => Object.keys(labels))]);
    const legends = targets.flatMap(({ legendFormat }) =>
      [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name!),
    );
    t.same(
      legends.filter((name) => !known.has(name)),
      [],
      "legends name labels",
    );
    for (const { datasource } of targets) t.equal(datasource.uid, datasourceVariable);
    const ids = dashboard.panels.map(({ id }) => id);
    t.equal(new Set(ids).size, ids.length, "panels have ids of their own");
    const text = JSON.stringify(targets);
    const own = new Set([...exposition.types.keys()].filter((name) => name.startsWith("verdictd_")));
    const alerts = read("alerts.yaml");
    t.same(
      [...own].filter((name) => !text.includes(name) && !alerts.includes(name) && !unshown.has(name)),
      [],
      "nothing is forgotten",
    );
  });
});

/** How Grafana writes the variable of the data source. */
const datasourceVariable = "$" + "{datasource}";

/** Exposed for looking closer, on no panel. */
const unshown = new Set([
  "verdictd_build_info",
  "verdictd_http_threads",
  "verdictd_queue_tasks",
  "verdictd_blocks_stored",
  "verdictd_reverse_dns_cached",
  "verdictd_reverse_dns_active",
  "verdictd_reverse_dns_waiting",
  "verdictd_scoring_threads",
]);

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly targets?: readonly {
      readonly expr: string;
      readonly legendFormat: string;
      readonly datasource: { readonly uid: string };
    }[];
  }[];
}

const analyze = "/usr/bin/systemd-analyze";
t.test("systemd accepts the unit", { skip: existsSync(analyze) ? false : `no ${analyze} here` }, async (t) => {
  // The real unit, with a program that this machine has.
  const unit = read("verdictd.service").replace("/usr/bin/node", process.execPath);
  const path = `${t.testdir({ "verdictd.service": unit })}/verdictd.service`;
  const { status, stderr } = spawnSync(analyze, ["verify", path], { encoding: "utf8" });
  t.same({ status, stderr }, { status: 0, stderr: "" });
});

t.test("the unit and the image start what exists, as nobody in particular", async (t) => {
  const unit = read("verdictd.service");
  t.match(unit, /^DynamicUser=yes$/m);
  t.match(unit, /^ExecReload=.*-HUP/m);
  for (const [name, stages] of [
    ["Dockerfile", 2],
    ["Dockerfile.executable", 1],
  ] as const) {
    const image = read(name);
    t.match(image, /^USER (node|verdictd)$/m);
    t.equal(image.match(/^FROM /gm)?.length, stages);
    t.match(image, /^CMD \["serve"\]$/m);
    t.match(image, /^# +docker run .* init /m, "where the first token comes from");
  }
  const image = read("Dockerfile");
  t.match(image, /^HEALTHCHECK /m);
  // Releases of Debian whose glibc (2.38) fits the native part for this Node.
  for (const [, release] of image.matchAll(/^FROM node:24-([a-z]+)-slim/gm)) t.equal(release, "trixie");
  const copied = [...image.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) => names!.split(" "));
  for (const name of copied) t.ok(existsSync(`${folder}../../${name}`), `${name} exists`);
  t.ok(copied.includes("src") && copied.includes("workers"), "there is something to check");
});
