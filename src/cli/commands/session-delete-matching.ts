/** `verdictd session delete-matching`: deletes the sessions that an expression holds for, once somebody has agreed to their number. */

import { createDeclaredBots } from "../../bots/declared/declared-bots.js";
import { createAgentMarks } from "../../bots/marks/agent-marks.js";
import { readServeConfig } from "../../config/config.js";
import type { Project } from "../../contract/configuration/entities.js";
import type { AddressLookup } from "../../contract/evidence/network-fact.js";
import { isoDateOrTimeMs } from "../../contract/values/iso-time.js";
import {
  type DeletedSessions,
  type DeletionServices,
  deleteSessions,
  type SessionDeletion,
} from "../../control-plane/erasure/delete-sessions.js";
import { AgentMarkCatalogues } from "../../control-plane/lists/agent-mark-catalogue.js";
import { DeclaredBotCatalogues } from "../../control-plane/lists/declared-bot-catalogue.js";
import { IpLists } from "../../control-plane/lists/ip-lists.js";
import { Rules } from "../../control-plane/rules/rules.js";
import { NetworkFacts } from "../../network/network-facts.js";
import { loadNetworkFacts } from "../../network/network-files.js";
import { LongWork } from "../../runtime/long-work.js";
import type { Store } from "../../store/store.js";
import type { StoreCommand } from "../command.js";
import type { Given } from "../flag.js";
import { expectDone, idOf, textOf } from "../given.js";
import { CommandFailure, isTyped, say, UsageFailure } from "../output.js";

interface Deleted {
  readonly scanned: number;
  readonly matched: number;
  readonly deleted: number;
  readonly unavailable_fields: readonly string[];
}

/** Prints the counts. Deletes at most as many as were agreed to; `--dry-run` deletes nothing, `--yes` asks nothing. */
export const deleteMatchingCommand: StoreCommand<Deleted> = {
  name: "session delete-matching",
  help: "delete the sessions that match an expression; asks before it deletes, and can be interrupted",
  onCluster: "same",
  positionals: [{ name: "EXPRESSION", help: "as in rules, such as 'band == \"definite\"'" }],
  flags: [
    { name: "project", placeholder: "ID", help: "project id", isRequired: true },
    { name: "from", placeholder: "TIME", help: "only sessions that began then or later (ISO-8601)", isRequired: true },
    { name: "to", placeholder: "TIME", help: "only sessions that began before then (default now)" },
    {
      name: "ip-database",
      placeholder: "FILE",
      help: "as for serve, if the expression uses countries or networks",
      isRepeatable: true,
    },
    { name: "dry-run", help: "count them, and delete nothing" },
    { name: "yes", help: "do not ask" },
  ],
  run: async (store, given) => {
    const project = store.projects.get(idOf(given, "project"));
    if (project === undefined) throw new CommandFailure(`there is no project ${given["project"]}`);
    const isAborted = abortedBySignal();
    const services = await servicesOf(store, given);
    const asked = { services, project, given, isAborted, untilMs: timeOf(given, "to") ?? Date.now() };
    const counted = await all(asked, true, Number.POSITIVE_INFINITY);
    if (given["dry-run"] !== undefined || counted.matched === 0) return counted;
    if (given["yes"] === undefined) await agreed(counted.matched, project);
    return all(asked, false, counted.matched);
  },
  failure: ({ matched, deleted }) =>
    deleted > 0 && deleted < matched ? "interrupted: what is counted above is deleted" : null,
};

interface Asked {
  readonly services: DeletionServices;
  readonly project: Project;
  readonly given: Given;
  readonly untilMs: number;
  readonly isAborted: () => boolean;
}

/** Goes through the whole time, call by call. */
async function all(
  { services, project, given, untilMs, isAborted }: Asked,
  isDryRun: boolean,
  atMost: number,
): Promise<Deleted> {
  const work = new LongWork();
  const sum = { scanned: 0, matched: 0, deleted: 0, unavailable_fields: [] as readonly string[] };
  const fromMs = timeOf(given, "from")!;
  if (fromMs >= untilMs) throw new UsageFailure("--from must be before --to");
  for (let cursor: string | null = null; ; ) {
    const deletion: SessionDeletion = {
      expressionSource: textOf(given, "EXPRESSION"),
      fromMs,
      untilMs,
      isDryRun,
      cursor,
      atMost: atMost - sum.deleted,
    };
    const slices = work.begin(isAborted);
    const found: DeletedSessions | null = expectDone(
      await deleteSessions(services, project, deletion, slices, Date.now),
    );
    if (found === null) {
      if (sum.deleted === 0) throw new CommandFailure("interrupted: nothing was deleted");
      return sum;
    }
    sum.scanned += found.scanned;
    sum.matched += found.matched;
    sum.deleted += found.deleted;
    sum.unavailable_fields = found.unavailableFields;
    cursor = found.nextCursor;
    if (cursor === null || isAborted()) return sum;
  }
}

/** What an expression can ask of sessions, as the server knows it. */
async function servicesOf(store: Store, given: Given): Promise<DeletionServices> {
  const rules = new Rules(store, Date.now);
  const agentMarks = new AgentMarkCatalogues(store);
  const marks = createAgentMarks(agentMarks.read(), agentMarks.retired());
  const bots = createDeclaredBots(new DeclaredBotCatalogues(store).read());
  return {
    store,
    addresses: await addressesOf(store, given),
    rulesOf: (project) => rules.ready(project),
    agents: { declaredBot: (userAgent) => bots.of(userAgent), marked: (found) => marks.of(found) },
  };
}

/** Countries, networks and lists of addresses as the server knows them. */
async function addressesOf(store: Store, given: Given): Promise<AddressLookup> {
  const read = readServeConfig({ "ip-database": given["ip-database"] }, process.env);
  if ("mistakes" in read) throw new UsageFailure(read.mistakes.join("\n"));
  const network = new NetworkFacts(await loadNetworkFacts(read.config.ipDatabase));
  const lists = new IpLists(store, (address) => network.of(address).asn);
  return { networkOf: (ip) => network.of(ip), listsOf: (ip) => lists.namesOf(ip) };
}

/** Ctrl-C ends after the transaction that is under way. */
function abortedBySignal(): () => boolean {
  let isAborted = false;
  process.once("SIGINT", () => {
    isAborted = true;
  });
  return () => isAborted;
}

async function agreed(count: number, { id, name }: Project): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new CommandFailure(`${count} sessions match: --yes deletes them, --dry-run only counts`);
  }
  say(`${count} sessions of project ${id} "${name}" match, and can't be restored once they are deleted.`);
  if (!(await isTyped(`Type ${count} to delete them: `, String(count))))
    throw new CommandFailure("nothing was deleted");
}

function timeOf(given: Given, name: string): number | null {
  const text = given[name];
  if (text === undefined) return null;
  const ms = isoDateOrTimeMs(text);
  if (Number.isNaN(ms)) throw new UsageFailure(`--${name}: expected an ISO-8601 date, or date and time, got "${text}"`);
  return ms;
}
