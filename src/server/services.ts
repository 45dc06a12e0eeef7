/**
 * Builds all that one HTTP thread has behind its listener: the services on the store, and the routes that use them. Read `buildServices` from the top;
 * each step is a file of this folder. Only `http-thread.ts` calls it, and it starts nothing.
 */
import { bytesOfMib } from "../config/config.js";
import { IngestQueue } from "../ingest/queue.js";
import { limits } from "../limits.js";
import { buildAlerting } from "./build-alerting.js";
import { buildControlPlane } from "./build-control-plane.js";
import { buildEventLog } from "./build-event-log.js";
import { buildRecording } from "./build-recording.js";
import { buildVerdicts } from "./build-verdicts.js";
import { buildRoutes } from "./routes.js";
import { type ThreadContext, type ThreadParts, threadContext } from "./thread-context.js";
import { buildVisitorFacts } from "./visitor-facts.js";

/** What `buildServices` builds. */
export type Services = ReturnType<typeof buildServices>;

/** The services of one HTTP thread and its route table: `http-thread.ts` listens with them, flushes and stops them. */
export function buildServices(parts: ThreadParts) {
  const thread = threadContext(parts);
  const controlPlane = buildControlPlane(thread);
  const visitors = buildVisitorFacts(thread);
  const eventLog = buildEventLog(thread);
  const recording = buildRecording(thread, controlPlane.credentials, visitors, eventLog);
  const alerting = buildAlerting(thread, controlPlane, visitors, recording, eventLog?.alerting);
  const verdicts = buildVerdicts(thread, controlPlane, visitors, recording, alerting);
  const queue = buildQueue(thread);
  const routes = buildRoutes({ thread, controlPlane, visitors, recording, alerting, verdicts, queue });
  const { reads, onFailure } = thread;
  const { credentials, accounts, projects } = controlPlane;
  const { reverseDns, agentRefresh, network } = visitors;
  const { traffic, judgedRecords, blocks, flushBlocks, timelines, tokenUses, feed } = recording;
  return {
    reads,
    onFailure,
    credentials,
    accounts,
    projects,
    reverseDns,
    agentRefresh,
    network,
    traffic,
    judgedRecords,
    blocks,
    flushBlocks,
    timelines,
    tokenUses,
    feed,
    alerting,
    events: eventLog?.events ?? null,
    queue,
    routes,
  };
}

/** Builds the queue that hands accepted batches to the scoring threads. */
function buildQueue({ config, log, pool, meters }: ThreadContext): IngestQueue {
  return new IngestQueue({
    run: (frame) => pool.run(frame, { transferList: [frame.buffer] }),
    tasksMax: pool.threads.length * limits.tasksInFlightPerThread,
    sampleAboveBytes: bytesOfMib(config.sampleAboveMb),
    shedAboveBytes: bytesOfMib(config.queueMb),
    meter: meters.services,
    onFailure: (err) => log.error({ err }, "a batch could not be answered"),
  });
}
