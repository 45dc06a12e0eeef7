/**
 * Verdict reads as verdictd's client makes them: each session from an address and with a user agent of its own, for the pages that its visitor
 * views, each from another page. The requests are the client's own bytes with those places filled in.
 */
import {
  addressPlaceholder,
  agentPlaceholder,
  type ClientRequest,
  fromBrowsers,
  pageBeforePlaceholder,
  pathPlaceholder,
} from "../traffic/client-request.js";
import { readVisits } from "../traffic/visits.js";
import { tokenPlaceholder } from "./batches.js";
import { crowdOf } from "./crowd.js";
import { Tokens } from "./tokens.js";
import type { Reads, Traffic, TrafficSpec } from "./traffic-spec.js";

/** Pages of a shop; a number makes 0000 another page. */
const pages = [
  "/",
  "/search",
  "/products/item-0000",
  "/categories/lamps/0000",
  "/checkout",
  "/blog/2026/11/0000-a-lamp-in-the-window",
  "/account/orders/0000",
  "/api/cart/items/0000",
];

/** Pages between which a visitor of a crowd goes back and forth. */
const ownPages = 8;

interface ReadTemplate {
  readonly bytes: Buffer;
  /** -1 where there is no token or no number. */
  readonly tokenAt: number;
  readonly addressAt: number;
  readonly numberAt: number;
  /** Number of the page before; -1 where it is not told. */
  readonly beforeAt: number;
}

/** Fills in the request of a session by its number, for the nth of its pages; `write` puts the token in. */
class ReadTemplates {
  readonly bytesMax: number;
  readonly #templates: ReadTemplate[][];

  constructor(request: ClientRequest, host: string) {
    const agents = [...new Set(readVisits().map(({ headers }) => agentOf(headers)))];
    this.#templates = fromBrowsers(request).map((own, index) =>
      pages.map((page) => templateOf(own, host, agents[index % agents.length]!, page)),
    );
    this.bytesMax = Math.max(...this.#templates.flat().map(({ bytes }) => bytes.length));
  }

  fill(into: Buffer, session: number, page: number, write: (into: Buffer, at: number) => void): Buffer {
    const ofAgent = this.#templates[session % this.#templates.length]!;
    const { bytes, tokenAt, addressAt, numberAt, beforeAt } = ofAgent[(session + page) % pages.length]!;
    bytes.copy(into);
    if (tokenAt !== -1) write(into, tokenAt);
    writeAddress(into, addressAt, session);
    if (numberAt !== -1) writeDigits(into, numberAt, 1000 + ((session * 7 + page * 131) % 9000));
    if (beforeAt !== -1) writeDigits(into, beforeAt, 1000 + ((session * 11 + page * 173) % 9000));
    return into.subarray(0, bytes.length);
  }
}

/** Addresses that can be told apart: three numbers of an address from 100 to 199, and one from 140 to 149. */
const addresses = 10_000_000;
/** Strangers that no server under test asks more of in a millisecond: as many addresses are left behind between two runs. */
const strangersAMs = 100;

/** Sessions in turn, from a file, each from its address; or strangers, none of whom was there in the last 100 seconds. */
export function readTraffic(spec: Reads, host: string): Traffic {
  const tokens = spec.tokens === null ? null : new Tokens(spec.tokens);
  const count = tokens?.count ?? addresses;
  const reads = new ReadTemplates(spec.request, host);
  let round = 0;
  let session = tokens === null ? (Date.now() * strangersAMs) % addresses : -1;
  const connection = () => {
    const own = Buffer.alloc(reads.bytesMax);
    const next = (): Buffer => {
      if (++session === count) {
        session = 0;
        round++;
      }
      return reads.fill(own, session, round % spec.pages, (into, at) => tokens?.write(into, at));
    };
    return { next };
  };
  return { connection };
}

/** Visitors of a crowd in turn, each at one of its own pages. */
export function pageViewTraffic(spec: Extract<TrafficSpec, { kind: "page-views" }>, host: string): Traffic {
  const crowd = crowdOf(spec.crowd);
  const reads = new ReadTemplates(spec.request, host);
  let turn = 0;
  const connection = () => {
    const own = Buffer.alloc(reads.bytesMax);
    const next = (): Buffer => {
      const visitor = turn;
      turn = (turn + 1) % crowd.size;
      const page = Math.floor(Math.random() * ownPages);
      return reads.fill(own, visitor, page, (into, at) => crowd.writeToken(visitor, into, at));
    };
    return { next };
  };
  return { connection };
}

function templateOf(request: ClientRequest, host: string, agent: string, page: string): ReadTemplate {
  const isRead = request.startsWith("GET");
  // A body's length is said in its head: there the page keeps the placeholder's length, and the agent is in the headers already.
  const path = isRead ? page : page.padEnd(pathPlaceholder.length, "-").slice(0, pathPlaceholder.length);
  const text = request
    .replace(/\r\nhost: [^\r]*/i, `\r\nHost: ${host}`)
    .replace(pathPlaceholder, path)
    .replace(agentPlaceholder, agent);
  const bytes = Buffer.from(text);
  const before = bytes.indexOf(pageBeforePlaceholder);
  const numberAt = bytes.indexOf("0000", bytes.indexOf(path));
  return {
    bytes,
    tokenAt: bytes.indexOf(tokenPlaceholder),
    addressAt: bytes.indexOf(addressPlaceholder),
    numberAt: path.includes("0000") ? numberAt : -1,
    beforeAt: before === -1 ? -1 : before + pageBeforePlaceholder.length - "0000".length,
  };
}

function agentOf(headers: readonly (readonly [string, string])[]): string {
  return headers.find(([name]) => name.toLowerCase() === "user-agent")?.[1] ?? "";
}

/** An IPv4 address of the nth visitor, in as many characters as the placeholder has. */
function writeAddress(into: Buffer, at: number, visitor: number): void {
  writeDigits(into, at, 140 + (Math.floor(visitor / 1_000_000) % 10));
  writeDigits(into, at + "140.".length, 100 + (Math.floor(visitor / 10_000) % 100));
  writeDigits(into, at + "140.100.".length, 100 + (Math.floor(visitor / 100) % 100));
  writeDigits(into, at + "140.100.100.".length, 100 + (visitor % 100));
}

/** Three or four digits, without making a text. */
function writeDigits(into: Buffer, at: number, number: number): void {
  const digits = number < 1000 ? 3 : 4;
  let rest = number;
  for (let index = at + digits - 1; index >= at; index--) {
    into[index] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}
