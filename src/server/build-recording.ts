/** Composes what is recorded besides sessions: counts, blocks, timelines, challenges, token use. `http-thread.ts` has them written. */
import type { Credentials } from "../auth/credentials.js";
import { TokenUses } from "../auth/token-uses.js";
import { AskedSessions } from "../challenge/asked-sessions.js";
import { ChallengingRules } from "../challenge/challenging-rules.js";
import { Challenges } from "../control-plane/sessions/challenges.js";
import { VerdictFeed } from "../live/verdict-feed.js";
import { Blocks } from "../recording/blocks.js";
import { JudgedRecords } from "../recording/judged-records.js";
import { JudgedTraffic } from "../recording/judged-traffic.js";
import { Timelines } from "../recording/timelines.js";
import { TrafficCounter } from "../recording/traffic.js";
import { TrafficReader } from "../recording/traffic-reader.js";
import { RuleBudgetWatch } from "../verdict/rule-budget-watch.js";
import type { EventRecorder } from "./build-event-log.js";
import type { ThreadContext } from "./thread-context.js";
import type { VisitorFacts } from "./visitor-facts.js";

/** The recorders that `buildRecording` returns. */
export type Recording = ReturnType<typeof buildRecording>;

/** Everything here collects in memory; `flush*` writes. */
export function buildRecording(
  thread: ThreadContext,
  credentials: Credentials,
  visitors: VisitorFacts,
  eventLog: EventRecorder | null,
) {
  const { config, log, store, meters, outages, reads, now } = thread;
  const traffic = new TrafficCounter(store);
  const { addresses, declaredBotOf, claimOf } = visitors;
  const judged = new JudgedTraffic({
    addresses,
    declaredBotOf,
    claimOf,
    ipStorage: config.ipStorage,
    together: (work) => reads.together(work),
    onFailure: (err) => log.error({ err }, "a verdict could not be counted by value"),
  });
  const judgedRecords = new JudgedRecords(store, now, config.requestSamples, () => judged.tell());
  judged.observe(judgedRecords);
  if (eventLog !== null) judged.observe(eventLog);
  const blocks = new Blocks(store, now, config.httpThreads);
  /** Writes the blocks that are due, or all of them. Never rejects. */
  const flushBlocks = (isAll = false): Promise<void> =>
    blocks.flush(isAll).then(
      (count) => meters.services.add("blocksRecorded", count),
      (err: unknown) => outages.failed(err, "blocks could not be stored"),
    );
  const overBudget = new RuleBudgetWatch({
    onEach: () => meters.services.add("verdictsOverRuleBudget"),
    warn: (projectId) =>
      log.warn(
        { projectId },
        "the rules of a project exceed the budget of one verdict: its last rules are not evaluated",
      ),
  });
  return {
    traffic,
    /** Tells its observers of every computed verdict. */
    judged,
    /** Counts what was judged by value, and keeps samples. */
    judgedRecords,
    trafficReader: new TrafficReader(store, config.requestSamples),
    blocks,
    flushBlocks,
    timelines: new Timelines({ store, credentials, sessionsMax: config.timelineSessions, now }),
    /** Publishes each answered verdict for `verdictd tail`. */
    feed: new VerdictFeed(),
    tokenUses: new TokenUses(store, now, (err) => outages.failed(err, "the last use of a token could not be stored")),
    overBudget,
    ...buildChallenges(thread, traffic, eventLog),
  };
}

/** Records the challenges that sessions get and pass, and which rule asked for each. */
function buildChallenges(
  { store, meters, shared, now }: ThreadContext,
  traffic: TrafficCounter,
  eventLog: EventRecorder | null,
) {
  const challengingRules = new ChallengingRules(shared.challengingRules);
  const askedSessions = new AskedSessions(shared.askedSessions);
  const challenges = new Challenges({
    store,
    causeOf: (project, token, { ip, userAgent }, nowMs) =>
      challengingRules.take({ projectId: project.id, token, ip, userAgent }, nowMs),
    challengedBand: (project, token) => challengingRules.bandOf(project.id, token),
    onAsked: (token, nowMs) => askedSessions.record(token, nowMs),
    isAwaited: (token) => askedSessions.isAwaited(token),
    onEvent: (event) => {
      const counts = { [event.what]: 1, ...(event.what === "passed" && { passedMs: event.tookMs }) };
      traffic.countChallenge(event.projectId, event.rule, counts, now());
      meters.challenges.add(event.projectId, event.rule, counts);
      eventLog?.onChallenge(event);
    },
    now,
  });
  return { challenges, challengingRules, askedSessions };
}
