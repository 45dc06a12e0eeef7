/** The manifests for Kubernetes: by the API's own types and schemas, by what verdictd needs, and as kustomize puts them together. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import t from "tap";
import { parse, parseAllDocuments } from "yaml";
import { prometheusRule, ruleFile } from "../../scripts/prometheus-rule.js";
import { readServeConfig } from "../../src/config/config.js";
import { memoryOf } from "../../src/config/memory.js";

const run = promisify(execFile);
const load = createRequire(import.meta.url);
const deploy = fileURLToPath(new URL("../../../scripts/deploy/", import.meta.url));
const folder = join(deploy, "kubernetes");
const compiler = load.resolve("typescript/bin/tsc");

// biome-ignore lint/suspicious/noExplicitAny: manifests are checked here, by types of their own
type Manifest = any;

const documents = (path: string): Manifest[] =>
  parseAllDocuments(readFileSync(join(folder, path), "utf8")).map((each) => each.toJS());
const overlays = ["single", "cluster", "monitoring"];
const files = overlays.flatMap((name) =>
  readdirSync(join(folder, name))
    .filter((file) => file.endsWith(".yaml") && file !== "kustomization.yaml")
    .map((file) => `${name}/${file}`),
);

/** The module that has the type of a manifest and its schema. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  const from = apiVersion.startsWith("monitoring.") ? "@kubernetes-models/prometheus-operator" : "kubernetes-models";
  return `${from}/${apiVersion}/${kind}`;
}

/** What the compiler says of manifests, a line each. */
async function complaintsOf(manifests: readonly Manifest[], project: string): Promise<string[]> {
  const lines = manifests.map(
    (each, at) =>
      `import { type I${each.kind} as I${at} } from "${moduleOf(each)}"; export const m${at}: I${at} = ${JSON.stringify(each)};`,
  );
  writeFileSync(join(project, "manifests.ts"), lines.join("\n"));
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    target: "ES2022",
    module: "esnext",
    moduleResolution: "bundler",
    types: [],
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["manifests.ts"] }));
  const env = { ...process.env, NODE_OPTIONS: "" };
  const said = await run(process.execPath, [compiler, "-p", project], { env }).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );
  return said.split("\n").filter((line) => line.includes("error TS"));
}

/** Throws where the schema has a fault to tell. */
function checkSchema(manifest: Manifest): void {
  const { [manifest.kind]: Model } = load(moduleOf(manifest));
  new Model(manifest).validate();
}

t.test("every manifest is what the API takes, without a field that it does not know", async (t) => {
  const manifests = files.flatMap(documents);
  t.ok(manifests.length >= 12);
  for (const each of manifests) checkSchema(each);
  const [statefulSet] = documents("single/verdictd.yaml");
  const wrong = structuredClone(statefulSet);
  wrong.spec.replicas = "one";
  t.throws(() => checkSchema(wrong), { message: /replicas/ });
  // Schemas let unknown fields pass, types do not.
  const misspelt = structuredClone(statefulSet);
  misspelt.spec.template.spec.containers[0].readinesProbe = {};
  const complaints = await complaintsOf([...manifests, misspelt], t.testdir());
  t.equal(complaints.length, 1, complaints.join("\n"));
  t.match(complaints[0], /readinesProbe/);
});

t.test("kustomizations name every file, and the secrets that are mounted", async (t) => {
  for (const name of overlays) {
    const { resources, images, secretGenerator } = parse(
      readFileSync(join(folder, name, "kustomization.yaml"), "utf8"),
    );
    const here = files.filter((file) => file.startsWith(`${name}/`)).map((file) => file.slice(name.length + 1));
    t.same([...resources].sort(), here.sort(), name);
    t.ok(here.every((file) => existsSync(join(folder, name, file))));
    if (name === "monitoring") continue;
    const text = readFileSync(join(folder, name, "verdictd.yaml"), "utf8");
    t.equal(images[0].name, documents(`${name}/verdictd.yaml`)[0].spec.template.spec.containers[0].image);
    const secrets = [...text.matchAll(/\/run\/secrets\/verdictd\/([\w-]+)/g)].map(([, file]) => `secrets/${file}`);
    t.same([...secretGenerator[0].files].sort(), secrets.sort(), `${name}: what is read is made`);
  }
});

for (const name of ["single", "cluster"]) {
  await t.test(`${name}: options that serve takes, memory by the formula, probes, and labels that meet`, async (t) => {
    const all = documents(`${name}/verdictd.yaml`);
    const of = (kind: string): Manifest[] => all.filter((each) => each.kind === kind);
    const { spec, metadata } = of("StatefulSet")[0];
    const pod = spec.template.spec;
    const [container] = pod.containers;
    const secret = t.testdir({ token: "token" });
    const environment = Object.fromEntries(
      container.env.map(({ name, value }: { name: string; value: string }) => [
        name,
        name.endsWith("_FILE") ? join(secret, "token") : value,
      ]),
    );
    const read = readServeConfig({}, environment);
    if (!("config" in read)) throw new Error(read.mistakes.join("\n"));
    const { config } = read;
    const { mib } = memoryOf(config);
    t.ok(Number.parseInt(container.resources.requests.memory, 10) >= mib, "asked for");
    t.ok(Number.parseInt(container.resources.limits.memory, 10) >= mib, "allowed");
    t.match(JSON.stringify(container.resources.limits), /Mi/);
    t.equal(container.resources.limits.cpu, undefined);
    t.ok(pod.terminationGracePeriodSeconds > config.drainSeconds);
    // The Service is called as the program: its variables would be options.
    t.equal(pod.enableServiceLinks, false);
    const ports = container.ports.map(({ name, containerPort }: Manifest) => [name, containerPort]);
    t.same(ports, [
      ["http", config.port],
      ["admin", config.adminPort],
    ]);
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
      t.match(container[probe].httpGet, { port: "http", path: probe === "readinessProbe" ? "/readyz" : "/healthz" });
    }
    t.equal(container.securityContext.readOnlyRootFilesystem, true);
    t.ok(environment["VERDICTD_DATA_DIR"].startsWith(`${container.volumeMounts[0].mountPath}/`));
    for (const mount of container.volumeMounts) {
      const volumes = [...pod.volumes, ...spec.volumeClaimTemplates.map((each: Manifest) => each.metadata)];
      t.ok(
        volumes.some((volume) => volume.name === mount.name),
        mount.name,
      );
    }
    const labels = spec.template.metadata.labels;
    const meets = (selector: Record<string, string>) =>
      Object.entries(selector).every(([label, value]) => labels[label] === value);
    t.ok(meets(spec.selector.matchLabels));
    for (const service of of("Service")) t.ok(meets(service.spec.selector), service.metadata.name);
    t.ok(of("Service").some((service) => service.metadata.name === spec.serviceName));
    for (const kind of ["PodDisruptionBudget", "NetworkPolicy"]) {
      const { selector, podSelector } = of(kind)[0].spec;
      t.ok(meets((selector ?? podSelector).matchLabels), kind);
    }
    t.equal(metadata.name, "verdictd");
    if (name === "single") t.equal(spec.replicas, 1, "one process has the store");
    else {
      t.ok(of("PodDisruptionBudget")[0].spec.minAvailable < spec.replicas);
      const [rule] = pod.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
      t.ok(meets(rule.labelSelector.matchLabels));
      t.equal(rule.topologyKey, "kubernetes.io/hostname");
    }
  });
}

t.test("monitoring reads the admin Service, and its alerts are those of Prometheus' own file", async (t) => {
  const [monitor] = documents("monitoring/service-monitor.yaml");
  const admin = documents("single/verdictd.yaml").find(({ metadata }) => metadata.name === "verdictd-admin");
  t.match(admin.metadata.labels, monitor.spec.selector.matchLabels);
  t.equal(monitor.spec.endpoints[0].port, admin.spec.ports[0].name);
  t.equal(admin.metadata.labels[monitor.spec.jobLabel], "verdictd", "the job that alerts ask for");
  t.equal(readFileSync(ruleFile, "utf8"), prometheusRule(), "node dist/scripts/prometheus-rule.js makes it anew");
});
