/** The adapter of the Node client, by its Express middleware: see `protocol.ts`. */
import { createInterface } from "node:readline";
import { type ClientOptions, createClient, type VerdictClient } from "../../../src/client/client.js";
import { type ExpressRequest, type ExpressResponse, verdictd } from "../../../src/middleware/express.js";
import type { Visit } from "../../../src/middleware/guard.js";
import type { Answer, Command, Hooks, SentRequest } from "../protocol.js";

let failures: string[] = [];
let told = 0;
let nowMs = 1_000_000;
let client: VerdictClient;
let middleware: ReturnType<typeof verdictd>;

function create({ client: given, ...options }: { client?: ClientOptions }, hooks: Hooks): void {
  client = createClient({
    ...given!,
    onError: ({ reason }) => void failures.push(reason),
    now: () => nowMs,
  });
  const { challenge, skip, clientIp, onVerdict, waitForReport } = hooks;
  middleware = verdictd<ExpressRequest, FakeResponse>({
    client,
    ...options,
    ...(challenge !== undefined && { challenge: challenges[challenge] }),
    ...(skip !== undefined && {
      skip: (req) => (skip === "throws" ? fail() : req.originalUrl.startsWith("/private")),
    }),
    ...(clientIp !== undefined && { clientIp: () => (clientIp === "throws" ? fail() : clientIp) }),
    ...(onVerdict !== undefined && {
      onVerdict: () => {
        told++;
        if (onVerdict === "throws") fail();
      },
    }),
    ...(waitForReport !== undefined && { waitForReport: () => (waitForReport === "throws" ? fail() : waitForReport) }),
  }) as typeof middleware;
}

const challenges = {
  own: (_req: ExpressRequest, res: FakeResponse) => {
    res.status(418);
    res.send("prove it");
  },
  passes: (_req: ExpressRequest, _res: FakeResponse, next: () => void) => next(),
  throws: () => fail(),
};

function fail(): never {
  throw new Error("a hook of the test");
}

/** What Express's response is to the middleware. */
class FakeResponse implements ExpressResponse {
  headersSent = false;
  statusCode = 200;
  body = "";
  readonly headers = new Map<string, string[]>();

  status(code: number): this {
    this.statusCode = code;
    return this;
  }

  set(headers: Record<string, string>): this {
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value);
    return this;
  }

  getHeader(name: string): string[] | undefined {
    return this.headers.get(name.toLowerCase());
  }

  setHeader(name: string, value: string | readonly string[]): this {
    this.headers.set(name.toLowerCase(), typeof value === "string" ? [value] : [...value]);
    return this;
  }

  writeHead(status: number): this {
    this.statusCode = status;
    this.headersSent = true;
    return this;
  }

  send(body: string): this {
    this.body = body;
    this.writeHead(this.statusCode);
    return this;
  }
}

async function visit({ method, target, headers, ip, secure }: SentRequest): Promise<Omit<Answer, "failures">> {
  const byName: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    byName[key] = byName[key] === undefined ? value : `${byName[key]}${key === "cookie" ? "; " : ", "}${value}`;
  }
  const req: ExpressRequest = { originalUrl: target, method, headers: byName, ip, secure };
  const res = new FakeResponse();
  let reached = false;
  await middleware(req, res, () => {
    reached = true;
    res.setHeader("Cache-Control", "max-age=60");
    res.setHeader("Set-Cookie", "app=1");
    res.send("ok");
  });
  return {
    status: res.statusCode,
    headers: Object.fromEntries(res.headers),
    body: res.body,
    reached,
    visit: reached && req.verdictd ? seenOf(req.verdictd) : null,
    told,
  };
}

function seenOf({ verdict, sessionToken, context }: Visit): NonNullable<Answer["visit"]> {
  return { verdict, sessionToken, context };
}

async function obey(command: Command): Promise<Omit<Answer, "failures">> {
  if (command.do === "visit") return visit(command.request);
  if (command.do === "loggedIn") return { loggedIn: await client.loggedIn(command.token) };
  if (command.do === "advance") nowMs += command.ms;
  else {
    try {
      create(command.options, command.hooks);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return { error: error.message };
    }
  }
  return {};
}

for await (const line of createInterface({ input: process.stdin })) {
  [failures, told] = [[], 0];
  const answer = await obey(JSON.parse(line) as Command);
  process.stdout.write(`${JSON.stringify({ ...answer, failures } satisfies Answer)}\n`);
}
