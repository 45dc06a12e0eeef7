/** What the programs of the documentation are held to, in the process that they run in. Imports nothing but types. */

/** A sample as it was written for this run. */
export interface Program {
  readonly place: string;
  readonly file: string;
  /** Where it listens, if it does. */
  readonly port: number;
  readonly source: string;
}

/** The server that is asked, its project and two sessions: one of declared automation, one of a browser. */
export interface Who {
  readonly address: string;
  readonly projectId: number;
  readonly token: string;
  readonly bot: string;
  readonly person: string;
}

export type Claim = readonly [claim: string, found: unknown, wanted: unknown];

// biome-ignore lint/suspicious/noExplicitAny: modules of any form
type Loaded = Program & { readonly module: any };

/** Prints the claims as one line of JSON and ends the process, which the programs' servers would keep alive. */
export async function runChecks(
  programs: readonly Program[],
  load: (file: string) => Promise<unknown>,
  who: Who,
): Promise<void> {
  let claims: Claim[];
  try {
    const loaded = await Promise.all(programs.map(async (each) => ({ ...each, module: await load(each.file) })));
    claims = await checkPrograms(loaded, who);
  } catch (error) {
    claims = [["nothing is thrown", error instanceof Error ? error.stack : error, null]];
  }
  process.stdout.write(`${JSON.stringify(claims)}\n`, () => process.exit());
}

async function checkPrograms(programs: readonly Loaded[], who: Who): Promise<Claim[]> {
  const claims: Claim[] = [];
  const claim = (...each: Claim): void => void claims.push(each);
  const sites = programs.filter(({ source, module }) => /listen\(|serve\(/.test(source) || module.proxy || module.GET);
  const reader = programs.find(({ module }) => module.mayCheckOut !== undefined)!;
  const mayCheckOut = (session: string): Promise<boolean> => reader.module.mayCheckOut(session, "203.0.113.7", "x");

  for (const site of sites) {
    const answer = await visit(site, who.bot);
    claim(`${site.place} lets a bot in while no rule speaks`, answer?.status ?? 200, 200);
    if (answer !== undefined)
      claim(`${site.place} tells the verdict`, ((await answer.json()) as { verdict: unknown }).verdict, "definite");
  }
  claim(`${reader.place} lets a bot in while no rule speaks`, await mayCheckOut(who.bot), true);
  claim(`${reader.place} reports the login`, (await reader.module.loggedIn(who.person)).ok, true);

  const remove = await addRule(who, "block");
  for (const site of sites) {
    claim(`${site.place} blocks a bot`, (await visit(site, who.bot))?.status, 403);
    claim(`${site.place} lets a person in`, (await visit(site, who.person))?.status ?? 200, 200);
  }
  claim(`${reader.place} blocks a bot`, await mayCheckOut(who.bot), false);
  claim(`${reader.place} lets a person in`, await mayCheckOut(who.person), true);
  await remove();

  await addRule(who, "challenge");
  const page = programs.find(({ module }) => module.request !== undefined)!;
  const site = sites.find(({ source }) => source.includes('challenge: "verdictd"'))!;
  let solved = 0;
  // Stands for the browser's work.
  Object.assign(globalThis, { window: { verdictd: { challenge: async () => ++solved > 0 } } });
  const request = (session: string): Promise<Response> =>
    page.module.request(addressOf(site), { headers: headersOf(session) });
  claim(`${page.place} passes a person's answer on`, [(await request(who.person)).status, solved], [200, 0]);
  claim(`${page.place} has a challenge solved and asks again`, [(await request(who.bot)).status, solved], [403, 1]);
  return claims;
}

const headersOf = (session: string) => ({ Cookie: `service_session=${session}`, "X-Real-IP": "203.0.113.7" });
const addressOf = ({ port }: Program): string => `http://127.0.0.1:${port}/checkout`;

/** What the site answers this session; undefined where a proxy lets it go on to the site. */
async function visit(site: Loaded, session: string): Promise<Response | undefined> {
  const headers = headersOf(session);
  const handle = site.module.proxy ?? site.module.GET;
  if (handle === undefined) return fetch(addressOf(site), { headers });
  return handle(new Request("http://shop.example/checkout", { headers }));
}

/** A rule for bots at `/checkout`; the answer removes it. */
async function addRule({ address, projectId, token }: Who, action: string): Promise<() => Promise<unknown>> {
  const rules = `${address}/v1/projects/${projectId}/rules`;
  const headers = { Authorization: `Bearer ${token}` };
  const body = { name: action, expression: 'path starts_with "/checkout" AND band == "definite"', action };
  const answer = await fetch(rules, { method: "POST", headers, body: JSON.stringify(body) });
  const { id } = (await answer.json()) as { id: number };
  return () => fetch(`${rules}/${id}`, { method: "DELETE", headers });
}
