/** One session in depth: the engines, every detection with its share and evidence, and the course of it as far as it is stored. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type AgentCertainty, agentWords } from "../../contract/bots/agents.js";
import type { DetectionAnswer } from "../../contract/evidence/detection-answers.js";
import type { EngineName } from "../../contract/evidence/evidence.js";
import type { FiredDetectionAnswer, SessionAnswer } from "../../contract/sessions/session-answers.js";
import type { QueriedSessionRow, SessionDimension, SessionGroup } from "../../contract/sessions/session-query.js";
import type { BlockRow } from "../../contract/traffic/block-answers.js";
import type { Api } from "../api.js";
import { type ExploreView, timeAround } from "../explore-view.js";
import { equalTo } from "../expression.js";
import { hashOf } from "../location.js";
import type { ProjectPageProperties } from "../page-properties.js";
import { Card, CopyText, Fault, FreshnessLine, Loaded, PageTitle, Table, Time } from "../parts.js";
import { useResource } from "../resource.js";
import { count } from "../words.js";
import { groupTitles } from "./explore-groups.js";
import { Explored, ExploredAction, ExploredBand, ExploredDetection, ExploredNumber, ExploredText } from "./explored.js";
import { exceptionsOf, LetThroughButton, LetThroughDialog, LetThroughUntil } from "./let-through.js";
import { MarkCard } from "./marks.js";
import { RuleLink, useRuleNames } from "./rule-link.js";
import { Entry, PointerPath, RecordedShare, type TimelineLine } from "./timeline.js";

const refreshMs = 5000;
/** A query takes the account's turn: not as often. */
const foundRefreshMs = 15_000;
/** Pages of 100 blocks that are looked through for those of the session. */
const blockPages = 5;

/** Read anew every 5 s while the tab is looked at. Engine scores, detections, the mark, the timeline with blocks, and the pointer path. */
export function SessionPage({ api, project, token }: ProjectPageProperties & { readonly token: string }) {
  const session = useResource(() => api.session(project, token), [api, project, token], refreshMs);
  const catalogue = useResource(() => api.detections(), [api]);
  const blocks = useResource(() => blocksOf(api, project, token), [api, project, token]);
  const firstSeen = session.value?.first_seen_at;
  const found = useResource(
    async () => (firstSeen === undefined ? null : foundBy(api, project, token, firstSeen)),
    [api, project, token, firstSeen],
    foundRefreshMs,
  );
  const names = useRuleNames({ api, project });
  const timeline = useResource(() => api.timeline(project, token), [api, project, token], refreshMs);
  const known = new Map(catalogue.value?.data.map((each) => [each.id, each]));
  return (
    <>
      <PageTitle title="Session">
        <FreshnessLine of={session} every="5 s" />
      </PageTitle>
      <p>
        <a href={hashOf("sessions")}>All sessions</a>
      </p>
      <p>
        <CopyText text={token} what="the session token" />
      </p>
      <Loaded from={session}>
        {(value) => (
          <>
            <Facts session={value} found={found.value ?? null} names={names} />
            <Through
              api={api}
              project={project}
              session={value}
              references={(blocks.value ?? []).flatMap(({ references }) => references)}
              onDone={found.reload}
            />
            <MarkCard api={api} project={project} session={value} onMarked={() => session.reload()} />
            <Card title="Engines">
              <ul class="engines">
                {engines.map(([engine, name, note]) => (
                  <Engine
                    key={engine}
                    engine={engine}
                    name={name}
                    note={note}
                    score={value.engines[engine]}
                    time={timeAround(value.first_seen_at)}
                  />
                ))}
              </ul>
            </Card>
            <Card title="Detections">
              <Detections fired={value.detections} known={known} time={timeAround(value.first_seen_at)} />
            </Card>
            <Card title="Timeline">
              <Timeline
                session={value}
                blocks={blocks.value ?? []}
                names={names}
                entries={timeline.value?.moments ?? []}
              />
              {timeline.value !== undefined && (
                <RecordedShare timeline={timeline.value} eventCount={value.event_count} />
              )}
            </Card>
            <Card title="Pointer path">
              <PointerPath points={timeline.value?.points ?? []} />
            </Card>
          </>
        )}
      </Loaded>
    </>
  );
}

/** Whether the visitor is let through now, and the button for it. */
function Through(
  properties: ProjectPageProperties & {
    readonly session: SessionAnswer;
    readonly references: readonly string[];
    readonly onDone: () => Promise<void>;
  },
) {
  const { api, project, session, references, onDone } = properties;
  const { session_token, ip, user_agent, agent } = session;
  const exceptions = useResource(() => api.exceptions(project), [api, project]);
  const [isOpen, setOpen] = useState(false);
  const subjects = [
    { session_token },
    ...(ip === null ? [] : [{ ip }]),
    ...(user_agent === null ? [] : [{ user_agent }]),
    ...(agent === null ? [] : [{ agent: agent.name }]),
  ];
  return (
    <div class="more">
      <LetThroughUntil of={exceptionsOf(exceptions.value ?? [], subjects)} />
      <LetThroughButton onOpen={() => setOpen(true)} />
      {isOpen && (
        <LetThroughDialog
          api={api}
          project={project}
          subjects={subjects}
          reference={references[0]}
          onDone={() => Promise.all([exceptions.reload(), onDone()])}
          onClose={() => setOpen(false)}
        />
      )}
      <Fault of={exceptions.fault} />
    </div>
  );
}

const engines: readonly (readonly [EngineName, string, string])[] = [
  ["heuristics", "Heuristics", "what the visitor declares and how often"],
  ["js_detection", "JS detection", "where the browser contradicts itself"],
  ["behavioral", "Behavioral", "how the visitor behaves"],
];

/** What selects sessions with this result; the language knows of JS detection only whether it found something. */
function conditionOf(engine: EngineName, score: number): string {
  return engine === "js_detection" ? "js_detected" : equalTo(`${engine}_score`, score);
}

function Engine({
  engine,
  name,
  note,
  score,
  time,
}: {
  readonly engine: EngineName;
  readonly name: string;
  readonly note: string;
  readonly score: number | null;
  readonly time: ExploreView["time"];
}) {
  return (
    <li>
      <b>{name}</b> <span class="dim">{note}</span>
      <span class="score">
        {score === null ? (
          "abstains"
        ) : (
          <Explored condition={conditionOf(engine, score)} time={time}>
            {score}
          </Explored>
        )}
      </span>
      {score !== null && (
        <meter min={0} low={30} high={60} optimum={99} max={99} value={score} aria-label={`${name}: ${score} of 99`} />
      )}
    </li>
  );
}

/** What a query of the session alone says beside its own record; null: nothing. */
interface FoundSession {
  readonly row: QueriedSessionRow;
  /** The value of a dimension with its condition; absent where several sessions began in the same millisecond. */
  readonly groups: readonly SessionGroup[];
}

const asked: readonly SessionDimension[] = ["country", "as", "declared_bot"];

async function foundBy(api: Api, project: number, token: string, from: string): Promise<FoundSession | null> {
  const to = new Date(Date.parse(from) + 1).toISOString();
  const {
    data,
    matched,
    groups = [],
  } = await api.query(project, { from, to, group_by: [...asked], limit: 100 }, new AbortController().signal);
  const row = data.find(({ session_token }) => session_token === token);
  return row === undefined ? null : { row, groups: matched === 1 ? groups : [] };
}

function Facts(properties: {
  readonly session: SessionAnswer;
  readonly found: FoundSession | null;
  readonly names: ReadonlyMap<number, string>;
}) {
  const { session, found, names } = properties;
  const { verdict, score, event_count, path, ip, user_agent, logged_in_at, cleared_at } = session;
  const time = timeAround(session.first_seen_at);
  return (
    <dl class="facts card">
      <Fact name="Band">
        <ExploredBand band={verdict} time={time} />
      </Fact>
      <Fact name="Score">
        <ExploredNumber field="score" value={score} zero="none yet" time={time} />
        {score > 0 && " of 99, lower means more certainly a bot"}
      </Fact>
      {found !== null && (
        <Fact name="Action now">
          <ExploredAction action={found.row.action} time={time} />
          {found.row.rule_id === null ? (
            ", no rule matches"
          ) : (
            <>
              {" by rule "}
              <RuleLink id={found.row.rule_id} names={names} />
            </>
          )}
        </Fact>
      )}
      {found !== null && found.row.reason !== "" && <Fact name="Reason">{found.row.reason}</Fact>}
      <Fact name="First seen">
        <Time at={session.first_seen_at} />
      </Fact>
      <Fact name="Last seen">
        <Time at={session.last_seen_at} />
      </Fact>
      <Fact name="Events">
        <ExploredNumber field="event_count" value={event_count} time={time} />
      </Fact>
      {found !== null && (
        <Fact name="Host">
          <ExploredText field="host" value={found.row.host} time={time} />
        </Fact>
      )}
      <Fact name="Last path">
        <ExploredText field="path" value={path} time={time} />
      </Fact>
      <Fact name="Address">
        <ExploredText field="ip" value={ip} time={time} />
      </Fact>
      {found?.groups.map(({ by, values }) =>
        values.map(({ value, condition }) => (
          <Fact key={by} name={groupTitles[by]}>
            <Explored condition={condition} time={time}>
              {value}
            </Explored>
          </Fact>
        )),
      )}
      <Fact name="Agent">
        {session.agent === null ? <span class="dim">none known</span> : <AgentName of={session.agent} time={time} />}
      </Fact>
      <Fact name="User agent">
        <ExploredText field="user_agent" value={user_agent} time={time} />
      </Fact>
      <Fact name="Login asserted">{logged_in_at === null ? "never" : <Time at={logged_in_at} />}</Fact>
      <Fact name="Challenge passed">{cleared_at === null ? "never" : <Time at={cleared_at} />}</Fact>
    </dl>
  );
}

const certaintyWords: Readonly<Record<AgentCertainty, string>> = {
  signed: "certain: its requests are signed",
  verified: "certain: address or reverse DNS is its operator’s",
  declared: "it says so itself, as anybody can",
  marked: "likely: its traces are in the page, which anybody can copy",
  behavior: "it behaves as such programs do, which anybody can imitate",
};

/** Who it is, how sure that is, and by what. */
function AgentName({
  of,
  time,
}: {
  readonly of: NonNullable<SessionAnswer["agent"]>;
  readonly time: ExploreView["time"];
}) {
  const { name, category, certainty, evidence } = of;
  return (
    <>
      <Explored condition={equalTo("agent", name)} time={time}>
        {name}
      </Explored>{" "}
      ({category.replaceAll("_", " ")}), {certaintyWords[certainty]}
      {evidence.length > 0 && (
        <ul class="evidence">
          {evidence.map((each) => (
            <li key={each}>
              <code>{each}</code>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Detections(properties: {
  readonly fired: readonly FiredDetectionAnswer[];
  readonly known: ReadonlyMap<number, DetectionAnswer>;
  readonly time: ExploreView["time"];
}) {
  const { fired, known, time } = properties;
  const columns = [
    {
      name: "Detection",
      cell: ({ id, slug }: FiredDetectionAnswer) => (
        <>
          <ExploredDetection id={id} name={slug} time={time} />
          <br />
          <span class="dim">{known.get(id)?.meaning ?? ""}</span>
        </>
      ),
    },
    {
      name: "Engine",
      cell: ({ engine }: FiredDetectionAnswer) => engines.find(([name]) => name === engine)?.[1] ?? engine,
      isShort: true,
    },
    {
      name: "Contribution",
      cell: ({ id, contribution }: FiredDetectionAnswer) =>
        contribution === 0 ? zeroWords(known.get(id)) : `+${contribution.toFixed(2)}`,
      isNumber: true,
    },
    { name: "Evidence", cell: ({ evidence }: FiredDetectionAnswer) => <Evidence of={evidence} /> },
  ];
  return (
    <>
      <p class="dim">
        The contribution is the log-odds of automation that a detection adds to its engine; of several with one cause,
        the strongest counts for all. Strongest first.
      </p>
      <Table
        caption="Detections that fired"
        columns={columns}
        rows={fired}
        rowKey={({ id }) => id}
        empty="No detection fired on this session."
      />
    </>
  );
}

/** Why a detection that fired adds nothing. */
function zeroWords(detection: DetectionAnswer | undefined): string {
  if (detection?.state === "experimental") return "0 (experimental)";
  return detection?.state === "scoring" && detection.severity !== "info" ? "0 (not counted here)" : "0";
}

/** Numbers to four digits, those of lists too: more of a measured number says nothing. */
function rounded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rounded);
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

function Evidence({ of }: { readonly of: FiredDetectionAnswer["evidence"] }) {
  return (
    <ul class="evidence">
      {Object.entries(of).map(([name, value]) => (
        <li key={name}>
          {name}: <code>{JSON.stringify(rounded(value))}</code>
        </li>
      ))}
    </ul>
  );
}

function Timeline({
  session,
  blocks,
  names,
  entries,
}: {
  readonly session: SessionAnswer;
  readonly blocks: readonly BlockRow[];
  readonly names: ReadonlyMap<number, string>;
  readonly entries: readonly TimelineLine[];
}) {
  const lines: { readonly at: string; readonly what: ComponentChildren }[] = [
    { at: session.first_seen_at, what: "First contact" },
    ...entries.map((entry) => ({
      at: entry.at,
      what: <Entry of={entry} time={timeAround(session.first_seen_at)} />,
    })),
    ...blocks.map((block) => ({
      at: block.created_at,
      what: (
        <>
          Blocked by rule <RuleLink id={block.rule_id} names={names} />
          {block.path === null ? "" : ` on ${block.path}`}
          {block.agent === null ? "" : ` as ${agentWords(block.agent)}`}
          {block.count > 1 ? ` and ${block.count - 1} more times in that minute` : ""}
          <Reason text={block.reason} />
        </>
      ),
    })),
    {
      at: session.last_seen_at,
      what: session.event_count === 1 ? "Only event" : `Last of ${count(session.event_count)} events`,
    },
  ];
  if (session.logged_in_at !== null) lines.push({ at: session.logged_in_at, what: "Login asserted by your backend" });
  if (session.cleared_at !== null) lines.push({ at: session.cleared_at, what: "Passed the challenge" });
  const { agent } = session;
  if (agent?.since) lines.push({ at: agent.since, what: `Known as ${agentWords(agent)}` });
  lines.sort((one, other) => one.at.localeCompare(other.at));
  return (
    <ol class="timeline">
      {lines.map(({ at, what }, index) => (
        <li key={index}>
          <Time at={at} /> <span>{what}</span>
        </li>
      ))}
    </ol>
  );
}

/** The same for most blocks of a session: it is opened where somebody wants it. */
function Reason({ text }: { readonly text: string }) {
  return (
    <details class="reason">
      <summary>Reason</summary>
      {text}
    </details>
  );
}

async function blocksOf(api: Api, project: number, token: string): Promise<BlockRow[]> {
  const found: BlockRow[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < blockPages; page++) {
    const { data, meta } = await api.blocks(project, cursor);
    found.push(...data.filter(({ session_token }) => session_token === token));
    cursor = meta.next_cursor;
    if (cursor === null) break;
  }
  return found;
}
