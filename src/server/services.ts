/**
 * What one HTTP thread is made of behind its listener: the services on the store, and the routes that offer them. Called by the
 * composition root only; starts nothing.
 */
import { readdirSync } from "node:fs";
import type { Piscina } from "piscina";
import { assetPath, readAsset, readCompressedAsset } from "../assets.js";
import { Credentials } from "../auth/credentials.js";
import { TokenUses } from "../auth/token-uses.js";
import { ChallengingRules } from "../challenge/challenging-rules.js";
import type { OutageLog } from "../cluster-store/outage-log.js";
import { bytesOfMib, type ServeConfig } from "../config/config.js";
import type { Project } from "../contract/entities.js";
import { defaultPlans } from "../contract/plans.js";
import type { ProjectSettings } from "../contract/session.js";
import { Accounts } from "../control-plane/accounts.js";
import { auditPage } from "../control-plane/audit.js";
import { Challenges } from "../control-plane/challenges.js";
import { DeclaredBotCatalogues } from "../control-plane/declared-bot-catalogue.js";
import { IpLists } from "../control-plane/ip-lists.js";
import { Marks } from "../control-plane/marks.js";
import { Projects } from "../control-plane/projects.js";
import { Rules } from "../control-plane/rules.js";
import { Sessions } from "../control-plane/sessions.js";
import { eraseSession } from "../control-plane/sessions-erase.js";
import { SignedAgentStore } from "../control-plane/signed-agent-store.js";
import { Stats } from "../control-plane/stats.js";
import { VerifiedBotCatalogues } from "../control-plane/verified-bot-catalogue.js";
import { createDeclaredBots, type DeclaredBots } from "../declared-bots/declared-bots.js";
import { detections } from "../detections/catalogue.js";
import { docPages, type RenderedPage } from "../docs/pages.js";
import { searchSections } from "../docs/search-index.js";
import { scoreRequest } from "../engines/score-request.js";
import { accountRoutes } from "../http/handlers/control-plane/account.js";
import { auditRoute } from "../http/handlers/control-plane/audit.js";
import { blockRoute } from "../http/handlers/control-plane/blocks.js";
import { challengeSettingsRoutes } from "../http/handlers/control-plane/challenge-settings.js";
import { declaredBotsRoute } from "../http/handlers/control-plane/declared-bots.js";
import { detectionsRoute } from "../http/handlers/control-plane/detections.js";
import { ipListsRoute } from "../http/handlers/control-plane/ip-lists.js";
import { markRoutes } from "../http/handlers/control-plane/marks.js";
import { memberRoutes } from "../http/handlers/control-plane/members.js";
import { openApiRoute } from "../http/handlers/control-plane/openapi.js";
import { requestScoringRoutes } from "../http/handlers/control-plane/request-scoring.js";
import { ruleTestRoute } from "../http/handlers/control-plane/rule-test.js";
import { ruleRoutes } from "../http/handlers/control-plane/rules.js";
import { scoringRoutes } from "../http/handlers/control-plane/scoring.js";
import { sessionDeletionRoute } from "../http/handlers/control-plane/session-deletion.js";
import { sessionErasureRoute } from "../http/handlers/control-plane/session-erase.js";
import { sessionQueryRoute } from "../http/handlers/control-plane/session-query.js";
import { sessionRoutes } from "../http/handlers/control-plane/sessions.js";
import { signedAgentsRoute } from "../http/handlers/control-plane/signed-agents.js";
import { statsRoute } from "../http/handlers/control-plane/stats.js";
import { timelineRoute } from "../http/handlers/control-plane/timeline.js";
import { tokenRoutes } from "../http/handlers/control-plane/tokens.js";
import { usageRoutes } from "../http/handlers/control-plane/usage.js";
import { verifiedBotsRoute } from "../http/handlers/control-plane/verified-bots.js";
import { challengeRoutes } from "../http/handlers/data-plane/challenges.js";
import { forwardAuthRoutes } from "../http/handlers/data-plane/forward-auth.js";
import { ingestRoutes } from "../http/handlers/data-plane/ingest.js";
import { loggedInRoute } from "../http/handlers/data-plane/logged-in.js";
import { requestVerdictRoute } from "../http/handlers/data-plane/request-verdict.js";
import { startTicketRoutes } from "../http/handlers/data-plane/start-tickets.js";
import { type OnBlocked, verdictRoute } from "../http/handlers/data-plane/verdict.js";
import type { Trimming } from "../http/handlers/data-plane/verdict-body.js";
import { type ConsoleFiles, consoleRoutes } from "../http/handlers/pages/console.js";
import { demoRoutes } from "../http/handlers/pages/demo.js";
import { docsRoutes } from "../http/handlers/pages/docs.js";
import { healthRoutes, type Page, pageRoute } from "../http/handlers/pages/pages.js";
import type { Route } from "../http/route.js";
import { IngestQueue } from "../ingest/queue.js";
import { VisitorIdentities } from "../ingest/visitor-identities.js";
import { limits } from "../limits.js";
import { liveVerdict, VerdictFeed } from "../live/verdict-feed.js";
import type { ThreadMeters } from "../metrics/thread-meters.js";
import { canonicalAddress } from "../net/address-text.js";
import { clientIp, parseTrustedProxies } from "../net/client-ip.js";
import { storedAddress } from "../net/stored-address.js";
import { subscriberNetwork } from "../net/subscriber-network.js";
import { NetworkFacts } from "../network/network-facts.js";
import { addressSubject, Blocks, sessionSubject } from "../recording/blocks.js";
import { Timelines } from "../recording/timelines.js";
import { TrafficCounter } from "../recording/traffic.js";
import { examine } from "../requests/examiner.js";
import { RequestRates } from "../requests/rates.js";
import type { Logger } from "../runtime/log.js";
import { LongWork } from "../runtime/long-work.js";
import { AgentRefresh } from "../signed-agents/agent-refresh.js";
import { directoryFetcher } from "../signed-agents/directory-fetch.js";
import { Nonces } from "../signed-agents/nonces.js";
import { createSignedAgents, type SignedRequest } from "../signed-agents/signed-agents.js";
import { DiskRoom } from "../store/disk-room.js";
import { type Store, TickReads } from "../store/store.js";
import { type RequestVerdictSources, RequestVerdicts } from "../verdict/request-verdicts.js";
import { RuleBudgetWatch } from "../verdict/rule-budget-watch.js";
import { hasState, VerdictReader } from "../verdict/verdict-reader.js";
import { createClaimMatcher, shippedClaimTokens } from "../verified-bots/claims.js";
import { createReverseDns, type ReverseDns } from "../verified-bots/reverse-dns.js";
import { createVerifiedBots, type VerifiedBots } from "../verified-bots/verified-bots.js";
import type { SharedMemory } from "./shared-memory.js";

/** Everything that one HTTP thread serves, and the route table over it. */
export function buildServices(
  config: ServeConfig,
  log: Logger,
  store: Store,
  pool: Piscina<Uint8Array, Uint8Array>,
  { services: meters, challenges: challengeMeters }: ThreadMeters,
  isReady: () => boolean,
  shared: SharedMemory,
  outages: OutageLog,
) {
  const now = Date.now;
  const reads = new TickReads(store);
  const credentials = new Credentials(store, () => reads.revision());
  const accounts = new Accounts(store, now);
  const projects = new Projects(store, now);
  const rules = new Rules(store, now);
  const sessions = new Sessions(store);
  const traffic = new TrafficCounter(store);
  const challengingRules = new ChallengingRules(shared.challengingRules);
  const challenges = new Challenges({
    store,
    causeOf: (project, token, nowMs) => challengingRules.take(project.id, token, nowMs),
    onEvent: (event) => {
      const counts = { [event.what]: 1, ...(event.what === "passed" && { passedMs: event.tookMs }) };
      traffic.countChallenge(event.projectId, event.rule, counts, now());
      challengeMeters.add(event.projectId, event.rule, counts);
    },
    now,
  });
  const blocks = new Blocks(store, now);
  const disk = new DiskRoom({
    dataDir: config.dataDir,
    now: () => performance.now(),
    onChange: (hasRoom, freeBytes) => {
      if (hasRoom) log.info({ freeBytes }, "the disk has room again: batches are accepted");
      else log.error({ freeBytes }, "the disk is almost full: batches are refused until there is room");
    },
  });
  const queue = new IngestQueue({
    run: (frame) => pool.run(frame, { transferList: [frame.buffer] }),
    tasksMax: pool.threads.length * limits.tasksInFlightPerThread,
    sampleAboveBytes: bytesOfMib(config.sampleAboveMb),
    shedAboveBytes: bytesOfMib(config.queueMb),
    meter: meters,
    onFailure: (err) => log.error({ err }, "a batch could not be answered"),
  });
  const onFailure = (error: unknown, requestId: string): void => log.error({ err: error, requestId }, "request failed");
  const feed = new VerdictFeed();
  const timelines = new Timelines({ store, credentials, sessionsMax: config.trailSessions, now });
  const work = new LongWork();
  const tokenUses = new TokenUses(store, now, (err) =>
    outages.failed(err, "the last use of a token could not be stored"),
  );
  const overBudget = new RuleBudgetWatch({
    onEach: () => meters.add("verdictsOverRuleBudget"),
    warn: (projectId) =>
      log.warn(
        { projectId },
        "the rules of a project exceed the budget of one verdict: its last rules are not evaluated",
      ),
  });
  const meanings = new Map(detections.map((detection) => [detection.id, detection.meaning]));
  const meaningOf = (id: number): string => meanings.get(id) ?? "";
  const flushBlocks = (isAll = false): Promise<void> =>
    blocks.flush(isAll).then(
      (count) => meters.add("blocksRecorded", count),
      (err: unknown) => outages.failed(err, "blocks could not be stored"),
    );
  const reverseDns = createReverseDns({
    ...(config.dnsServers.length > 0 && { servers: config.dnsServers }),
    now,
  });
  const catalogues = new VerifiedBotCatalogues(store, () => reads.revision());
  const bots = currentBots(catalogues, reverseDns);
  const declaredBotLists = new DeclaredBotCatalogues(store, () => reads.revision());
  const network = new NetworkFacts(shared.network);
  const requestRates = new RequestRates(shared.requestRates);
  const declaredBots = currentDeclaredBots(declaredBotLists);
  const ipLists = new IpLists(
    store,
    (address) => network.of(address).asn,
    () => reads.revision(),
  );
  const agents = new SignedAgentStore(store, () => reads.revision());
  const signedAgents = createSignedAgents({
    agents: () => agents.keyed(),
    nonces: new Nonces(shared.nonces, () => meters.add("noncesForgotten")),
    allowTestKeys: config.allowTestKeys,
    onJudged: (state) => meters.add(signatureCells[state]),
    onShed: () => meters.add("signaturesShed"),
  });
  const agentRefresh = new AgentRefresh({
    keeper: agents,
    fetch: directoryFetcher(),
    now,
    ...(store.leases !== undefined && { mayFetch: () => store.leases!.take("agents", limits.agentLeaseMs) }),
    onFetched: (url, failure) => {
      meters.add(failure === null ? "agentFetches" : "agentFetchFailures");
      if (failure !== null) log.warn({ agent: url, failure }, "the keys of a signed agent could not be fetched");
    },
    onFailure: (err) => outages.failed(err, "the keys of signed agents could not be refreshed"),
  });
  const identities = new VisitorIdentities(bots);
  const addresses = { networkOf: (ip: string) => network.of(ip), listsOf: (ip: string) => ipLists.namesOf(ip) };
  const declaredBotOf = (userAgent: string) => declaredBots().of(userAgent);
  const search = { addresses, rulesOf: (project: Project) => rules.ready(project), declaredBotOf };
  const examiner = {
    declaredBot: declaredBotOf,
    identities,
    judgeSignature: (request: SignedRequest) => signedAgents.judge(request),
    countRequest: (projectId: number, ip: string, nowMs: number) => requestRates.count(projectId, ip, nowMs),
    score: scoreRequest,
  };
  const sources: RequestVerdictSources = {
    ...(config.store !== "" && {
      load: (project: ProjectSettings, token: string) =>
        sessions.load(project.id, token, hasState(project) ? "now" : "recent"),
      isUnanswered: (projectId: number, token: string) => sessions.isUnanswered(projectId, token),
    }),
    scoredState: (projectId, token) => sessions.scoredState(projectId, token),
    stateStamp: (project, token, nowMs) => sessions.stateStamp(project, token, nowMs),
    rulesOf: (project) => rules.ready(project),
    verifiedBotAt: (ip) => bots().lookup(ip) ?? null,
    addresses,
    examine: (project, question, part, nowMs) => examine(examiner, project.id, question, part?.last ?? null, nowMs),
    meaningOf,
    onComputed: (project, token, context, { blocked, rule, logged, verdict, isOverBudget }) => {
      if (isOverBudget) overBudget.note(project.id, now());
      if (rule !== null) {
        const matched = logged.includes(rule) ? logged : [...logged, rule];
        traffic.countRules(project.id, matched, token === null ? "request" : "session", now());
      }
      if (verdict.action === "challenge" && rule !== null && token !== null) {
        challengingRules.note(project.id, token, rule.id);
      }
      if (!blocked || rule === null) return;
      if (!disk.hasRoom) {
        meters.add("blocksFailed");
        return;
      }
      const ip = token === null ? storedAddress(context.ip ?? "", config.ipStorage) : "";
      const block = {
        projectId: project.id,
        sessionToken: token,
        verdict: verdict.verdict,
        score: verdict.score,
        reason: verdict.reason,
        detectionIds: verdict.detection_ids,
        source: "rule",
        ruleId: rule.id,
        path: context.path ?? null,
        createdAt: new Date(now()).toISOString(),
        ...(ip !== "" && { ip }),
      } as const;
      const subject = token === null ? addressSubject(subscriberNetwork(context.ip ?? "")) : sessionSubject(token);
      if (!blocks.record(block, subject)) meters.add("blocksFailed");
    },
    onAnswer: (project, verdict, source, subject, token, context, nowMs) => {
      traffic.countVerdict(project.id, verdict.verdict, verdict.action, subject, nowMs);
      meters.countVerdict(verdict.verdict, verdict.action, source, subject);
      if (feed.isFollowed) feed.show(liveVerdict(project.id, token, verdict, source, context, nowMs));
    },
    onFailure: (err) => {
      meters.add("verdictFailures");
      log.error({ err }, "a verdict failed open");
    },
    now,
  };
  const onBlocked: OnBlocked = (projectId, token, ip, requestId) => {
    const isKnown = token !== null && blocks.refer(projectId, sessionSubject(token), requestId);
    if (!isKnown) blocks.refer(projectId, addressSubject(subscriberNetwork(ip ?? "")), requestId);
  };
  const verdicts = new VerdictReader({
    ttlMs: config.verdictTtl * 1000,
    cacheBytesMax: bytesOfMib(config.verdictCacheMb),
    sources,
  });
  const requestVerdicts = new RequestVerdicts(sources, verdicts);
  // Built now and not by the first request: it takes about a tenth of a second.
  bots();
  const marks = new Marks(store, sessions, now);
  const state = { stopping: false };
  const trusted = parseTrustedProxies(config.trustedProxies.join(","));
  if ("faults" in trusted) throw new Error(trusted.faults.join("; "));
  const onTrimmed = ({ isCut, isOver, isIgnored }: Trimming): void => {
    if (isCut) meters.add("requestsCut");
    if (isOver) meters.add("requestsOver");
    if (isIgnored) meters.add("requestsIgnored");
  };
  const routes: Route[] = [
    ...ingestRoutes({
      queue,
      disk,
      credentials,
      clientIp: (socket, xff) => clientIp(socket, xff, trusted),
      identities,
      timelines,
      now,
      onFailure,
    }),
    ...startTicketRoutes({ credentials, clientIp: (socket, xff) => clientIp(socket, xff, trusted), now }),
    ...challengeRoutes({ credentials, sessions, challenges, onFailure }),
    verdictRoute({ credentials, verdicts, canonicalIp, onBlocked }),
    requestVerdictRoute({
      credentials,
      requestVerdicts,
      canonicalIp,
      onTrimmed,
      onTick: () => reads.begin(),
      onBlocked,
    }),
    loggedInRoute({ sessions, now }),
    ...forwardAuthRoutes({
      credentials,
      requestVerdicts,
      isTrusted: (socket) => trusted.has(socket),
      ja4Header: config.ja4Header,
      onBlocked,
      onTrimmed,
      clientIp: (lastHop, xff) => clientIp(lastHop, xff, trusted),
      now,
      onLetIn: (reason, err, requestId) =>
        log.warn({ reason, err, requestId }, "forward-auth lets visitors in without a verdict"),
    }),
    ...scoringRoutes(projects),
    ...requestScoringRoutes(projects),
    ...challengeSettingsRoutes(projects),
    ...ruleRoutes(rules),
    ...accountRoutes(),
    sessionErasureRoute({
      erase: async (projectId, token) => (await eraseSession(store, token, projectId)) !== null,
    }),
    ...sessionRoutes({ sessions, marks, work, now }),
    ...markRoutes({ marks, work }),
    sessionQueryRoute({ ...search, store, meaningOf, work, meter: meters.backtests, now }),
    sessionDeletionRoute({ ...search, store, work, now }),
    timelineRoute({ sessions, timelines }),
    blockRoute({ blocks, work, flush: () => flushBlocks(true) }),
    statsRoute({ stats: new Stats(store), work, flush: () => traffic.flush(), now }),
    ruleTestRoute({ store, sessions, addresses, declaredBotOf, work, meter: meters.backtests, now }),
    verifiedBotsRoute(catalogues),
    ipListsRoute(ipLists),
    signedAgentsRoute(agents),
    detectionsRoute(),
    declaredBotsRoute(declaredBotLists),
    ...tokenRoutes(accounts),
    ...memberRoutes(accounts),
    auditRoute({
      page: (query) => auditPage(store, query),
      nameOf: (userId) => store.users.get(userId)?.name ?? null,
    }),
    ...usageRoutes({ accounts, projects, plans: defaultPlans, now }),
    ...consoleRoutes(consoleFiles()),
    ...healthRoutes({ isReady }),
    ...sdkPages().map(pageRoute),
    pageRoute(clientPackage()),
    ...(config.demo ? demoPages(store, verdicts) : []),
  ];
  const pages = docPages(renderedDocs(), [...routes]);
  routes.push(
    ...docsRoutes({
      pages,
      style: readCompressedAsset("docs/docs.css"),
      script: readCompressedAsset("docs/docs.js"),
      searchIndex: () => JSON.stringify(searchSections(pages.map(({ path, html }) => ({ path, html: html() })))),
    }),
  );
  routes.push(openApiRoute([...routes]));
  return Object.assign(state, {
    reads,
    credentials,
    accounts,
    projects,
    traffic,
    flushBlocks,
    timelines,
    tokenUses,
    queue,
    reverseDns,
    signedAgents,
    agentRefresh,
    network,
    ipLists,
    requestRates,
    declaredBots,
    feed,
    routes,
    onFailure,
  });
}

/** Where requests with a signature are counted. */
const signatureCells = {
  verified: "signaturesVerified",
  unverified: "signaturesUnverified",
  invalid: "signaturesInvalid",
} as const;

/** The declared bots of the list in force, built when they are first asked for, and anew only when another list is imported. */
function currentDeclaredBots(catalogues: DeclaredBotCatalogues): () => DeclaredBots {
  let built: { readonly from: object; readonly bots: DeclaredBots } | null = null;
  return () => {
    const catalogue = catalogues.read();
    if (built?.from !== catalogue) built = { from: catalogue, bots: createDeclaredBots(catalogue) };
    return built.bots;
  };
}

/** The verified bots of the catalogue in force, built anew only when another is imported. */
function currentBots(catalogues: VerifiedBotCatalogues, reverseDns: ReverseDns): () => VerifiedBots {
  const claims = createClaimMatcher(shippedClaimTokens());
  let built: { readonly from: object; readonly bots: VerifiedBots } | null = null;
  return () => {
    const catalogue = catalogues.read();
    if (built?.from !== catalogue)
      built = { from: catalogue, bots: createVerifiedBots({ catalogue, claims, reverseDns }) };
    return built.bots;
  };
}

function sdkPages(): Page[] {
  const script = (name: string, summary: string): Page => ({
    path: `/${name}`,
    summary,
    contentType: "text/javascript; charset=utf-8",
    body: readCompressedAsset(`sdk/${name}`),
    // Any site may load it; an hour of caching bounds how long an old one lives on.
    cacheControl: "public, max-age=3600",
    headers: [
      ["Access-Control-Allow-Origin", "*"],
      ["Cross-Origin-Resource-Policy", "cross-origin"],
    ],
  });
  return [
    script("sdk.js", "The browser SDK"),
    script("sdk-probes.js", "The SDK's second file, loaded once the first has reported"),
    script("challenge.js", "What passes verdictd's own challenge"),
  ];
}

/** What `npm install` takes, so that a backend's client is always of the server's version. */
function clientPackage(): Page {
  const body = readAsset("verdictd-client.tgz");
  const path = "/verdictd-client.tgz";
  return { path, summary: "The npm package `verdictd-client`", contentType: "application/gzip", body };
}

function consoleFiles(): ConsoleFiles {
  const [html, script, style] = ["index.html", "console.js", "console.css"].map((name) =>
    readCompressedAsset(`console/${name}`),
  );
  return { html: html!, script: script!, style: style! };
}

/** The documentation as the build rendered it. */
function renderedDocs(): RenderedPage[] {
  return readdirSync(assetPath("docs"))
    .filter((name) => name.endsWith(".html"))
    .map((name) => ({
      path: name === "index.html" ? "/docs" : `/docs/${name.slice(0, -".html".length)}`,
      html: readAsset(`docs/${name}`).toString("utf8"),
    }));
}

function demoPages(store: Store, verdicts: VerdictReader): Route[] {
  const demoProject = (): Project | null => {
    for (const { value } of store.projects.getRange({})) if (value.siteKey !== null) return value;
    return null;
  };
  const page = (name: string, contentType: string): Page => ({
    path: `/demo/${name}`,
    contentType,
    body: readCompressedAsset(`demo/${name}`),
  });
  return [
    ...demoRoutes({ demoProject, verdicts, html: readAsset("demo/index.html").toString("utf8") }),
    pageRoute(page("demo.js", "text/javascript; charset=utf-8")),
    pageRoute(page("demo.css", "text/css; charset=utf-8")),
  ];
}

function canonicalIp(text: string): string | undefined {
  return canonicalAddress(text) || undefined;
}
