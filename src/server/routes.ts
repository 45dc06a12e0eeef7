/** The route table of a server: the rows of every handler, each with the services that it uses. */

import type { Project } from "../contract/configuration/entities.js";
import { defaultPlans } from "../contract/configuration/plans.js";
import { eraseSession } from "../control-plane/erasure/erase-session.js";
import { ExceptionWarnings } from "../control-plane/exceptions/exception-warnings.js";
import { Stats } from "../control-plane/insight/stats.js";
import { agentNames, isProvedOnly, type NamedAgentLists } from "../control-plane/lists/known-agents.js";
import { auditPage } from "../control-plane/logs/audit.js";
import { accountRoutes } from "../http/handlers/control-plane/account.js";
import { agentsRoute } from "../http/handlers/control-plane/agents.js";
import { alertRoutes } from "../http/handlers/control-plane/alerts.js";
import { auditRoute } from "../http/handlers/control-plane/audit.js";
import { blockRoute } from "../http/handlers/control-plane/blocks.js";
import { challengeSettingsRoutes } from "../http/handlers/control-plane/challenge-settings.js";
import { channelRoutes } from "../http/handlers/control-plane/channels.js";
import { declaredBotsRoute } from "../http/handlers/control-plane/declared-bots.js";
import { detectionsRoute } from "../http/handlers/control-plane/detections.js";
import { exceptionRoutes } from "../http/handlers/control-plane/exceptions.js";
import { incidentRoutes } from "../http/handlers/control-plane/incidents.js";
import { ipListsRoute } from "../http/handlers/control-plane/ip-lists.js";
import { markRoutes } from "../http/handlers/control-plane/marks.js";
import { memberRoutes } from "../http/handlers/control-plane/members.js";
import { openApiRoute } from "../http/handlers/control-plane/openapi.js";
import { projectRoutes } from "../http/handlers/control-plane/projects.js";
import { requestScoringRoutes } from "../http/handlers/control-plane/request-scoring.js";
import { ruleTestRoute } from "../http/handlers/control-plane/rule-test.js";
import { ruleRoutes } from "../http/handlers/control-plane/rules.js";
import { scoringRoutes } from "../http/handlers/control-plane/scoring.js";
import { sessionDeletionRoute } from "../http/handlers/control-plane/session-deletion-route.js";
import { sessionErasureRoute } from "../http/handlers/control-plane/session-erasure-route.js";
import { sessionQueryRoute } from "../http/handlers/control-plane/session-query-route.js";
import { sessionRoutes } from "../http/handlers/control-plane/sessions.js";
import { settingsTestRoute } from "../http/handlers/control-plane/settings-test.js";
import { signedAgentsRoute } from "../http/handlers/control-plane/signed-agents.js";
import { statsRoute } from "../http/handlers/control-plane/stats.js";
import { timelineRoute } from "../http/handlers/control-plane/timeline.js";
import { tokenRoutes } from "../http/handlers/control-plane/tokens.js";
import { trafficRoutes } from "../http/handlers/control-plane/traffic.js";
import { usageRoutes } from "../http/handlers/control-plane/usage.js";
import { verifiedBotsRoute } from "../http/handlers/control-plane/verified-bots.js";
import { challengePageRoute } from "../http/handlers/data-plane/challenge-page.js";
import { challengeRoutes } from "../http/handlers/data-plane/challenges.js";
import { forwardAuthRoutes } from "../http/handlers/data-plane/forward-auth.js";
import type { Trimming } from "../http/handlers/data-plane/header-lines.js";
import { ingestRoutes } from "../http/handlers/data-plane/ingest.js";
import { KnownHeaders, KnownLines } from "../http/handlers/data-plane/known-headers.js";
import { loggedInRoute } from "../http/handlers/data-plane/logged-in.js";
import { requestVerdictRoute } from "../http/handlers/data-plane/request-verdict.js";
import { startTicketRoutes } from "../http/handlers/data-plane/start-tickets.js";
import { verdictRoute } from "../http/handlers/data-plane/verdict.js";
import { healthRoutes } from "../http/handlers/pages/pages.js";
import type { Route } from "../http/route.js";
import type { IngestQueue } from "../ingest/queue.js";
import type { ServiceMeters } from "../metrics/service-meters.js";
import { clientIp, parseTrustedProxies, sentAddress, type TrustedProxies } from "../net/client-ip.js";
import { storedAddress } from "../net/stored-address.js";
import { ReportWait } from "../requests/report-wait.js";
import { ReportsUnderWay } from "../requests/reports-under-way.js";
import { agentNameWarnings } from "../rules/agent-names.js";
import type { Expression } from "../rules/ast.js";
import { warningsOf } from "../rules/warnings.js";
import { AccountReads } from "../runtime/account-reads.js";
import { LongWork } from "../runtime/long-work.js";
import type { Alerting } from "./build-alerting.js";
import type { ControlPlane } from "./build-control-plane.js";
import type { Recording } from "./build-recording.js";
import { meaningOf, type Verdicts } from "./build-verdicts.js";
import { consolePageRoutes, demoPageRoutes, docsPageRoutes, sdkRoutes } from "./page-routes.js";
import type { ThreadContext } from "./thread-context.js";
import type { VisitorFacts } from "./visitor-facts.js";

/** The services that routes use. */
interface RoutedServices {
  readonly thread: ThreadContext;
  readonly controlPlane: ControlPlane;
  readonly visitors: VisitorFacts;
  readonly recording: Recording;
  readonly alerting: Alerting;
  readonly verdicts: Verdicts;
  readonly queue: IngestQueue;
}

/** Builds every route. The documentation describes the routes above it and `/openapi.json`. Throws when `--trusted-proxies` can't be parsed. */
export function buildRoutes(services: RoutedServices): Route[] {
  const { config, store, isReady } = services.thread;
  const work = new LongWork();
  const reads = new AccountReads(work);
  const routes: Route[] = [
    ...dataPlaneRoutes(services),
    ...settingsRoutes(services.controlPlane, services.visitors, reads, services.thread.now),
    ...sessionsAndLogsRoutes(services, work, reads),
    ...alertingRoutes(services, work),
    ...catalogueRoutes(services.visitors),
    ...accountsRoutes(services.thread, services.controlPlane, reads),
    ...consolePageRoutes(),
    ...healthRoutes({ isReady }),
    ...sdkRoutes(() => services.visitors.agentMarkCatalogues.read()),
    ...(config.demo ? demoPageRoutes(store, services.verdicts.verdicts) : []),
  ];
  routes.push(...docsPageRoutes([...routes]));
  routes.push(openApiRoute([...routes]));
  return routes;
}

/** The routes that visitors' browsers and sites' backends call: batches, challenges, verdicts. */
function dataPlaneRoutes({ thread, controlPlane, visitors, recording, verdicts, queue }: RoutedServices): Route[] {
  const { config, log, meters, reads, disk, now, onFailure } = thread;
  const { credentials, sessions } = controlPlane;
  const { timelines, challenges, askedSessions } = recording;
  const { requestVerdicts, bandOfRequest, onDenied } = verdicts;
  const trusted = trustedProxies(config.trustedProxies);
  const visitorIp = (lastHop: string, forwardedFor: string) => clientIp(lastHop, forwardedFor, trusted);
  const onTrimmed = trimmingCounter(meters.services);
  const underWay = new ReportsUnderWay(thread.shared.reportsUnderWay);
  const wait = new ReportWait({
    ...(config.store !== "" && { load: (projectId: number, token: string) => sessions.load(projectId, token, "now") }),
    state: (projectId, token) => {
      reads.beginTimer();
      return sessions.scoredState(projectId, token);
    },
    mayReport: verdicts.mayReport,
    underWay,
    now,
  });
  return [
    ...ingestRoutes({
      queue,
      disk,
      credentials,
      clientIp: visitorIp,
      identities: visitors.identities,
      visits: visitors.visits,
      timelines,
      askedSessions,
      underWay,
      steadyInterval: config.steadyInterval,
      now,
      onFailure,
    }),
    ...startTicketRoutes({ credentials, clientIp: visitorIp, now }),
    ...challengeRoutes({ credentials, sessions, challenges, clientIp: visitorIp, bandOfRequest, onFailure }),
    verdictRoute({ credentials, verdicts: verdicts.verdicts, canonicalIp, onDenied }),
    requestVerdictRoute({
      credentials,
      requestVerdicts,
      canonicalIp,
      knownHeaders: new KnownHeaders(),
      onTrimmed,
      onTick: () => reads.begin(),
      onDenied,
      waitForReport: (project, token, waitMs, isOver) =>
        wait.wait(project, token, waitMs, isOver)?.then(() => reads.beginTimer()) ?? null,
    }),
    challengePageRoute({ credentials, requestVerdicts, canonicalIp, onTick: () => reads.begin(), onDenied }),
    loggedInRoute({ sessions, now }),
    ...forwardAuthRoutes({
      credentials,
      requestVerdicts,
      isTrusted: (socket) => trusted.has(socket),
      ja4Header: config.ja4Header,
      knownLines: new KnownLines(),
      onDenied,
      onTrimmed,
      clientIp: visitorIp,
      now,
      onLetIn: (reason, err, requestId) =>
        log.warn({ reason, err, requestId }, "forward-auth lets visitors in without a verdict"),
    }),
  ];
}

/** The routes for a project's settings and rules, and for the account. */
function settingsRoutes(
  { projects, rules }: ControlPlane,
  visitors: VisitorFacts,
  reads: AccountReads,
  now: () => number,
): Route[] {
  const warnings = (expression: Expression) => [...warningsOf(expression), ...nameWarnings(expression, visitors)];
  return [
    ...scoringRoutes(projects),
    ...requestScoringRoutes(projects),
    ...challengeSettingsRoutes(projects),
    ...ruleRoutes({ rules, warnings, reads, now }),
    ...accountRoutes(),
  ];
}

/** The routes that read stored data of visitors: sessions, timelines, blocks, counts, backtests. */
function sessionsAndLogsRoutes(
  { thread, controlPlane, visitors, recording }: RoutedServices,
  work: LongWork,
  reads: AccountReads,
): Route[] {
  const { store, meters, now } = thread;
  const { rules, sessions, marks, exceptions } = controlPlane;
  const { addresses, agents } = visitors;
  const { traffic, judgedRecords, trafficReader, timelines, blocks, flushBlocks } = recording;
  // Where it can't be stored (a full disk), what was stored before is read.
  const flushJudged = () =>
    judgedRecords
      .flush()
      .catch((err: unknown) => thread.outages.failed(err, "counts and samples of judged requests could not be stored"));
  const meter = meters.services.backtests;
  const search = { addresses, rulesOf: (project: Project) => rules.ready(project), agents };
  const backtests = {
    ...search,
    nameWarnings: (expression: Expression) => nameWarnings(expression, visitors),
    exceptionsOf: (project: Project) => exceptions.ready(project),
    traffic: trafficReader,
    flush: flushJudged,
    store,
    sessions,
    work,
    meter,
    now,
  };
  return [
    sessionErasureRoute({
      erase: async (projectId, token) => (await eraseSession(store, token, projectId)) !== null,
    }),
    ...sessionRoutes({ sessions, marks, agents, work, now }),
    ...markRoutes({ marks, work }),
    sessionQueryRoute({ ...search, store, meaningOf, work, meter, now }),
    sessionDeletionRoute({ ...search, store, work, now }),
    timelineRoute({ sessions, timelines }),
    blockRoute({ blocks, work, flush: () => flushBlocks(true) }),
    statsRoute({ stats: new Stats(store), work, flush: () => traffic.flush(), now }),
    ...trafficRoutes({ traffic: trafficReader, addresses, reads, flush: flushJudged, now }),
    ...exceptionRoutes({ exceptions, warnings: exceptionWarnings(thread, controlPlane, visitors), work, now }),
    ruleTestRoute(backtests),
    settingsTestRoute(backtests),
  ];
}

/** The routes for incidents, alerts and channels. */
function alertingRoutes({ thread: { store, now }, alerting }: RoutedServices, work: LongWork): Route[] {
  const { incidents, alerts, channels, sender, linkOf, pastMatches } = alerting;
  return [
    ...incidentRoutes(incidents, now),
    ...alertRoutes({ alerts, store, pastMatches, work, now }),
    ...channelRoutes({ channels, alerts, sender, linkOf, now }),
  ];
}

/** What is said of a new exception, by the sessions and the lists in force. */
function exceptionWarnings(
  { store, config }: ThreadContext,
  { sessions }: ControlPlane,
  visitors: VisitorFacts,
): ExceptionWarnings {
  return new ExceptionWarnings({
    store,
    sessions,
    isListed: (name) => [...namesOf(visitors)].some((each) => each.toLowerCase() === name),
    isProved: (name) => isProvedOnly(agentListsOf(visitors), name),
    storedForm: (address) => storedAddress(address, config.ipStorage),
  });
}

function nameWarnings(expression: Expression, visitors: VisitorFacts): string[] {
  return agentNameWarnings(expression, namesOf(visitors));
}

/** All that somebody listed can be called. */
function namesOf(visitors: VisitorFacts): ReadonlySet<string> {
  return agentNames(agentListsOf(visitors), visitors.agentMarkCatalogues.retired());
}

/** The lists that know agents, as they are now. */
function agentListsOf(visitors: VisitorFacts): NamedAgentLists {
  const { signedAgents, verifiedBotCatalogues, declaredBotCatalogues, agentMarkCatalogues } = visitors;
  return {
    signed: signedAgents.list(),
    verified: verifiedBotCatalogues.read(),
    declared: declaredBotCatalogues.read(),
    marks: agentMarkCatalogues.read(),
    isFoundOut: (token) => visitors.claimOf(token)?.isVerifiable === true,
  };
}

/** The routes for the lists that detections and rules use. */
function catalogueRoutes(visitors: VisitorFacts): Route[] {
  const { verifiedBotCatalogues, ipLists, signedAgents, declaredBotCatalogues } = visitors;
  return [
    verifiedBotsRoute(verifiedBotCatalogues),
    ipListsRoute(ipLists),
    signedAgentsRoute(signedAgents),
    detectionsRoute(),
    declaredBotsRoute(declaredBotCatalogues),
    agentsRoute(() => agentListsOf(visitors)),
  ];
}

/** The routes for members and tokens, the audit log, and the use of a plan. */
function accountsRoutes(
  { store, now }: ThreadContext,
  { accounts, projects }: ControlPlane,
  reads: AccountReads,
): Route[] {
  return [
    ...tokenRoutes(accounts, reads),
    ...memberRoutes(accounts, reads),
    auditRoute({
      page: (query, slices) => auditPage(store, query, slices),
      reads,
      nameOf: (userId) => store.users.get(userId)?.name ?? null,
    }),
    ...projectRoutes(projects, reads),
    ...usageRoutes({ accounts, plans: defaultPlans, now }),
  ];
}

function trustedProxies(ranges: readonly string[]): TrustedProxies {
  const trusted = parseTrustedProxies(ranges.join(","));
  if ("faults" in trusted) throw new Error(trusted.faults.join("; "));
  return trusted;
}

/** Counts requests that were only partly checked. */
function trimmingCounter(meters: ServiceMeters): (trimming: Trimming) => void {
  return ({ isCut, isOver, isIgnored }) => {
    if (isCut) meters.add("requestsCut");
    if (isOver) meters.add("requestsOver");
    if (isIgnored) meters.add("requestsIgnored");
  };
}

function canonicalIp(text: string): string | undefined {
  return sentAddress(text) || undefined;
}
