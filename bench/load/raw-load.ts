/** Runs a load job on bare sockets: closed loop (as fast as answers come) or open loop (at a fixed rate). */
import { appendFileSync } from "node:fs";
import { LoadConnection, type OnAnswer } from "./connection.js";
import type { LoadJob, LoadResult } from "./job.js";
import { curve, Latencies } from "./latencies.js";
import { createTraffic } from "./traffic.js";
import type { ConnectionTraffic } from "./traffic-spec.js";

interface Lane {
  /** Null until it is open. */
  connection: LoadConnection | null;
  readonly traffic: ConnectionTraffic;
  /** When the requests in flight were sent, or were due; oldest first. */
  readonly since: number[];
}

/** One answer in this many is looked at wholly; the status of all. */
const checkedEach = 64;

export async function runRawLoad(job: LoadJob): Promise<LoadResult> {
  const run = new RawRun(job);
  return run.result();
}

const lastAnswer = "\r\nConnection: close\r\n";

class RawRun {
  readonly #job: LoadJob;
  readonly #latencies = new Latencies();
  readonly #lanes: Lane[] = [];
  readonly #tokens: string[] = [];
  /** Open loop: lanes without a request, and when requests were due that wait for one, from `#waitingAt` on. */
  readonly #idle: Lane[] = [];
  readonly #waiting: number[] = [];
  #waitingAt = 0;
  #measuring = false;
  #stopped = false;
  /** Closed loop. */
  #sent = 0;
  #answers = 0;
  #requests = 0;
  #shed = 0;
  #errors = 0;
  #firstError = "";
  #finish: () => void = () => {};

  constructor(job: LoadJob) {
    this.#job = job;
  }

  async result(): Promise<LoadResult> {
    const job = this.#job;
    await this.#connect();
    const pace = job.rate > 0 ? this.#openLoop() : this.#closedLoop();
    if (job.warmUpMs > 0) await sleep(job.warmUpMs);
    this.#measuring = true;
    const start = performance.now();
    const cpu = process.cpuUsage();
    if (job.requestsMax === undefined) await sleep(job.durationMs);
    else await this.#allAnswered();
    this.#measuring = false;
    const seconds = (performance.now() - start) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    this.#stopped = true;
    pace();
    // What is still to be answered at the end of an open loop counts among the latencies: it is late, not absent.
    if (job.rate > 0) this.#countUnanswered();
    for (const lane of this.#lanes) lane.connection?.close();
    if (job.tokensTo !== undefined) appendFileSync(job.tokensTo, this.#tokens.join(""));
    return {
      requests: this.#requests,
      shed: this.#shed,
      errors: this.#errors,
      firstError: this.#firstError,
      seconds,
      latencyMs: this.#latencies.at(curve),
      generatorCpuSeconds: (user + system) / 1e6,
    };
  }

  #allAnswered(): Promise<void> {
    return new Promise((resolve) => {
      this.#finish = resolve;
      if (this.#errors > 0) resolve();
    });
  }

  async #connect(): Promise<void> {
    const { host } = new URL(this.#job.url);
    const traffic = createTraffic(this.#job.traffic, host);
    for (let index = 0; index < this.#job.connections; index++) {
      const lane: Lane = { connection: null, traffic: traffic.connection(), since: [] };
      await this.#open(lane);
      this.#lanes.push(lane);
    }
  }

  async #open(lane: Lane): Promise<void> {
    const { hostname, port } = new URL(this.#job.url);
    const onAnswer: OnAnswer = (...answer) => this.#answered(lane, ...answer);
    lane.connection = await LoadConnection.open(hostname, Number(port || 80), onAnswer, (error) => {
      if (!this.#stopped) this.#failed(error.message);
      // An answer that won't come is not waited for.
      this.#finish();
    });
  }

  /** The server closes connections that had many answers without a body, and says so in the last: whoever asks comes back. */
  async #reopen(lane: Lane): Promise<void> {
    lane.connection?.close();
    try {
      await this.#open(lane);
    } catch (error) {
      this.#failed((error as Error).message);
      return;
    }
    if (this.#stopped) lane.connection?.close();
    else this.#goOn(lane);
  }

  /** A lane has no request in flight. */
  #goOn(lane: Lane): void {
    if (this.#job.rate > 0) this.#sendWaiting(lane);
    else this.#burst(lane);
  }

  #answered(lane: Lane, status: number, bytes: Buffer, start: number, end: number): void {
    const since = lane.since.shift()!;
    lane.traffic.answered?.(status, bytes, start, end);
    if (this.#stopped) return;
    if (!this.#job.statuses.includes(status)) this.#failed(`status ${status}: ${bytes.toString("latin1", start, end)}`);
    else if (this.#answers++ % checkedEach === 0 && !bytes.subarray(start, end).includes(this.#job.contains)) {
      this.#failed(`unexpected answer: ${bytes.toString("latin1", start, end)}`);
    }
    if (this.#measuring) {
      this.#latencies.add(performance.now() - since);
      this.#requests++;
      if (this.#job.traffic.kind !== "forward-auth" && (status === 204 || status === 503)) this.#shed++;
    }
    if (this.#job.tokensTo !== undefined) {
      const at = bytes.indexOf("sess_", start);
      if (at !== -1 && at < end) this.#tokens.push(`${bytes.toString("latin1", at, at + 33)}\n`);
    }
    if (this.#requests === this.#job.requestsMax) this.#finish();
    if (status === 204 && bytes.subarray(start, end).includes(lastAnswer)) void this.#reopen(lane);
    else if (lane.since.length === 0) this.#goOn(lane);
  }

  #failed(why: string): void {
    if (this.#errors++ === 0) this.#firstError = why.slice(0, 400);
  }

  #burst(lane: Lane): void {
    const now = performance.now();
    const { pipelining, requestsMax = Number.POSITIVE_INFINITY } = this.#job;
    // No more than are waited for: one that is answered later would be stored and not counted.
    const count = Math.min(pipelining, requestsMax - this.#sent);
    if (count === 0) return;
    this.#sent += count;
    if (count === 1) lane.connection?.send(lane.traffic.next());
    else {
      const requests: Buffer[] = [];
      for (let index = 0; index < count; index++) requests.push(Buffer.from(lane.traffic.next()));
      lane.connection?.send(Buffer.concat(requests));
    }
    for (let index = 0; index < count; index++) lane.since.push(now);
  }

  #closedLoop(): () => void {
    for (const lane of this.#lanes) this.#burst(lane);
    return () => {};
  }

  /**
   * Every millisecond sends what has fallen due, each request on a connection that is free: uWebSockets.js closes connections that
   * pipeline behind an answer still to come. While none is free it waits here, its clock running.
   */
  #openLoop(): () => void {
    const start = performance.now();
    const everyMs = 1000 / this.#job.rate;
    let due = 0;
    this.#idle.push(...this.#lanes);
    const timer = setInterval(() => {
      const now = performance.now();
      for (let dueAt = start + due * everyMs; dueAt <= now; dueAt = start + ++due * everyMs) {
        const lane = this.#idle.pop();
        if (lane === undefined) this.#waiting.push(dueAt);
        else this.#sendDue(lane, dueAt);
      }
    }, 1);
    return () => clearInterval(timer);
  }

  #sendDue(lane: Lane, dueAt: number): void {
    lane.since.push(dueAt);
    lane.connection?.send(lane.traffic.next());
  }

  /** A lane of the open loop is free again. */
  #sendWaiting(lane: Lane): void {
    if (this.#waitingAt === this.#waiting.length) {
      this.#waiting.length = 0;
      this.#waitingAt = 0;
      this.#idle.push(lane);
    } else this.#sendDue(lane, this.#waiting[this.#waitingAt++]!);
  }

  #countUnanswered(): void {
    const now = performance.now();
    for (const since of [...this.#lanes.map((lane) => lane.since), this.#waiting.slice(this.#waitingAt)]) {
      for (const each of since) this.#latencies.add(now - each);
    }
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
