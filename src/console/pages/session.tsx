/** One session in depth: the engines, every detection with its share and evidence, and the course of it as far as it is stored. */
import type { ComponentChildren } from "preact";
import type { BlockRow, DetectionAnswer, FiredDetectionAnswer, SessionAnswer } from "../../contract/api-answers.js";
import type { EngineName } from "../../contract/evidence.js";
import type { Api } from "../api.js";
import type { ProjectPageProperties } from "../app.js";
import { exploreHash } from "../explore-view.js";
import { equalTo } from "../expression.js";
import { hashOf } from "../location.js";
import { BandBadge, Card, Freshness, Loaded, PageTitle, Table, Time } from "../parts.js";
import { useResource } from "../resource.js";
import { count } from "../words.js";
import { MarkCard } from "./marks.js";
import { Moment, Noted, PointerPath, type TrailMoment } from "./trail.js";

const refreshMs = 5000;
/** Pages of 100 blocks that are looked through for those of the session. */
const blockPages = 5;

/** Read anew every 5 s while the tab is looked at. Engine scores, detections, the mark, the timeline with blocks, and the pointer path. */
export function SessionPage({ api, project, token }: ProjectPageProperties & { readonly token: string }) {
  const session = useResource(() => api.session(project, token), [api, project, token], refreshMs);
  const catalogue = useResource(() => api.detections(), [api]);
  const blocks = useResource(() => blocksOf(api, project, token), [api, project, token]);
  const trail = useResource(() => api.trail(project, token), [api, project, token], refreshMs);
  const known = new Map(catalogue.value?.data.map((each) => [each.id, each]));
  return (
    <>
      <PageTitle title="Session">
        <Freshness of={session} every="5 s" />
      </PageTitle>
      <p>
        <a href={hashOf("sessions")}>All sessions</a>
      </p>
      <p class="code wrap">{token}</p>
      <Loaded from={session}>
        {(value) => (
          <>
            <Facts session={value} />
            <MarkCard api={api} project={project} session={value} onMarked={() => session.reload()} />
            <Card title="Engines">
              <ul class="engines">
                {engines.map(([engine, name, note]) => (
                  <Engine key={engine} name={name} note={note} score={value.engines[engine]} />
                ))}
              </ul>
            </Card>
            <Card title="Detections">
              <Detections fired={value.detections} known={known} />
            </Card>
            <Card title="Timeline">
              <Timeline session={value} blocks={blocks.value ?? []} moments={trail.value?.moments ?? []} />
              {trail.value !== undefined && <Noted trail={trail.value} eventCount={value.event_count} />}
            </Card>
            <Card title="Pointer path">
              <PointerPath points={trail.value?.points ?? []} />
            </Card>
          </>
        )}
      </Loaded>
    </>
  );
}

const engines: readonly (readonly [EngineName, string, string])[] = [
  ["heuristics", "Heuristics", "what the visitor declares and how often"],
  ["js_detection", "JS detection", "where the browser contradicts itself"],
  ["behavioral", "Behavioral", "how the visitor behaves"],
];

function Engine({
  name,
  note,
  score,
}: {
  readonly name: string;
  readonly note: string;
  readonly score: number | null;
}) {
  return (
    <li>
      <b>{name}</b> <span class="dim">{note}</span>
      <span class="score">{score === null ? "abstains" : score}</span>
      {score !== null && (
        <meter min={0} low={30} high={60} optimum={99} max={99} value={score} aria-label={`${name}: ${score} of 99`} />
      )}
    </li>
  );
}

function Facts({ session }: { readonly session: SessionAnswer }) {
  const { verdict, score, event_count, path, ip, user_agent, logged_in_at, cleared_at } = session;
  const unknown = <span class="dim">not known</span>;
  return (
    <dl class="facts card">
      <Fact name="Band">
        <BandBadge band={verdict} />
      </Fact>
      <Fact name="Score">{score === 0 ? "none yet" : `${score} of 99, lower means more certainly a bot`}</Fact>
      <Fact name="Events">{count(event_count)}</Fact>
      <Fact name="Last path">{path === null ? unknown : <Same field="path" value={path} />}</Fact>
      <Fact name="Address">{ip === null ? unknown : <Same field="ip" value={ip} />}</Fact>
      <Fact name="User agent">{user_agent === null ? unknown : <Same field="user_agent" value={user_agent} />}</Fact>
      <Fact name="Login asserted">{logged_in_at === null ? "never" : <Time at={logged_in_at} />}</Fact>
      <Fact name="Challenge passed">{cleared_at === null ? "never" : <Time at={cleared_at} />}</Fact>
    </dl>
  );
}

/** A value that leads to the sessions that have it, too. */
function Same({ field, value }: { readonly field: string; readonly value: string }) {
  const expression = equalTo(field, value);
  return (
    <a href={exploreHash({ expression, time: "day" })} title={expression}>
      {value}
    </a>
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
}) {
  const { fired, known } = properties;
  const columns = [
    {
      name: "Detection",
      cell: ({ id, slug }: FiredDetectionAnswer) => (
        <>
          <a href={exploreHash({ expression: `detection_ids contains ${id}`, time: "day" })}>
            <code>{id}</code> {slug}
          </a>
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
      cell: ({ contribution }: FiredDetectionAnswer) =>
        contribution === 0 ? "0 (experimental)" : `+${contribution.toFixed(2)}`,
      isNumber: true,
    },
    { name: "Evidence", cell: ({ evidence }: FiredDetectionAnswer) => <Evidence of={evidence} /> },
  ];
  return (
    <>
      <p class="dim">
        The contribution is the log-odds of automation that a detection adds to its engine. Strongest first.
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

/** To four digits: more of a measured number says nothing. */
function rounded(value: unknown): unknown {
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
  moments: noted,
}: {
  readonly session: SessionAnswer;
  readonly blocks: readonly BlockRow[];
  readonly moments: readonly TrailMoment[];
}) {
  const moments: { readonly at: string; readonly what: ComponentChildren }[] = [
    { at: session.first_seen_at, what: "First contact" },
    ...noted.map((moment) => ({ at: moment.at, what: <Moment of={moment} /> })),
    ...blocks.map((block) => ({
      at: block.created_at,
      what: (
        <>
          Blocked by rule <a href={hashOf("rules", block.rule_id)}>{block.rule_id}</a>
          {block.path === null ? "" : ` on ${block.path}`}
          {block.count > 1 ? ` and ${block.count - 1} more times in that minute` : ""}: {block.reason}
        </>
      ),
    })),
    { at: session.last_seen_at, what: `Latest of ${count(session.event_count)} events` },
  ];
  if (session.logged_in_at !== null) moments.push({ at: session.logged_in_at, what: "Login asserted by your backend" });
  if (session.cleared_at !== null) moments.push({ at: session.cleared_at, what: "Passed the challenge" });
  moments.sort((one, other) => one.at.localeCompare(other.at));
  return (
    <ol class="timeline">
      {moments.map(({ at, what }, index) => (
        <li key={index}>
          <Time at={at} /> <span>{what}</span>
        </li>
      ))}
    </ol>
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
