/** Recorded blocks, the latest first, with a search over those that were read. */
import { useState } from "preact/hooks";
import { agentWords } from "../../contract/bots/agents.js";
import type { ExceptionRow } from "../../contract/configuration/exceptions.js";
import type { BlockRow } from "../../contract/traffic/block-answers.js";
import { referenceIn } from "../../contract/verdicts/reference.js";
import type { Api } from "../api.js";
import { timeAround } from "../explore-view.js";
import { equalTo } from "../expression.js";
import { hashOf, useAddressed } from "../location.js";
import { useLog } from "../log.js";
import type { AddressedPageProperties } from "../page-properties.js";
import { Fault, Folded, FreshnessLine, Loaded, PageTitle, ReadOlder, SearchField, Table, Time } from "../parts.js";
import { useResource } from "../resource.js";
import { bandWords, count, plural } from "../words.js";
import { ExploredBand, ExploredDetection, ExploredNumber, ExploredText, ExploredWho } from "./explored.js";
import { exceptionsOf, LetThroughButton, LetThroughDialog, LetThroughUntil, type Subjects } from "./let-through.js";
import { RuleLink, useRuleNames } from "./rule-link.js";

/** Pages of 100 that one press of the button reads. */
const pagesAtOnce = 10;

/** Words search the rows that were loaded; a whole reference, as block pages show it, is asked of the server, however old it is. */
export function BlocksPage({ api, project, query }: AddressedPageProperties) {
  const [search, setSearch] = useAddressed(query.get("q") ?? "", (q) =>
    hashOf("blocks", undefined, q === "" ? {} : { q }),
  );
  const log = useLog(
    (cursor) => api.blocks(project, cursor),
    (row) => row.id,
    [api, project],
  );
  /** The block whose visitor is about to be let through. */
  const [letting, setLetting] = useState<BlockRow | null>(null);
  const exceptions = useResource(() => api.exceptions(project), [api, project]);
  const further = useResource(
    async () => (letting === null ? [] : await furtherSubjects(api, project, letting)),
    [api, project, letting],
  );
  const names = useRuleNames({ api, project });
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const reference = referenceIn(search);
  // Of a reference the server knows the block, however far back it is.
  const referred = useResource(
    async () => (reference === null ? [] : (await api.blockOf(project, reference)).data),
    [api, project, reference],
  );
  const inLog = log.rows.filter((row) => words.every((word) => textOf(row, names).includes(word)));
  const found = reference === null ? inLog : (referred.value ?? []);
  return (
    <>
      <PageTitle title="Blocks">
        <FreshnessLine of={log.latest} />
      </PageTitle>
      <SearchField
        label="Search path, reason, session, agent, address, rule, detection, reference"
        value={search}
        onInput={setSearch}
      />
      <Loaded from={log.latest}>
        {() => (
          <>
            <p class="more">
              <span class="dim" role="status">
                {words.length === 0
                  ? `${plural(log.rows.length, "block")} loaded${log.hasOlder ? ", there are more" : ""}`
                  : reference !== null
                    ? referred.value === undefined
                      ? "Looking for the reference…"
                      : `${plural(found.length, found[0]?.action === "challenge" ? "challenge" : "block")} with this reference`
                    : `${count(found.length)} of ${log.hasOlder ? "the latest " : ""}${plural(log.rows.length, "block")}`}
              </span>
              <ReadOlder log={log} pages={pagesAtOnce} {...(words.length > 0 && { label: "Search further back" })} />
            </p>
            <Fault of={log.fault ?? referred.fault} />
            <Table
              caption="Recorded blocks, the latest first"
              columns={columnsOf(names, exceptions.value ?? [], setLetting)}
              rows={found}
              rowKey={(row) => row.id}
              empty={
                words.length === 0
                  ? "Nothing was blocked. Only an active rule blocks."
                  : reference !== null
                    ? "No block has this reference."
                    : "No loaded block has all these words."
              }
            />
          </>
        )}
      </Loaded>
      {letting !== null && (
        <LetThroughDialog
          api={api}
          project={project}
          subjects={[...subjectsOf(letting), ...(further.value ?? [])]}
          reference={letting.references.at(-1)}
          onDone={() => exceptions.reload()}
          onClose={() => setLetting(null)}
        />
      )}
    </>
  );
}

/** Whom one could let through so that this would not have been blocked. */
function subjectsOf({ session_token, ip }: BlockRow): Subjects {
  return [...(session_token === null ? [] : [{ session_token }]), ...(ip === null ? [] : [{ ip }])];
}

/** What else is known of the visitor: by his session as it is now, or by a sample of his request, where one was kept. */
async function furtherSubjects(api: Api, project: number, row: BlockRow): Promise<Subjects> {
  const { session_token, ip, rule_id, created_at } = row;
  const known = session_token === null ? null : await api.session(project, session_token).catch(() => null);
  const around = (ms: number) => new Date(Date.parse(created_at) + ms).toISOString();
  const sampled =
    session_token !== null || ip === null
      ? []
      : (
          await api
            .requests(project, {
              expression: `${equalTo("ip", ip)} AND ${equalTo("rule_id", rule_id)}`,
              from: around(-60_000),
              to: around(60_000),
              limit: "1",
            })
            .catch(() => ({ data: [] }))
        ).data;
  const { user_agent = null, agent = null } = known ?? sampled[0] ?? {};
  const name = (typeof agent === "string" ? agent : agent?.name) ?? row.agent?.name;
  return [
    ...(ip !== null || known === null || known.ip === null ? [] : [{ ip: known.ip }]),
    ...(user_agent === null ? [] : [{ user_agent }]),
    ...(name === undefined ? [] : [{ agent: name }]),
  ];
}

function textOf(row: BlockRow, names: ReadonlyMap<number, string>): string {
  const { path, reason, session_token, ip, rule_id, detection_ids, verdict, references, agent } = row;
  const rule = `rule ${rule_id} ${names.get(rule_id) ?? ""}`;
  return `${path ?? ""} ${reason} ${session_token ?? "no session"} ${ip ?? ""} ${rule} ${detection_ids.join(" ")} ${bandWords[verdict]} ${agent === null ? "" : agentWords(agent)} ${references.join(" ")}`.toLowerCase();
}

/** Around the time of the block, among requests like it: with or without a session. */
const at = ({ created_at, session_token }: BlockRow) => ({
  time: timeAround(created_at),
  subject: session_token === null ? ("request" as const) : ("session" as const),
});

const columnsOf = (
  names: ReadonlyMap<number, string>,
  exceptions: readonly ExceptionRow[],
  onLetThrough: (row: BlockRow) => void,
) => [
  {
    name: "When",
    cell: (row: BlockRow) => (
      <>
        <Time at={row.created_at} />
        {row.references.length > 0 && (
          <code class="line dim" title={`Reference as the block page shows it: ${row.references.join(", ")}`}>
            {row.references.at(-1)}
          </code>
        )}
        {row.count > 1 && <span class="line dim">{plural(row.count, "time")} in a minute</span>}
      </>
    ),
  },
  {
    name: "Band and score",
    cell: (row: BlockRow) => (
      <>
        <ExploredBand band={row.verdict} {...at(row)} />{" "}
        <span class="line">
          {row.score > 0 && "score "}
          <ExploredNumber field="score" value={row.score} zero="no score" {...at(row)} />
        </span>
      </>
    ),
  },
  { name: "Path", cell: (row: BlockRow) => <ExploredText field="path" value={row.path} {...at(row)} /> },
  {
    name: "Rule and reason",
    cell: (row: BlockRow) => (
      <>
        <RuleLink id={row.rule_id} names={names} />
        <div>
          <Folded text={row.reason} />
        </div>
        {row.detection_ids.map((id) => (
          <span key={id}>
            <ExploredDetection id={id} {...at(row)} />{" "}
          </span>
        ))}
      </>
    ),
  },
  {
    name: "Visitor",
    cell: (row: BlockRow) => (
      <>
        {row.session_token === null ? (
          <span class="dim">No session</span>
        ) : (
          <a class="code" href={hashOf("sessions", row.session_token)}>
            {row.session_token}
          </a>
        )}
        <ExploredWho who={row.agent} {...at(row)} />
        <span class="line">
          {row.ip === null ? (
            <span class="dim">address not known</span>
          ) : (
            <ExploredText field="ip" value={row.ip} {...at(row)} />
          )}
        </span>
        <LetThroughUntil of={exceptionsOf(exceptions, subjectsOf(row))} />
        {subjectsOf(row).length > 0 && (
          <LetThroughButton about={`(block ${row.id})`} class="quiet line" onOpen={() => onLetThrough(row)} />
        )}
      </>
    ),
  },
];
