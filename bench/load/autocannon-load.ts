/** Runs a load job with autocannon: closed loop, one request a connection at a time. */
import autocannon from "autocannon";
import type { LoadJob, LoadResult } from "./job.js";
import { curve, Latencies } from "./latencies.js";
import { createTraffic } from "./traffic.js";

export async function runAutocannonLoad(job: LoadJob): Promise<LoadResult> {
  if (job.warmUpMs > 0) await once(job, job.warmUpMs);
  return once(job, job.durationMs);
}

async function once(job: LoadJob, durationMs: number): Promise<LoadResult> {
  const { next } = createTraffic(job.traffic, new URL(job.url).host).connection();
  const latencies = new Latencies();
  let requests = 0;
  let errors = 0;
  let firstError = "";
  const fail = (why: string): void => {
    if (errors++ === 0) firstError = why;
  };
  const cpu = process.cpuUsage();
  const start = performance.now();
  await new Promise<void>((resolve, reject) => {
    const options = {
      url: job.url,
      connections: job.connections,
      duration: durationMs / 1000,
      sampleInt: 200,
      requests: [{ setupRequest: (request: autocannon.Request) => ({ ...request, ...parsed(next()) }) }],
    };
    const run = autocannon(options, (error) => (error ? reject(error) : resolve()));
    run.on("response", (_client, status, _bytes, milliseconds) => {
      requests++;
      latencies.add(milliseconds);
      if (!job.statuses.includes(status)) fail(`status ${status}`);
    });
    run.on("reqError", (error) => fail(String(error)));
  });
  const { user, system } = process.cpuUsage(cpu);
  return {
    requests,
    shed: 0,
    errors,
    firstError,
    seconds: (performance.now() - start) / 1000,
    latencyMs: latencies.at(curve),
    generatorCpuSeconds: (user + system) / 1e6,
  };
}

/** Prebuilt request bytes in the parts that autocannon takes. */
function parsed(bytes: Buffer): autocannon.Request {
  const head = bytes.indexOf("\r\n\r\n");
  const [first, ...lines] = bytes.toString("latin1", 0, head).split("\r\n");
  const [method, path] = first!.split(" ");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    if (name !== "content-length" && name !== "host") headers[name] = line.slice(colon + 2);
  }
  const request = { method: method as "GET" | "POST", path: path!, headers };
  return method === "GET" ? request : { ...request, body: Buffer.from(bytes.subarray(head + 4)) };
}
