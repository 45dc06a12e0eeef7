/** HTTPS of the real process with certificates made by openssl, renewed by SIGHUP while connections are open. */
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, type TLSSocket } from "node:tls";
import t, { type Test } from "tap";
import { readCertificate, reasonToKeepOld } from "../../src/config/certificate.js";
import { serve, verdictd } from "../support/process.js";
import { replacePair, signInto } from "./certificates.js";

interface Connection {
  readonly socket: TLSSocket;
  /** CN of the certificate it was made with. */
  readonly name: string;
  /** Status of GET /healthz on this connection. */
  healthz(): Promise<number>;
}

async function open(t: Test, port: number): Promise<Connection> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, servername: "localhost" });
  socket.on("error", () => socket.destroy());
  t.teardown(() => socket.destroy());
  await Promise.race([
    once(socket, "secureConnect"),
    once(socket, "close").then(() => Promise.reject(new Error("refused"))),
  ]);
  return {
    socket,
    name: String(socket.getPeerCertificate().subject.CN),
    healthz: async () => {
      socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
      const [data] = await Promise.race([once(socket, "data"), once(socket, "close")]);
      return data instanceof Buffer ? Number(data.toString("latin1").slice(9, 12)) : 0;
    },
  };
}

t.test("a renewed certificate is for new connections, and the open ones go on", async (t) => {
  const folder = t.testdir({ data: {} });
  const live = signInto(folder, "live");
  const [one, two] = [signInto(folder, "one.example"), signInto(folder, "two.example")];
  replacePair(live, one);
  const flags = ["--tls-cert", live.certificate, "--tls-key", live.key, "--http-threads", "2"];
  const server = await serve(t, `${folder}/data`, { flags });
  const old = await Promise.all(Array.from({ length: 8 }, () => open(t, server.port)));
  for (const { name } of old) t.equal(name, "one.example");
  const expiry = (await server.metrics()).sum("verdictd_tls_certificate_expiry_timestamp_seconds");
  t.ok(expiry > Date.now() / 1000 && expiry < Date.now() / 1000 + 3 * 86_400);

  await t.test("what can't be used is refused and logged, and the old one stays", async (t) => {
    const bad = [
      () => writeFileSync(live.certificate, "not a certificate"),
      () => copyFileSync(two.certificate, live.certificate),
      () => rmSync(live.key),
    ];
    for (const [index, spoil] of bad.entries()) {
      replacePair(live, one);
      spoil();
      server.child.kill("SIGHUP");
      const refused = await server.metricsOnce(
        ({ sum }) => sum("verdictd_tls_reloads_total", { result: "refused" }) === index + 1,
      );
      t.equal(refused.sum("verdictd_tls_reloads_total", { result: "refused" }), index + 1);
      t.equal((await open(t, server.port)).name, "one.example");
      // Asked now and then: one that says nothing for ten seconds is closed.
      for (const connection of old) t.equal(await connection.healthz(), 200);
    }
    await server.logged("the new certificate can't be used; the old one stays");
    t.notOk(server.lines.join("\n").includes("PRIVATE KEY"));
  });

  replacePair(live, two);
  server.child.kill("SIGHUP");
  t.match(await server.logged("certificate reloaded"), { subject: "CN=two.example" });
  const fresh = await Promise.all(Array.from({ length: 8 }, () => open(t, server.port)));
  t.same([...new Set(fresh.map(({ name }) => name))], ["two.example"], "on every thread");
  await t.rejects(fetch(`http://127.0.0.1:${server.port}/healthz`), "plain HTTP is not answered");
  for (const connection of [...old, ...fresh]) t.equal(await connection.healthz(), 200);
  t.equal((await server.metrics()).sum("verdictd_tls_reloads_total", { result: "done" }), 1);
  t.equal(await server.end("SIGTERM"), 0, "it stops with connections of both certificates open");
});

t.test("a certificate out of its time does not replace one that works", async (t) => {
  const facts = readCertificate(signInto(t.testdir(), "some.example"));
  if ("fault" in facts) throw new Error(facts.fault);
  t.equal(facts.subject, "CN=some.example");
  t.equal(facts.validToMs - facts.validFromMs, 2 * 86_400_000);
  t.equal(reasonToKeepOld(facts, facts.validFromMs), null);
  t.equal(reasonToKeepOld(facts, facts.validToMs), null);
  t.match(reasonToKeepOld(facts, facts.validToMs + 1), /expired on/);
  t.match(reasonToKeepOld(facts, facts.validFromMs - 1), /not valid before/);
});

t.test("a start with files that can't be used fails with the reason", async (t) => {
  const folder = t.testdir({ data: {} });
  const [one, two] = [signInto(folder, "one.example"), signInto(folder, "two.example")];
  const start = (certificate: string, key: string) =>
    verdictd([
      "serve",
      "--port",
      "0",
      "--admin-port",
      "0",
      "--data-dir",
      `${folder}/data`,
      "--tls-cert",
      certificate,
      "--tls-key",
      key,
    ]);
  const missing = await start(`${folder}/missing.pem`, one.key);
  t.equal(missing.code, 2);
  t.match(missing.stderr, /can't read .*missing\.pem \(ENOENT\)/);
  const mismatch = await start(one.certificate, two.key);
  t.equal(mismatch.code, 2);
  t.match(mismatch.stderr, /are not a certificate and its key \(.*key values mismatch\)/);
});

t.test(
  "a certificate of one kind with a key of another is refused with both kinds, before the port is taken",
  async (t) => {
    const folder = t.testdir({ data: {} });
    const pair = signInto(folder, "mixed");
    const rsa = `${folder}/rsa.key`;
    writeFileSync(
      rsa,
      generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }),
    );
    const read = readCertificate({ certificate: pair.certificate, key: rsa });
    t.match(read, { fault: `${rsa} is not the key of ${pair.certificate}: the certificate is EC, the key is RSA` });
    const other = signInto(folder, "other");
    t.match(readCertificate({ certificate: pair.certificate, key: other.key }), { fault: /mixed\.crt/ });
    const { code, stderr } = await verdictd([
      "serve",
      "--data-dir",
      `${folder}/data`,
      "--tls-cert",
      pair.certificate,
      "--tls-key",
      rsa,
    ]);
    t.not(code, 0);
    t.match(stderr, "the certificate is EC, the key is RSA");
    t.notMatch(stderr, "App construction");
  },
);
