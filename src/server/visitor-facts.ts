/** Composes the facts about a visitor besides its session: the bot it is or claims to be, its signature, its network, its rate. */

import { createDeclaredBots } from "../bots/declared/declared-bots.js";
import { createAgentMarks } from "../bots/marks/agent-marks.js";
import { AgentRefresh } from "../bots/signed/agent-refresh.js";
import { directoryFetcher } from "../bots/signed/directory-fetch.js";
import { Nonces } from "../bots/signed/nonces.js";
import { createSignedAgents } from "../bots/signed/signed-agents.js";
import { createClaimMatcher, shippedClaimTokens } from "../bots/verified/claims.js";
import { createReverseDns, type ReverseDns } from "../bots/verified/reverse-dns.js";
import { createVerifiedBots, type VerifiedBots } from "../bots/verified/verified-bots.js";
import type { DeclaredBot, DeclaredBotCatalogue } from "../contract/bots/declared-bots.js";
import { AgentMarkCatalogues } from "../control-plane/lists/agent-mark-catalogue.js";
import { DeclaredBotCatalogues } from "../control-plane/lists/declared-bot-catalogue.js";
import { IpLists } from "../control-plane/lists/ip-lists.js";
import { SignedAgentStore } from "../control-plane/lists/signed-agent-store.js";
import { VerifiedBotCatalogues } from "../control-plane/lists/verified-bot-catalogue.js";
import { scoreRequest } from "../engines/score-request.js";
import { VisitorIdentities } from "../ingest/visitor-identities.js";
import { limits } from "../limits.js";
import { NetworkFacts } from "../network/network-facts.js";
import type { ExaminerSources } from "../requests/examiner.js";
import { RequestRates } from "../requests/rates.js";
import { Visits } from "../requests/visits.js";
import { TextMemo } from "../runtime/text-memo.js";
import type { AgentLists } from "../verdict/known-agent.js";
import { builtFromCurrent } from "./built-from-current.js";
import type { ThreadContext } from "./thread-context.js";

/** The services that `buildVisitorFacts` returns. */
export type VisitorFacts = ReturnType<typeof buildVisitorFacts>;

/** Builds the current catalogues of bots, agents and IP lists, and the look-ups on them for verdicts, batches and searches. */
export function buildVisitorFacts(thread: ThreadContext) {
  const { config, store, shared, reads, now } = thread;
  const revision = () => reads.revision();
  const reverseDns = createReverseDns({
    ...(config.dnsServers.length > 0 && { servers: config.dnsServers }),
    now,
  });
  const verifiedBotCatalogues = new VerifiedBotCatalogues(store, revision);
  const bots = currentBots(verifiedBotCatalogues, reverseDns);
  const identities = new VisitorIdentities(bots);
  const declaredBotCatalogues = new DeclaredBotCatalogues(store, revision);
  const declaredBots = builtFromCurrent(() => declaredBotCatalogues.read(), rememberedBots);
  const declaredBotOf = (userAgent: string) => declaredBots().of(userAgent);
  const agentMarkCatalogues = new AgentMarkCatalogues(store, revision);
  const agentMarks = builtFromCurrent(
    () => agentMarkCatalogues.read(),
    (list) => createAgentMarks(list, agentMarkCatalogues.retired()),
  );
  const agents: AgentLists = { declaredBot: declaredBotOf, marked: (marks) => agentMarks().of(marks) };
  const network = new NetworkFacts(shared.network);
  const ipLists = new IpLists(store, (address) => network.of(address).asn, revision);
  const addresses = { networkOf: (ip: string) => network.of(ip), listsOf: (ip: string) => ipLists.namesOf(ip) };
  const { signedAgents, judgeSignature, agentRefresh } = buildSignedAgents(thread);
  const requestRates = new RequestRates(shared.requestRates);
  const examiner: ExaminerSources = {
    declaredBots,
    identities,
    judgeSignature,
    countRequest: (projectId, ip, nowMs) => requestRates.count(projectId, ip, nowMs),
    score: scoreRequest,
  };
  return {
    reverseDns,
    verifiedBotCatalogues,
    verifiedBotAt: (ip: string) => bots().lookup(ip) ?? null,
    identities,
    /** Whom a user agent claims to be. */
    claimOf: (userAgent: string) => bots().claim(userAgent),
    declaredBotCatalogues,
    declaredBotOf,
    agentMarkCatalogues,
    agents,
    network,
    ipLists,
    addresses,
    signedAgents,
    agentRefresh,
    visits: new Visits(shared.visits, config.store === ""),
    /** Builds what judges a single request. */
    examiner,
  };
}

/** As `createDeclaredBots`. A verdict asks up to three times, and many visitors have one user agent. */
function rememberedBots(catalogue: DeclaredBotCatalogue): ReturnType<typeof createDeclaredBots> {
  const bots = createDeclaredBots(catalogue);
  const known = new TextMemo<{ readonly bot: DeclaredBot | undefined }>(limits.declaredBotsKnown);
  return {
    of(userAgent) {
      let found = known.get(userAgent);
      if (found === undefined) {
        found = { bot: bots.of(userAgent) };
        known.set(userAgent, found);
      }
      return found.bot;
    },
  };
}

/** Builds the list of agents that sign requests, the judge of signatures, and the fetcher of their keys, which starts later. */
function buildSignedAgents({ config, log, store, meters, shared, outages, reads, now }: ThreadContext) {
  const counts = meters.services;
  const signedAgents = new SignedAgentStore(store, () => reads.revision());
  const judged = createSignedAgents({
    agents: () => signedAgents.keyed(),
    nonces: new Nonces(shared.nonces, () => counts.add("noncesForgotten")),
    allowTestKeys: config.allowTestKeys,
    onJudged: (state) => counts.add(signatureCells[state]),
    onShed: () => counts.add("signaturesShed"),
    onForeign: () => counts.add("signaturesForeign"),
  });
  const judgeSignature: ExaminerSources["judgeSignature"] = (request) => judged.judge(request);
  const agentRefresh = new AgentRefresh({
    keeper: signedAgents,
    fetch: directoryFetcher(),
    now,
    ...(store.leases !== undefined && { mayFetch: () => store.leases!.take("agents", limits.agentLeaseMs) }),
    onFetched: (url, failure) => {
      counts.add(failure === null ? "agentFetches" : "agentFetchFailures");
      if (failure !== null) log.warn({ agent: url, failure }, "the keys of a signed agent could not be fetched");
    },
    onFailure: (err) => outages.failed(err, "the keys of signed agents could not be refreshed"),
  });
  return { signedAgents, judgeSignature, agentRefresh };
}

/** Counts requests with a signature. */
const signatureCells = {
  verified: "signaturesVerified",
  unverified: "signaturesUnverified",
  invalid: "signaturesInvalid",
} as const;

/** The verified bots of the current catalogue. */
function currentBots(catalogues: VerifiedBotCatalogues, reverseDns: ReverseDns): () => VerifiedBots {
  const claims = createClaimMatcher(shippedClaimTokens());
  return builtFromCurrent(
    () => catalogues.read(),
    (catalogue) => createVerifiedBots({ catalogue, claims, reverseDns }),
  );
}
