// Directories over real TLS: what is taken, what is refused, and that nothing but public addresses is connected to.
import { once } from "node:events";
import { createServer } from "node:net";
import { gzipSync } from "node:zlib";
import t from "tap";
import { directoryPath } from "../../../src/bots/signed/agents.js";
import { directoryFetcher } from "../../../src/bots/signed/directory-fetch.js";
import { limits } from "../../../src/limits.js";
import { isConnectableAddress } from "../../../src/net/connectable-address.js";
import { listening } from "../../support/listening.js";
import { type Answer, keySet, startDirectory } from "./directory-server.js";
import { newKey } from "./signer.js";

const { jwk } = newKey();
const type = "application/http-message-signatures-directory+json";
const reply =
  (status: number, headers: Record<string, string>, body: string | Buffer): Answer =>
  (_, response) => {
    response.writeHead(status, headers).end(body);
  };

t.test("a directory is fetched from the well-known path, its public keys are taken", async (t) => {
  const server = await startDirectory(t, keySet({ ...jwk, d: "secret", use: "sig" }, { kty: "oct", k: "x" }));
  t.same(await directoryFetcher(server.parts)(server.origin), { keys: [jwk] });
  t.same(server.asked, [`GET ${directoryPath}`]);
  server.answer = keySet();
  t.same(await directoryFetcher(server.parts)(server.origin), { keys: [] }, "an empty set is one");
});

t.test("what is no directory is refused", async (t) => {
  const server = await startDirectory(t, keySet());
  const fetch = directoryFetcher(server.parts);
  const failure = async (answer: Answer) => {
    server.answer = answer;
    const fetched = await fetch(server.origin);
    return "failure" in fetched ? fetched.failure : "";
  };
  const location = { location: `${server.origin}/elsewhere` };
  t.equal(await failure(reply(302, location, "")), "answers 302");
  t.equal(server.asked.filter((line) => line.includes("elsewhere")).length, 0, "no redirect is followed");
  t.equal(await failure(reply(404, { "content-type": type }, "{}")), "answers 404");
  t.equal(await failure(reply(203, { "content-type": type }, '{"keys":[]}')), "answers 203");
  t.match(await failure(reply(200, { "content-type": "text/html" }, '{"keys":[]}')), /media type/);
  t.match(await failure(reply(200, { "content-type": type }, "<html>")), /not JSON/);
  t.match(await failure(reply(200, { "content-type": type }, "[]")), /no key set/);
  t.match(await failure(reply(200, { "content-type": type }, "null")), /no key set/);
  const packed = { "content-type": type, "content-encoding": "gzip" };
  t.match(await failure(reply(200, packed, gzipSync('{"keys":[]}'))), /compressed/);
  t.match(await failure(keySet(...Array(limits.agentKeysMax + 1).fill(jwk))), /21 keys: at most 20/);
  const full = '{"keys":[]}'.padEnd(limits.agentDirectoryBytesMax);
  t.equal(await failure(reply(200, { "content-type": type }, full)), "", "64 KiB are taken");
  t.match(await failure(reply(200, { "content-type": type }, `${full} `)), /more than 65536 bytes/);
  t.match(await failure((_, response) => response.destroy()), /can't be reached/);
});

t.test("a directory that never ends, in bytes or in time, is given up", async (t) => {
  const server = await startDirectory(t, (_, response) => {
    response.writeHead(200, { "content-type": type });
    const send = (): void => {
      while (!response.destroyed && response.write(" ".repeat(16_384)));
    };
    response.on("drain", send);
    send();
  });
  t.match(await directoryFetcher(server.parts)(server.origin), { failure: /more than/ });
  const hasty = { ...server.parts, timeoutMs: 200 };
  const fetch = directoryFetcher(hasty);
  server.answer = (_, response) => {
    response.writeHead(200, { "content-type": type }).write("{");
  };
  t.match(await fetch(server.origin), { failure: /no answer in time/ });
  const silent = (await listening(t, createServer())).replace("127.0.0.1", "localhost");
  t.match(await fetch(`https://${silent}`), { failure: /no answer in time/ }, "no TLS either");
  const stuck = directoryFetcher({ ...hasty, resolve: () => new Promise(() => {}) });
  t.match(await stuck(server.origin), { failure: /no answer in time/ }, "nor an answer of the name server");
});

t.test("a certificate that nobody vouches for is refused", async (t) => {
  const server = await startDirectory(t, keySet(jwk));
  const { ca, ...parts } = server.parts;
  t.match(await directoryFetcher(parts)(server.origin), { failure: /can't be reached \(.*SELF_SIGNED/ });
  t.same(server.asked, []);
});

t.test("only public addresses are connected to, whatever the name says", async (t) => {
  const server = await startDirectory(t, keySet(jwk));
  const { ca } = server.parts;
  const notPublic = { failure: "its address is not public" };
  let connections = 0;
  const listener = createServer(() => connections++).listen(0, "127.0.0.1");
  await once(listener, "listening");
  t.teardown(() => listener.close());
  const { port } = listener.address() as { port: number };
  t.same(await directoryFetcher({ ca: ca! })(`https://localhost:${port}`), notPublic, "as a running server does");
  t.same(await directoryFetcher()(`https://127.0.0.1:${port}`), notPublic, "an address");
  t.same(await directoryFetcher()(`https://[::1]:${port}`), notPublic);
  t.same(await directoryFetcher()(`https://[::ffff:127.0.0.1]:${port}`), notPublic);
  t.same(await directoryFetcher()(`https://2130706433:${port}`), notPublic, "an address in disguise");
  const rebound = (...addresses: string[]) =>
    directoryFetcher({ resolve: async () => addresses.map((address) => ({ address, family: 4 })) });
  t.same(await rebound("127.0.0.1", "10.0.0.1", "169.254.169.254")(`https://agent.example:${port}`), notPublic);
  // Of a public and an inner address the inner one is never tried, so that one name can't be used to reach it.
  const tried: string[] = [];
  const mixed = directoryFetcher({
    resolve: async () => [
      { address: "127.0.0.1", family: 4 },
      { address: "127.0.0.2", family: 4 },
    ],
    isAllowed: (address) => {
      tried.push(address);
      return address === "127.0.0.2";
    },
  });
  t.match(await mixed(`https://agent.example:${port}`), { failure: /ECONNREFUSED/ });
  t.same(tried, ["127.0.0.1", "127.0.0.2"]);
  t.equal(connections, 0);
  t.same(server.asked, []);
});

t.test("public are the addresses that are given out, and no others", async (t) => {
  for (const address of ["8.8.8.8", "104.18.32.7", "2606:4700::6812:2007", "2a00:1450:4001::1"]) {
    t.ok(isConnectableAddress(address), address);
  }
  const others = [
    "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1 192.0.0.1 192.0.2.1",
    "192.168.1.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255",
    ":: ::1 ::127.0.0.1 ::ffff:10.0.0.1 ::ffff:8.8.8.8.8 64:ff9b::7f00:1 100::1 2001:db8::1 2002:7f00:1:: 2001::1",
    "fc00::1 fd12::1 fe80::1 fec0::1 ff02::1 4000::1 localhost",
  ];
  for (const address of others.join(" ").split(" ")) t.notOk(isConnectableAddress(address), address);
  t.notOk(isConnectableAddress(""));
});
