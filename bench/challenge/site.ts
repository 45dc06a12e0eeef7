/**
 * A page that passes challenges, as a site with verdictd behind its proxy has it: `/challenge.js` and the SDK come from verdictd. The challenges
 * are made here, each of exactly the mean work, so that a visit's time says how fast the page is and not how lucky; solutions are checked.
 */
import { pbkdf2Sync } from "node:crypto";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  checkSolution,
  makePuzzles,
  type Puzzle,
  type PuzzleData,
  type PuzzleWork,
  puzzleKeys,
  puzzlesPerChallenge,
} from "../../src/challenge/puzzle.js";

export interface ChallengeSite {
  readonly origin: string;
  /** Solutions that held, since it was opened. */
  readonly solved: () => number;
  close(): void;
}

const keys = puzzleKeys("the bench's own");

/** `work`: a challenge's counter is its mean. */
export async function openChallengeSite(
  verdictdUrl: string,
  siteKey: string,
  work: PuzzleWork,
): Promise<ChallengeSite> {
  let solved = 0;
  const answers: Readonly<Record<string, (body: string) => Promise<object | null>>> = {
    "/v1/challenges": async (body) => {
      const { session_token } = JSON.parse(body) as { session_token: string };
      const data = { session: session_token, issued_at_ms: Date.now(), rule: 0, counted_at_ms: 0 };
      const expiresAt = Math.floor(Date.now() / 1000) + 600;
      return { puzzles: await meanPuzzles(work, data, expiresAt) };
    },
    "/v1/challenges/solution": async (body) => {
      const { solution } = JSON.parse(body) as { solution: string };
      if (typeof checkSolution(keys, solution, Date.now()) === "string") return null;
      solved++;
      return { cleared: true };
    },
  };
  const page =
    '<!doctype html><meta name="viewport" content="width=device-width"><title>Page</title>' +
    `<script defer src="/sdk.js" data-site-key="${siteKey}"></script><p>A page to read.</p>`;
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? "";
    const answer = answers[path];
    if (path === "/") {
      response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(page);
    } else if (answer === undefined) forward(verdictdUrl, incoming, response);
    else {
      textOf(incoming)
        .then(answer)
        .then(
          (value) => response.writeHead(value === null ? 422 : 200).end(JSON.stringify(value)),
          () => response.writeHead(500).end(),
        );
    }
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    solved: () => solved,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Counters that are tried to solve a challenge of the mean work. */
export function meanCounters({ counterMax }: PuzzleWork): number {
  return Math.round((puzzlesPerChallenge * (counterMax + 2)) / 2);
}

/** The puzzles of a challenge whose work is within 2 % of the mean: others are thrown away. */
async function meanPuzzles(work: PuzzleWork, data: PuzzleData, expiresAt: number): Promise<Puzzle[]> {
  for (;;) {
    const puzzles = await makePuzzles(keys, work, data, expiresAt);
    const tried = puzzles.reduce((sum, { parameters }) => sum + 1 + counterOf(parameters), 0);
    if (Math.abs(tried / meanCounters(work) - 1) < 0.02) return puzzles;
  }
}

function counterOf({ nonce, salt, cost, keyPrefix }: Puzzle["parameters"]): number {
  const password = Buffer.concat([Buffer.from(nonce, "hex"), Buffer.alloc(4)]);
  for (let counter = 0; ; counter++) {
    password.writeUInt32BE(counter, 16);
    const key = pbkdf2Sync(password, Buffer.from(salt, "hex"), cost, 32, "sha256");
    if (key.toString("hex").startsWith(keyPrefix)) return counter;
  }
}

function forward(target: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, url, headers } = incoming;
  const outgoing = request(target + url, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on("error", () => response.destroy());
  incoming.pipe(outgoing);
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}
