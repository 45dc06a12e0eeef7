/** A project that asks about requests, and short names for what the tests of this folder do with it. */
import { automatedBatch, batch, browserHeaders } from "../support/batches.js";
import { type Answer, askerAs, newProject, type Tenant, type TestServer } from "../support/server.js";

/** Header lines of a browser's navigation, in Chromium's order. */
export const navigation: readonly (readonly [string, string])[] = [
  ["Host", "shop.example"],
  ["Connection", "keep-alive"],
  ["sec-ch-ua", browserHeaders["sec-ch-ua"]],
  ["sec-ch-ua-mobile", "?0"],
  ["sec-ch-ua-platform", '"Linux"'],
  ["Upgrade-Insecure-Requests", "1"],
  ["User-Agent", browserHeaders["user-agent"]],
  [
    "Accept",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
  ],
  ["Sec-Fetch-Site", "none"],
  ["Sec-Fetch-Mode", "navigate"],
  ["Sec-Fetch-User", "?1"],
  ["Sec-Fetch-Dest", "document"],
  ["Accept-Encoding", "gzip, deflate, br, zstd"],
  ["Accept-Language", "en-GB,en;q=0.9"],
];

/** What the tests say of a request; anything may stand for what a broken backend sends. */
export type Told = Readonly<Record<string, unknown>>;

export interface AskingProject {
  readonly id: number;
  readonly siteKey: string;
  readonly privateKey: string;
  /** A request of the control plane below the project. */
  control(method: string, rest: string, body?: unknown): Promise<Answer>;
  /** `POST /v1/verdict`. */
  judge(request: Told, sessionToken?: unknown): Promise<Answer>;
  read(token: string, query?: string): Promise<Answer>;
  /** Turns request scoring on, with other settings of it. */
  enable(more?: object): Promise<void>;
  rule(expression: string, action: string, more?: object): Promise<number>;
  /** The token of a session in a bot band, or of a person's. */
  bot(prefix: string): Promise<string>;
  person(prefix: string): Promise<string>;
}

/** A new project of the tenant, its scoring enabled and its request scoring off. */
export async function askingProject(server: TestServer, { accountId, token }: Tenant): Promise<AskingProject> {
  const id = await newProject(server, accountId);
  const control = askerAs(server, token, `/v1/projects/${id}`);
  const { site_key: siteKey, private_key: privateKey } = (await control("POST", "/scoring")).json;
  const ingest = async (body: object): Promise<string> => {
    const headers = { ...browserHeaders, "x-service-site-key": siteKey };
    return (await server.ask("POST", "/v1/events", { headers, body })).json.session_token;
  };
  return {
    id,
    siteKey,
    privateKey,
    control,
    judge: (request, sessionToken) =>
      server.ask("POST", "/v1/verdict", { token: privateKey, body: { session_token: sessionToken, request } }),
    read: (session, query = "") => server.ask("GET", `/v1/sessions/${session}/verdict${query}`, { token: privateKey }),
    enable: async (more = {}) => {
      await control("PUT", "/request-scoring", { enabled: true, ...more });
    },
    rule: async (expression, action, more = {}) => {
      const { status, json } = await control("POST", "/rules", { name: expression, expression, action, ...more });
      if (status !== 201) throw new Error(json.message);
      return json.id;
    },
    bot: (prefix) => ingest(automatedBatch(prefix)),
    person: (prefix) => ingest(batch(prefix, 3)),
  };
}
