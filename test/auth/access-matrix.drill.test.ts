/**
 * Who may call what: every route of the table × every role × abilities × strict or not, over real sockets. What is expected stands here
 * in words of its own, so a route that is added, or asks for something else, fails until this table says so too.
 */
import t from "tap";
import type { Ability } from "../../src/contract/api/access.js";
import { type Role, roles } from "../../src/contract/configuration/entities.js";
import type { Method, ProjectRoute, TokenRoute } from "../../src/http/route.js";
import { type Answer, good, type Service, startService } from "../http/service.js";
import { batch } from "../support/batches.js";
import { countRows } from "../support/test-store.js";

/** Who may: anybody, holders of a key, any token, roles that write, tokens with the ability within the role, or such of owners and admins. */
type Access = "anybody" | "site key" | "private key" | "any token" | "change" | "read" | "write" | "administer";

const P = "/v1/projects/:project";
const expected: Readonly<Record<string, Access>> = {
  "POST /v1/events": "site key",
  "OPTIONS /v1/events": "anybody",
  "POST /v1/challenges": "site key",
  "OPTIONS /v1/challenges": "anybody",
  "POST /v1/challenges/solution": "site key",
  "OPTIONS /v1/challenges/solution": "anybody",
  "POST /v1/start-tickets": "site key",
  "OPTIONS /v1/start-tickets": "anybody",
  "GET /v1/sessions/:session_token/verdict": "private key",
  "POST /v1/verdict": "private key",
  "POST /v1/challenge-page": "private key",
  "POST /v1/sessions/:session_token/logged-in": "private key",
  "GET /v1/forward-auth": "private key",
  "GET /v1/forward-auth/x-original": "private key",
  "GET /v1/forward-auth/x-original-url": "private key",
  "GET /v1/forward-auth/envoy": "private key",
  "GET /v1/detections": "anybody",
  "GET /v1/declared-bots": "anybody",
  "GET /v1/agents": "anybody",
  "GET /v1/signed-agents": "anybody",
  "GET /user": "any token",
  "GET /v1/account": "any token",
  [`GET ${P}/rules`]: "any token",
  [`POST ${P}/scoring`]: "change",
  [`POST ${P}/scoring/rotate`]: "change",
  [`PUT ${P}/scoring/settings`]: "change",
  [`POST ${P}/rules`]: "change",
  [`PATCH ${P}/rules/:rule`]: "change",
  [`PUT ${P}/rules/:rule`]: "change",
  [`DELETE ${P}/rules/:rule`]: "change",
  "GET /v1/verified-bots/export": "read",
  "GET /v1/projects": "read",
  "POST /v1/projects": "write",
  "GET /v1/usage": "read",
  "GET /v1/audit": "read",
  "GET /v1/tokens": "read",
  "GET /v1/ip-lists": "read",
  [`GET ${P}/scoring`]: "read",
  [`GET ${P}/sessions`]: "read",
  [`GET ${P}/sessions/:session_token`]: "read",
  [`POST ${P}/sessions/query`]: "read",
  [`GET ${P}/sessions/:session_token/trail`]: "read",
  [`GET ${P}/blocks`]: "read",
  [`GET ${P}/marks`]: "read",
  [`PUT ${P}/sessions/:session_token/mark`]: "write",
  [`DELETE ${P}/sessions/:session_token/mark`]: "write",
  [`DELETE ${P}/sessions/:session_token`]: "write",
  [`GET ${P}/incidents`]: "read",
  [`POST ${P}/incidents/:incident/mute`]: "write",
  [`GET ${P}/alerts`]: "read",
  [`POST ${P}/alerts`]: "write",
  [`PATCH ${P}/alerts/:alert`]: "write",
  [`DELETE ${P}/alerts/:alert`]: "write",
  [`POST ${P}/alerts/test`]: "read",
  [`GET ${P}/channels`]: "read",
  [`POST ${P}/channels`]: "write",
  [`DELETE ${P}/channels/:channel`]: "write",
  [`POST ${P}/channels/:channel/test`]: "write",
  [`GET ${P}/channels/:channel/deliveries`]: "read",
  [`GET ${P}/stats`]: "read",
  [`GET ${P}/traffic`]: "read",
  [`GET ${P}/requests`]: "read",
  [`GET ${P}/crawlers`]: "read",
  [`GET ${P}/rules/hits`]: "read",
  [`POST ${P}/rules/test`]: "read",
  [`POST ${P}/scoring/settings/test`]: "read",
  [`GET ${P}/exceptions`]: "read",
  [`POST ${P}/exceptions`]: "write",
  [`DELETE ${P}/exceptions/:exception`]: "write",
  [`GET ${P}/challenge`]: "read",
  [`PUT ${P}/challenge`]: "write",
  [`GET ${P}/request-scoring`]: "read",
  [`PUT ${P}/request-scoring`]: "write",
  "POST /v1/tokens": "write",
  "DELETE /v1/tokens/:token": "write",
  [`POST ${P}/scoring/end-old-keys`]: "write",
  [`POST ${P}/sessions/delete`]: "write",
  "GET /v1/members": "read",
  "POST /v1/members": "administer",
  "PATCH /v1/members/:user": "administer",
  "DELETE /v1/members/:user": "administer",
};
/** Pages and files, outside the API: anybody, and only to read. */
const pages =
  /^\/($|sdk\.js|sdk-probes\.js|sdk-agents\.js|challenge\.js|verdictd-client\.tgz|clients\/verdictd\.[a-z]+|openapi\.json|healthz|readyz|docs\/pictures\/[a-z-]+\.webp|(console|docs|demo)(\/[a-z.-]*)?)$/;

const methods: Readonly<Record<Method, string>> = {
  get: "GET",
  post: "POST",
  put: "PUT",
  patch: "PATCH",
  del: "DELETE",
  options: "OPTIONS",
};
const abilitySets: readonly (readonly (Ability | "*")[])[] = [
  ["*"],
  ["projects:read"],
  ["projects:write"],
  ["content:read"],
  ["content:write"],
  ["projects:read", "projects:write"],
  ["content:read", "content:write"],
];

function may(access: Access, role: Role, abilities: readonly string[], isStrict: boolean): boolean {
  const has = (ability: Ability): boolean => abilities.includes("*") || abilities.includes(ability);
  const writes = role !== "viewer";
  if (access === "any token") return true;
  if (access === "change") return writes && (!isStrict || has("projects:write"));
  if (access === "administer") return (role === "owner" || role === "admin") && has("projects:write");
  return access === "read" ? has("projects:read") : writes && has("projects:write");
}

/** Bodies that do harm, by route; and, where the call is permitted, ones that do none. */
const attacks: Readonly<Record<string, object>> = {
  [`POST ${P}/scoring/rotate`]: { type: "private" },
  [`PUT ${P}/scoring/settings`]: { likely_bot_threshold: 1, allow_verified: false },
  [`POST ${P}/rules`]: { name: "Everybody", expression: "score < 100", action: "block" },
  [`PATCH ${P}/rules/:rule`]: { is_active: true, action: "block" },
  [`PUT ${P}/rules/:rule`]: { is_active: true, action: "block" },
  [`PUT ${P}/request-scoring`]: { enabled: true },
  [`PUT ${P}/challenge`]: { enabled: false },
  [`POST ${P}/exceptions`]: {
    subject: { network: "0.0.0.0/0" },
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  },
  [`POST ${P}/rules/test`]: { expression: "score < 100", action: "block" },
  [`POST ${P}/sessions/query`]: { expression: "score < 100" },
  [`PUT ${P}/sessions/:session_token/mark`]: { as: "bot" },
  "POST /v1/projects": { name: "Mine" },
  "POST /v1/tokens": { abilities: ["*"] },
  [`POST ${P}/scoring/end-old-keys`]: { type: "private" },
  [`POST ${P}/sessions/delete`]: { expression: "score < 100", from: "2020-01-01" },
  "POST /v1/members": { name: "Eve", email: "eve@example.com", role: "viewer" },
  "PATCH /v1/members/:user": { role: "viewer" },
};

interface Place {
  readonly project: string;
  readonly rule: string;
  readonly session: string;
  readonly token: string;
  readonly user: string;
}

const pathOf = (route: string, { project, rule, session, token, user }: Place): string =>
  route
    .slice(route.indexOf(" ") + 1)
    .replace(":project", project)
    .replace(":rule", rule)
    .replace(":exception", rule)
    .replace(":session_token", session)
    .replace(":token", token)
    .replace(":user", user);

function call(
  service: Service,
  route: string,
  place: Place,
  as: string | undefined,
  isAttack: boolean,
): Promise<Answer> {
  const body = route in attacks ? (isAttack ? attacks[route]! : {}) : undefined;
  const method = route.slice(0, route.indexOf(" "));
  return service.ask(method, pathOf(route, place), {
    ...(as !== undefined && { as }),
    body,
  });
}

const tokenRoutes = Object.keys(expected).filter((route) =>
  ["any token", "change", "read", "write", "administer"].includes(expected[route]!),
);
const refused = ({ status, json }: Answer) => [status, json?.code];

for (const isStrict of [false, true]) {
  t.test(`every route, role and ability, ${isStrict ? "with" : "without"} --strict-abilities`, async (t) => {
    const service = await startService(t, { demo: "true", ...(isStrict && { "strict-abilities": "true" }) });
    const { accounts, store, routes } = service.server;
    const one = await service.tenant("one");
    const session = await service.ingest(one, batch("matrix00"));
    const rule = [...store.rules.getRange({})][0]!.value;
    const harm: Place = {
      project: String(one.project.id),
      rule: String(rule.id),
      session,
      token: String([...store.tokens.getRange({})][0]!.value.id),
      user: String(one.user.id),
    };
    const harmless: Place = { ...harm, rule: "999999", token: "999999", user: "999999" };
    const contents = async () => ({
      projects: [...store.projects.getRange({})].map(({ value }) => value),
      rules: [...store.rules.getRange({})].map(({ value }) => value),
      exceptions: [...store.exceptions.getRange({})].map(({ value }) => value),
      tokens: [...store.tokens.getRange({})].map(({ value }) => value),
      keys: [...store.keys.getRange({})].map(({ key }) => key),
      members: [...store.memberships.getRange({})].map(({ value }) => value),
      sessions: await countRows(store, "sessions"),
    });

    await t.test("the table of this test is the route table", async (t) => {
      const api = routes.filter(({ path }) => path.startsWith("/v1/") || path === "/user");
      t.same(api.map(({ method, path }) => `${methods[method]} ${path}`).sort(), Object.keys(expected).sort());
      for (const route of routes) {
        if (api.includes(route)) continue;
        t.same([route.credential, route.method], ["none", "get"], route.path);
        t.match(route.path, pages, `${route.path} is a page that anybody may read`);
      }
    });

    const holders: { role: Role; abilities: readonly string[]; secret: string }[] = [];
    for (const role of roles) {
      const user = good(await accounts.createUser(role, `${role}@example.com`));
      good(await accounts.setMember(one.account.id, user.id, role));
      for (const abilities of abilitySets) {
        const request = { accountId: one.account.id, userId: user.id, abilities };
        holders.push({ role, abilities, secret: good(await accounts.createToken(request)).secret });
      }
    }

    await t.test("who lacks the role or the ability is refused, and nothing changes", async (t) => {
      const before = await contents();
      for (const { role, abilities, secret } of holders) {
        const closed = tokenRoutes.filter((each) => !may(expected[each]!, role, abilities, isStrict));
        const answers = await Promise.all(closed.map((route) => call(service, route, harm, secret, true)));
        t.same(
          answers.map((answer, index) => [closed[index], ...refused(answer)]),
          closed.map((route) => [route, 403, "INSUFFICIENT_TOKEN_ABILITY"]),
          `${role} with ${abilities}`,
        );
      }
      t.strictSame(await contents(), before);
      const verdict = await service.ask("GET", `/v1/sessions/${session}/verdict`, { as: one.privateKey });
      t.equal(verdict.status, 200, "the private key is the same");
    });

    await t.test("who has both is let through to the route's own checks", async (t) => {
      for (const { role, abilities, secret } of holders) {
        const open = tokenRoutes.filter((each) => may(expected[each]!, role, abilities, isStrict));
        const answers = await Promise.all(open.map((route) => call(service, route, harmless, secret, false)));
        const odd = answers.map(({ status }, index) => `${open[index]}: ${status}`);
        t.same(
          odd.filter((_, index) => ![200, 204, 404, 422].includes(answers[index]!.status)),
          [],
          `${role} with ${abilities}`,
        );
      }
    });

    // What follows does not depend on the flag.
    if (isStrict) return;
    await t.test("ownership is checked before abilities, bodies and resources", async (t) => {
      const two = await service.tenant("two", { role: "viewer", abilities: ["content:read"] });
      const left = await service.tenant("left");
      good(await accounts.removeMember(left.account.id, left.user.id));
      const own = { ...harm, project: String(left.project.id) };
      for (const route of tokenRoutes) {
        if (route.includes(":project")) {
          const foreign = await call(service, route, harm, two.token, true);
          t.same(refused(foreign), [403, undefined], `foreign: ${route}`);
        }
        const gone = await call(service, route, own, left.token, true);
        if (route === "GET /user") t.equal(gone.status, 200);
        else t.same(refused(gone), [403, undefined], `removed member: ${route}`);
      }
    });

    await t.test("a credential of another kind, or in another place, opens nothing", async (t) => {
      const before = await contents();
      const keyRoutes = Object.keys(expected).filter((route) => expected[route] === "private key");
      const inQuery = ["access_token", "token", "private_key", "key", "authorization"]
        .map((name) => `${name}=${one.privateKey}&${name}=${one.token}`)
        .join("&");
      // Side by side: wrong tokens are answered later and later, and the waiting need not add up.
      await Promise.all([
        ...tokenRoutes.flatMap((route) =>
          [undefined, one.siteKey, one.privateKey, `${one.token}x`].map(async (as) =>
            t.same(refused(await call(service, route, harm, as, true)), [401, "UNAUTHENTICATED"], route),
          ),
        ),
        ...tokenRoutes.map(async (route) => {
          const method = route.slice(0, route.indexOf(" "));
          const answer = await service.ask(method, `${pathOf(route, harm)}?${inQuery}`);
          t.same(refused(answer), [401, "UNAUTHENTICATED"], `${route}, in the query`);
        }),
        ...keyRoutes.flatMap((route) =>
          [undefined, one.siteKey, one.token].map(async (as) => {
            const method = route.slice(0, route.indexOf(" "));
            const answer = await service.ask(
              method,
              `${pathOf(route, harm)}?${inQuery}`,
              as === undefined ? {} : { as },
            );
            if (!route.startsWith("GET /v1/forward-auth")) t.same(refused(answer), [401, "UNAUTHENTICATED"], route);
            else {
              const yes = route.endsWith("/envoy") ? 200 : 204;
              t.same([answer.status, answer.headers.get("x-verdict-error")], [yes, "unauthenticated"], route);
            }
          }),
        ),
      ]);
      t.strictSame(await contents(), before);
    });

    await t.test("only what browsers of other sites need carries CORS headers", async (t) => {
      const origin = { origin: "https://elsewhere.example", "access-control-request-method": "POST" };
      for (const { method, path } of routes) {
        const target = pathOf(`x ${path}`, harmless);
        for (const asked of new Set([methods[method], "OPTIONS"])) {
          const { headers } = await service.ask(asked, target, { as: one.token, headers: origin });
          const isOpen =
            /^\/v1\/(events|challenges|start-tickets)/.test(path) ||
            (/^\/(sdk|sdk-probes|sdk-agents|challenge)\.js$/.test(path) && asked === "GET");
          t.equal(headers.get("access-control-allow-origin"), isOpen ? "*" : null, `${asked} ${path}`);
          t.equal(headers.get("access-control-allow-credentials"), null);
        }
      }
    });
  });
}

t.test("a row that does not say what it needs does not compile", async (t) => {
  const rest = { method: "get", path: "/v1/new", doc: { id: "x", tag: "logs", summary: "x", answers: {} } } as const;
  const handle = () => ({ status: 204 });
  // @ts-expect-error `needs` is missing
  const ofToken: TokenRoute = { ...rest, credential: "token", handle };
  // @ts-expect-error `needs` is missing
  const ofProject: ProjectRoute = { ...rest, credential: "project", handle };
  t.notOk("needs" in ofToken || "needs" in ofProject);
});
