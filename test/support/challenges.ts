/** Challenges as a browser meets them: asked for over HTTP, solved by altcha-lib's own solver. */
import { pbkdf2Sync } from "node:crypto";
import { type Challenge, type DeriveKeyFunction, solveChallenge } from "altcha-lib";
import type { Answer } from "./ask.js";
import { browserHeaders } from "./batches.js";
import type { Tenant, TestServer } from "./server.js";

/** ALTCHA's key derivation, in this thread: a call of Node's asynchronous one takes longer than its work. */
export const deriveKey: DeriveKeyFunction = async ({ cost, keyLength = 32 }, salt, password) => ({
  derivedKey: pbkdf2Sync(password, salt, cost, keyLength, "sha256"),
});

/** The text that goes to `/v1/challenges/solution`. */
export async function solutionOf(challenge: Challenge): Promise<string> {
  const solution = await solveChallenge({ challenge, deriveKey });
  return encodedSolution({ challenge, solution });
}

export function encodedSolution(payload: unknown): string {
  return Buffer.from(JSON.stringify(payload)).toString("base64");
}

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

  /** Asks, solves and sends; the last answer. */
  async pass(session: string): Promise<Answer> {
    const { parameters, signature } = (await this.issue(session)).json;
    return this.send(session, await solutionOf({ parameters, signature }));
  }
}
