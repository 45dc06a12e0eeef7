/** Holds the peer to what verdictd answers: the same visitors, both servers fresh, every answer compared. A peer that does less is no peer. */
import assert from "node:assert/strict";
import { batchText, idPlaceholder, jitterPlaces, tokenPlaceholder, UniqueIds } from "../../load/batches.js";
import { browserHeaders } from "../../load/traffic.js";
import type { Target } from "../servers.js";

interface Keys {
  readonly siteKey: string;
  readonly privateKey: string;
}

interface Visitor {
  readonly what: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Event lists as JSON, without ids. */
  readonly batches: readonly string[];
}

const browser = Object.fromEntries(browserHeaders.map((line) => line.split(": ", 2) as [string, string]));
const ids = new UniqueIds();

/** Sends both the same traffic: scores from definite to human, retries with and without a token, a body to be refused. Throws where they differ. */
export async function checkPeer(verdictd: Target, peer: Target, keys: Keys): Promise<void> {
  for (const visitor of visitors()) {
    const seen = new Map<string, Promise<string[]>>();
    const bodies = visitor.batches.map(withIds);
    for (const target of [verdictd, peer]) seen.set(target.name, visit(target, keys, visitor, bodies));
    assert.deepEqual(await seen.get(peer.name), await seen.get(verdictd.name), `the peer differs: ${visitor.what}`);
  }
  const bad = withIds(events([["mouse", { x: 1, colour: "red" }]]));
  for (const target of [verdictd, peer]) {
    const { status } = await post(target, keys, browser, "bad-batch", bad);
    assert.equal(status, 422, `${target.name} takes a key that is not on the list`);
  }
}

function visitors(): Visitor[] {
  const line = Array.from({ length: 40 }, (_, index) => [index * 10, 100 + index * 7, 100 + index * 3]);
  return [
    {
      what: "a jittery pointer",
      headers: browser,
      batches: [1, 2, 3, 4].map((seed) => varied(batchText(10, seed, false))),
    },
    {
      what: "a browser that says it is driven",
      headers: browser,
      batches: [events([["env", { webdriver: true, languages: ["en-US"], plugins: 0 }]])],
    },
    {
      what: "a program that says so",
      headers: { "user-agent": "python-requests/2.32" },
      batches: [events([["page", { path: "/", host: "shop.example" }]]), events([["heartbeat", { visible_ms: 5 }]])],
    },
    {
      what: "a steady pointer",
      headers: browser,
      batches: [0, 1, 2, 3].map((part) => events([["mouse", { t: 1000 * part, points: line, count: 40 }]])),
    },
  ];
}

/** What a server says on the way, in words to compare: counts of each batch, counts of retries, the verdict at the end. */
async function visit(target: Target, keys: Keys, visitor: Visitor, bodies: readonly string[]): Promise<string[]> {
  const said: string[] = [];
  let token = "";
  const send = async (body: string, key: string, isFirst: boolean): Promise<void> => {
    const named = isFirst ? body.replace(`"${tokenPlaceholder}"`, "null") : body.replace(tokenPlaceholder, token);
    const { status, text } = await post(target, keys, visitor.headers, key, named);
    const { session_token, ...counts } = JSON.parse(text) as { session_token: string };
    if (token !== "") assert.equal(session_token, token, `${target.name}: ${visitor.what} got another session`);
    token = session_token;
    said.push(`${status} ${JSON.stringify(counts)}`);
  };
  for (const [index, body] of bodies.entries()) await send(body, `${visitor.what}, batch ${index}`, index === 0);
  await send(bodies[0]!, `${visitor.what}, batch 0`, true);
  await send(bodies[0]!, `${visitor.what}, again`, false);
  const read = await fetch(`${target.url}/v1/sessions/${token}/verdict`, {
    headers: { authorization: `Bearer ${keys.privateKey}` },
  });
  said.push(`${read.status} ${await read.text()}`);
  return said;
}

async function post(
  { url }: Target,
  { siteKey }: Keys,
  headers: Visitor["headers"],
  idempotencyKey: string,
  body: string,
): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${url}/v1/events`, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      "x-service-site-key": siteKey,
      "idempotency-key": idempotencyKey,
    },
    body,
  });
  return { status: answer.status, text: await answer.text() };
}

/** A batch as text, ids and token still placeholders. */
function events(list: readonly (readonly [type: string, payload: object])[]): string {
  const received_at = new Date().toISOString();
  return JSON.stringify({
    session_token: tokenPlaceholder,
    events: list.map(([type, payload]) => ({ request_id: idPlaceholder, type, received_at, payload })),
  });
}

/** With another path: nobody has shown it before. */
function varied(text: string): string {
  const bytes = Buffer.from(text);
  for (const at of jitterPlaces(bytes)) bytes[at] = 48 + Math.floor(Math.random() * 10);
  return bytes.toString();
}

function withIds(text: string): string {
  return text.replaceAll(idPlaceholder, () => ids.next());
}
