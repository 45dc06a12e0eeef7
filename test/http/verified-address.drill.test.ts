/** `verified` belongs to the address that proved it, however little of addresses is stored, and a proof by DNS finds its session. */
import t, { type Test } from "tap";
import { batch } from "../support/batches.js";
import { type DnsServer, startDnsServer } from "../support/dns-server.js";
import { askUntil } from "../support/server.js";
import { type Service, startService, type Tenant } from "./service.js";

const crawlerAgent = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
/** In a published range of Google's. */
const listed = "66.249.64.1";
/** Two addresses of one /24: the first has a name of Google's. */
const named = "192.0.2.10";
const neighbour = "192.0.2.20";

function name(dns: DnsServer, ip: string, when?: Promise<unknown>): void {
  const hostname = `crawl-${ip.replaceAll(".", "-")}.googlebot.com`;
  const reverse = `${ip.split(".").reverse().join(".")}.in-addr.arpa`;
  dns.on("PTR", reverse, { records: [hostname], ...(when !== undefined && { after: when }) });
  dns.on("A", hostname, { records: [ip] });
}

async function start(t: Test, storage: string): Promise<{ dns: DnsServer; service: Service; one: Tenant }> {
  const dns = await startDnsServer();
  t.teardown(() => dns.close());
  const service = await startService(t, {
    "ip-storage": storage,
    "dns-servers": dns.address,
    "trusted-proxies": "127.0.0.1",
    "verdict-ttl": "0",
  });
  return { dns, service, one: await service.tenant("one") };
}

let batches = 0;
const from = (ip: string, agent?: string) => ({
  "x-forwarded-for": ip,
  ...(agent !== undefined && { "user-agent": agent }),
});

for (const storage of ["full", "truncated", "none"] as const) {
  t.test(`with --ip-storage ${storage}`, async (t) => {
    const { dns, service, one } = await start(t, storage);
    const bandOf = async (session: string, query = "") =>
      (await service.ask("GET", `/v1/sessions/${session}/verdict${query}`, { as: one.privateKey })).json.verdict;
    const send = (ip: string, token: string | null = null, agent?: string) =>
      service.ingest(one, batch(`address${++batches}`, 1, token), from(ip, agent));
    const verifiedByDns = async (token: string) => {
      const { json } = await askUntil(
        async () => ({
          ...(await service.ask("GET", `/v1/sessions/${token}/verdict`, { as: one.privateKey })),
          text: "",
        }),
        ({ json }) => json.verdict === "verified",
      );
      return json.verdict;
    };

    await t.test(
      "a session that leaves the listed address is not verified any more, asked with an address or without",
      async (t) => {
        const session = await send(listed);
        t.equal(await bandOf(session), "verified");
        t.not(await bandOf(session, "?ip=203.0.113.9"), "verified", "asked by another address");
        await send("203.0.113.9", session);
        t.not(await bandOf(session), "verified");
        t.not(await bandOf(session, "?ip=203.0.113.9"), "verified");
        t.equal(await bandOf(session, `?ip=${listed}`), "verified", "the address of the request counts");
      },
    );

    await t.test("a batch of repeats alone tells of the new address", async (t) => {
      const first = batch(`repeat${storage}`, 1);
      const session = await service.ingest(one, first, from(listed));
      t.equal(await bandOf(session), "verified");
      await service.ingest(one, { ...first, session_token: session }, from("203.0.113.9"));
      t.not(await bandOf(session), "verified");
    });

    await t.test("a proof by DNS stays with its address, and not with its network", async (t) => {
      name(dns, named);
      const session = await send(named, null, crawlerAgent);
      t.equal(await verifiedByDns(session), "verified");
      await send(named, session);
      t.equal(await bandOf(session), "verified", "it outlives the batch that asked for it");
      t.equal(await bandOf(session, `?ip=${named}`), "verified");
      t.not(await bandOf(session, `?ip=${neighbour}`), "verified");
      await send(neighbour, session);
      t.not(await bandOf(session), "verified");
    });

    await t.test("an answer of DNS for an address that the session has left verifies nobody", async (t) => {
      const ip = "192.0.2.30";
      let answer = (): void => {};
      const moved = new Promise<void>((resolve) => {
        answer = resolve;
      });
      name(dns, ip, moved);
      const session = await send(ip, null, crawlerAgent);
      await send(neighbour, session);
      answer();
      // Another session of that address is verified by the same answer: it has come when this one is.
      const other = await send(ip, null, crawlerAgent);
      t.equal(await verifiedByDns(other), "verified");
      t.not(await bandOf(session), "verified");
    });

    await t.test("a block of a request without a session keeps no more of its address", async (t) => {
      const ask = (method: string, path: string, as: string, body?: unknown) => service.ask(method, path, { as, body });
      const path = `/v1/projects/${one.project.id}`;
      await ask("PUT", `${path}/request-scoring`, one.token, { enabled: true });
      const rule = { name: "Closed", expression: 'path == "/closed"', action: "block" };
      await ask("POST", `${path}/rules`, one.token, rule);
      await ask("POST", "/v1/verdict", one.privateKey, { request: { ip: "203.0.113.77", path: "/closed" } });
      const { data } = (await ask("GET", `${path}/blocks`, one.token)).json;
      const kept = { full: "203.0.113.77", truncated: "203.0.113.0", none: null }[storage];
      t.match(data, [{ session_token: null, ip: kept }]);
    });

    if (storage !== "full") return;
    await t.test(
      "a proof by DNS finds its session when the site key came in the body, also when the key was rotated",
      async (t) => {
        for (const isRotated of [false, true]) {
          const ip = isRotated ? "192.0.2.41" : "192.0.2.40";
          let answer = (): void => {};
          const rotated = new Promise<void>((resolve) => {
            answer = resolve;
          });
          name(dns, ip, rotated);
          const { json } = await service.ask("POST", "/v1/events", {
            headers: from(ip, crawlerAgent),
            body: { ...batch(`inbody${isRotated}`), site_key: one.siteKey },
          });
          if (isRotated) await service.server.projects.rotateKey(one.project.id, "site");
          answer();
          t.equal(await verifiedByDns(json.session_token), "verified", `rotated meanwhile: ${isRotated}`);
        }
      },
    );
  });
}

t.test("a request of an address that DNS proves is verified without a session", async (t) => {
  const { dns, service, one } = await start(t, "full");
  const headers = [["User-Agent", crawlerAgent]];
  const ask = async (request: object) => ({
    ...(await service.ask("POST", "/v1/verdict", { as: one.privateKey, body: { request } })),
    text: "",
  });
  const judge = async (request: object) => (await ask(request)).json;
  /** Once DNS has said so. */
  const until = async (verdict: string, ip: string) =>
    (
      await askUntil(
        () => ask({ ip, headers }),
        ({ json }) => json.verdict === verdict,
      )
    ).json;
  name(dns, named);
  t.match(await judge({ ip: named, headers }), { verdict: "not_computed" }, "request scoring is off");
  t.same(dns.questions, [], "nobody is asked");
  const settings = { as: one.token, body: { enabled: true } };
  await service.ask("PUT", `/v1/projects/${one.project.id}/request-scoring`, settings);
  const verified = { verdict: "verified", verified_bot_category: "search", action: "allow", subject: "request" };
  t.match(await until("verified", named), verified);
  t.match(await judge({ ip: named }), { verdict: "verified" }, "the address is, whatever it sends");
  t.match(await until("definite", neighbour), { verdict: "definite" }, "who only says so is spoofed");

  await t.test("a verdict does not wait for DNS that says nothing, and has its answer when it comes", async (t) => {
    let answer = (): void => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const ip = "192.0.2.50";
    name(dns, ip, asked);
    const unknown = await judge({ ip, headers });
    t.match(unknown, { verdict: "likely_automated", subject: "request" }, "answered before DNS was");
    answer();
    t.match(await until("verified", ip), verified);
  });
});
