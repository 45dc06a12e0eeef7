/** Composes incidents and alerts: what each HTTP thread counts, what one thread of the node does with it, and what the routes read. */
import type { MessagePort } from "node:worker_threads";
import { AlertMatcher } from "../alerting/alert-matcher.js";
import type { PastMatches } from "../alerting/alert-test.js";
import { AlertingNode, type AlertingObserver, type CountedLink } from "../alerting/alerting-node.js";
import { Alerts } from "../alerting/alerts.js";
import { Channels } from "../alerting/channels.js";
import { IncidentLog } from "../alerting/incident-log.js";
import type { ThreadReport } from "../alerting/node-report.js";
import { AlertSender } from "../alerting/sender.js";
import { askedSample } from "../control-plane/insight/sample-search.js";
import { RequestReporter } from "../incidents/reporter.js";
import { limits } from "../limits.js";
import { urlHost } from "../net/url-host.js";
import { compileRule } from "../rules/compile-rule.js";
import { isRuleFault } from "../rules/fault.js";
import { ruleInput } from "../verdict/resolve.js";
import type { ControlPlane } from "./build-control-plane.js";
import type { Recording } from "./build-recording.js";
import type { ThreadContext } from "./thread-context.js";
import type { VisitorFacts } from "./visitor-facts.js";

/** The services that `buildAlerting` returns. */
export type Alerting = ReturnType<typeof buildAlerting>;

/** Sessions that a test of an alert reads at most; samples are bounded by what is kept. */
const testedSessionsMax = 10_000;

/** Observes judged traffic from now on. The node's part begins with `startNode`, in one thread; others report with `startReports`. */
export function buildAlerting(
  thread: ThreadContext,
  { sessions }: ControlPlane,
  { addresses, declaredBotOf }: VisitorFacts,
  { judged, judgedRecords, trafficReader }: Recording,
  observer: AlertingObserver = silent,
) {
  const { config, store, outages, reads, now } = thread;
  const alerts = new Alerts(store, now);
  const incidents = new IncidentLog(store, now);
  // What a cluster that is away refuses is an outage, which is told once.
  const onFailure = (err: unknown, what = "an alert could not be sent"): void => outages.failed(err, what);
  const sender = new AlertSender({
    store,
    now,
    arePrivateAllowed: config.alertPrivateAddresses,
    onFailure,
    onSettled: (delivery) => observer.onDelivery(delivery),
  });
  const reporter = new RequestReporter();
  judged.observe(reporter);
  const matcher = new AlertMatcher(alerts, () => reads.revision());
  const report = (): ThreadReport => {
    judged.tell();
    return { requests: reporter.take(), matches: matcher.take() };
  };
  const linkOf = (projectId: number, counted?: CountedLink): string => {
    const page = counted === undefined ? "overview" : "explore";
    const query = new URLSearchParams({ ...counted, project: String(projectId) });
    return `${consoleAddress(config)}#/${page}?${query}`;
  };
  const pastMatches: PastMatches = async (project, when, range, onMatch, slices) => {
    const compiled = compileRule(when.expression);
    if (isRuleFault(compiled)) return { evaluated: 0 };
    let evaluated = 0;
    if (when.subject !== "session") {
      // Where it can't be stored (a full disk), what was stored before is read.
      await judgedRecords.flush().catch((err: unknown) => onFailure(err, "samples could not be stored"));
      const { fromMs, untilMs } = range;
      const isWhole = await trafficReader.visitSamples(project.id, fromMs, untilMs, slices, (sample) => {
        evaluated++;
        const asked = askedSample(sample, addresses.listsOf);
        const input = ruleInput({ ...asked, project, rules: [], nowMs: sample.atMs });
        if (input !== null && compiled.matches(input)) onMatch(sample.atMs, sample.weight);
        return true;
      });
      if (!isWhole) return "aborted";
    }
    if (when.subject === "request") return { evaluated };
    const visited = await sessions.visitSince(project.id, range, testedSessionsMax, slices, ({ beganMs, state }) => {
      evaluated++;
      const { verifiedBot, last } = state;
      const declaredBot = () => (last.userAgent === "" ? undefined : declaredBotOf(last.userAgent));
      const asked = { state, project, rules: [], context: {}, verifiedBot, addresses, declaredBot, nowMs: now() };
      const input = ruleInput(asked);
      if (input !== null && compiled.matches(input)) onMatch(beganMs, 1);
    });
    return visited === "aborted" ? "aborted" : { evaluated };
  };
  let node: AlertingNode | null = null;
  let reporting: NodeJS.Timeout | null = null;
  return {
    alerts,
    incidents,
    channels: new Channels(store, now, config.alertPrivateAddresses),
    sender,
    linkOf,
    matcher,
    pastMatches,
    /** For one thread of a node. */
    startNode: (): void => {
      node = new AlertingNode({
        store,
        incidents,
        alerts,
        sender,
        now,
        observer,
        onFailure,
        linkOf,
        ownReport: report,
      });
      node.start();
    },
    /** Takes the reports of a further thread. */
    takeReports: (port: MessagePort): void => {
      port.on("message", (reported: ThreadReport) => node?.take(reported));
      port.unref();
    },
    /** For a further thread: reports to the port. */
    startReports: (port: MessagePort): void => {
      reporting = setInterval(() => {
        const { requests, matches } = report();
        if (requests.length > 0 || matches.length > 0) port.postMessage({ requests, matches } satisfies ThreadReport);
      }, limits.reportEveryMs);
    },
    close: async (): Promise<void> => {
      if (reporting !== null) clearInterval(reporting);
      await node?.close();
    },
  };
}

const silent: AlertingObserver = { onIncident: () => {}, onAlert: () => {}, onDelivery: () => {} };

/** Where people open the console, as far as this server knows. */
function consoleAddress({ consoleUrl, tlsCert, host, port }: ThreadContext["config"]): string {
  return consoleUrl === "" ? `${tlsCert === "" ? "http" : "https"}://${urlHost(host)}:${port}/console` : consoleUrl;
}
