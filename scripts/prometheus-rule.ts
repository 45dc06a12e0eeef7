/** Makes the manifest of the alerts for Prometheus' operator (`scripts/deploy/kubernetes/monitoring`) from `scripts/deploy/alerts.yaml`. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(import.meta.url);
const deploy = resolve(dirname(here), "../../scripts/deploy");
/** The manifest. */
export const ruleFile = join(deploy, "kubernetes/monitoring/prometheus-rule.yaml");

const head = `# The rules of scripts/deploy/alerts.yaml for Prometheus' operator, made by scripts/prometheus-rule.ts.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: verdictd
  labels: { app.kubernetes.io/name: verdictd }
spec:
`;

/** What the manifest has to be. */
export function prometheusRule(): string {
  const lines = readFileSync(join(deploy, "alerts.yaml"), "utf8").split("\n");
  const groups = lines.slice(lines.indexOf("groups:"));
  return head + groups.map((line) => (line === "" ? "" : `  ${line}`)).join("\n");
}

if (process.argv[1] === here) writeFileSync(ruleFile, prometheusRule());
