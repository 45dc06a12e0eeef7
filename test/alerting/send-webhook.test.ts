/** Where alerts are sent and where not, and what a receiver can do to whoever sends. */
import t from "tap";
import { addressFault, receiverUrl, resolveReceiver } from "../../src/alerting/receiver-address.js";
import { sendWebhook } from "../../src/alerting/send-webhook.js";
import { startReceiver } from "./receiver.js";

const message = { body: "{}", secret: "0123456789abcdef", nowMs: 1_700_000_000_000 };

t.test("URLs of channels", async (t) => {
  const refused = (url: string, arePrivateAllowed = false): boolean => "fault" in receiverUrl(url, arePrivateAllowed);
  for (const url of [
    "https://hooks.slack.com/services/T/B/x",
    "https://203.0.114.7/x",
    "https://[2606:4700::1111]/x",
    "https://example.com:8443/x?y=z",
  ]) {
    t.equal(refused(url), false, url);
  }
  for (const url of [
    "http://example.com/x",
    "https://user:secret@example.com/x",
    "https://example.com/x#y",
    "ftp://example.com/x",
    "x",
    "https://127.0.0.1/x",
    "https://2130706433/x",
    "https://0x7f.1/x",
    "https://[::1]/x",
    "https://[::ffff:127.0.0.1]/x",
    "https://10.0.0.1/x",
    "https://192.168.1.1/x",
    "https://169.254.169.254/latest/meta-data",
    "https://[fe80::1]/x",
    "https://[fd00::1]/x",
    "https://0.0.0.0/x",
    "https://100.64.0.1/x",
    "https://example.com:0/x",
  ]) {
    t.equal(refused(url), true, url);
  }
  for (const url of ["http://127.0.0.1:9/x", "http://10.0.0.1/x", "https://[fd00::1]/x"])
    t.equal(refused(url, true), false, url);
  for (const url of ["http://169.254.169.254/x", "http://203.0.114.7/x", "https://u:p@127.0.0.1/x"])
    t.equal(refused(url, true), true, url);
});

t.test("a name that leads to this machine is refused after DNS", async (t) => {
  t.match(await resolveReceiver(new URL("https://localhost/x"), false), { fault: /private or loopback/ });
  t.match(await resolveReceiver(new URL("https://localhost/x"), true), { address: /^(127|::1)/ });
  t.match(await resolveReceiver(new URL("https://no-such-host.invalid/x"), false), { isUnknown: true });
  t.match(addressFault("203.0.114.7", "http:", true), /https/);
  const over = AbortSignal.abort();
  t.match(await resolveReceiver(new URL("https://localhost/x"), true, over), { isUnknown: true, fault: /in time/ });
  t.match(await sendWebhook({ ...message, url: "https://localhost/x", arePrivateAllowed: false }), {
    isDelivered: false,
    error: /private or loopback/,
  });
});

t.test("redirects are not followed, refusals and faults are told, and a long answer is not read", async (t) => {
  const other = await startReceiver(t);
  const redirecting = await startReceiver(t, (reply) => reply.writeHead(307, { location: other.url }).end());
  t.match(await sendWebhook({ ...message, url: redirecting.url, arePrivateAllowed: true }), {
    isDelivered: false,
    status: 307,
    error: /redirect/,
  });
  t.equal(other.received.length, 0);
  const endless = await startReceiver(t, (reply) => {
    reply.writeHead(200);
    const write = (): void => {
      while (reply.write("x".repeat(65_536)));
      reply.once("drain", write);
    };
    write();
  });
  t.match(await sendWebhook({ ...message, url: endless.url, arePrivateAllowed: true }), {
    isDelivered: true,
    status: 200,
  });
  t.match(await sendWebhook({ ...message, url: "http://127.0.0.1:1/x", arePrivateAllowed: true }), {
    isDelivered: false,
    error: "the receiver refused the connection (ECONNREFUSED)",
  });
  const overTls = other.url.replace(/^http:/, "https:");
  t.match(await sendWebhook({ ...message, url: overTls, arePrivateAllowed: true }), {
    error: "the receiver does not speak TLS, which https needs (EPROTO)",
  });
  const closing = await startReceiver(t, (reply) => reply.destroy());
  t.match(await sendWebhook({ ...message, url: closing.url, arePrivateAllowed: true }), {
    error: "the receiver closed the connection before it answered (ECONNRESET)",
  });
  t.match(await sendWebhook({ ...message, url: other.url, arePrivateAllowed: false }), {
    isDelivered: false,
    error: /https/,
  });
});

t.test("a receiver that hangs is given up", async (t) => {
  const hanging = await startReceiver(t, () => {});
  t.match(await sendWebhook({ ...message, url: hanging.url, arePrivateAllowed: true }), {
    isDelivered: false,
    status: null,
    error: "no answer within 5 s",
  });
});
