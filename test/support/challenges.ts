/** Challenges as a browser meets them: asked for over HTTP, solved by altcha-lib's own solver. */
import { pbkdf2Sync, randomUUID } from "node:crypto";
import { type Challenge, type DeriveKeyFunction, solveChallenge } from "altcha-lib";
import type { Answer } from "./ask.js";
import { browserHeaders } from "./batches.js";
import type { Tenant, TestServer } from "./server.js";

/** ALTCHA's key derivation, in this thread: a call of Node's asynchronous one takes longer than its work. */
export const deriveKey: DeriveKeyFunction = async ({ cost, keyLength = 32 }, salt, password) => ({
  derivedKey: pbkdf2Sync(password, salt, cost, keyLength, "sha256"),
});

/** What `/v1/challenges` answers, as far as it is solved. */
interface Puzzles {
  readonly puzzles: readonly object[];
}

/** A puzzle with its solution. */
interface SolvedPuzzle {
  readonly challenge: Challenge;
  readonly solution: { readonly counter: number; readonly derivedKey: string };
}

/** Each puzzle of a challenge with its solution. */
export async function solvedOf({ puzzles }: Puzzles): Promise<SolvedPuzzle[]> {
  const solved: SolvedPuzzle[] = [];
  for (const puzzle of puzzles) {
    const { parameters, signature } = puzzle as Challenge;
    const challenge = { parameters, signature } as Challenge;
    solved.push({ challenge, solution: (await solveChallenge({ challenge, deriveKey }))! });
  }
  return solved;
}

/** The text that goes to `/v1/challenges/solution`. */
export async function solutionOf(challenge: Puzzles): Promise<string> {
  return encodedSolution(await solvedOf(challenge));
}

export function encodedSolution(payload: unknown): string {
  return Buffer.from(JSON.stringify(payload)).toString("base64");
}

/** Of a usual browser, as far as nothing speaks against it. */
const environment = { webdriver: false, languages: ["en-GB", "en"], timezone: "Europe/London", cpu: 8 };

/** What `challenge.js` asks, by one visitor. */
export class ChallengedVisitor {
  readonly #server: Pick<TestServer, "ask">;
  readonly #tenant: Pick<Tenant, "siteKey">;
  readonly #userAgent: string;

  constructor(
    server: Pick<TestServer, "ask">,
    tenant: Pick<Tenant, "siteKey">,
    userAgent: string = browserHeaders["user-agent"],
  ) {
    this.#server = server;
    this.#tenant = tenant;
    this.#userAgent = userAgent;
  }

  post(path: string, body: unknown, siteKey = this.#tenant.siteKey): Promise<Answer> {
    return this.#server.ask("POST", path, {
      headers: { "user-agent": this.#userAgent, ...(siteKey !== "" && { "x-service-site-key": siteKey }) },
      body,
    });
  }

  issue(session: string): Promise<Answer> {
    return this.post("/v1/challenges", { session_token: session });
  }

  send(session: string, solution: string): Promise<Answer> {
    return this.post("/v1/challenges/solution", { session_token: session, solution });
  }

  /** What `challenge.js` has the SDK report before it sends a solution. */
  report(session: string, payload: object = environment): Promise<Answer> {
    const received_at = new Date().toISOString();
    const events = [{ request_id: `env-${randomUUID()}`, type: "env", received_at, payload }];
    return this.#server.ask("POST", "/v1/events", {
      headers: { ...browserHeaders, "user-agent": this.#userAgent, "x-service-site-key": this.#tenant.siteKey },
      body: { session_token: session, events },
    });
  }

  /** Asks, solves, reports and sends; the last answer. */
  async pass(session: string): Promise<Answer> {
    await this.report(session);
    return this.send(session, await solutionOf((await this.issue(session)).json));
  }
}
