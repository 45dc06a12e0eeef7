/** Guessing credentials is slow on the control plane, and never slows down anybody else. */
import t from "tap";
import { FailedAuthThrottle } from "../../src/http/failed-auth-throttle.js";
import { limits } from "../../src/limits.js";
import { batch } from "../support/batches.js";
import { firstTenant, startServer } from "../support/server.js";

t.test("wrong guesses of an address wait from a number on, for a window", async (t) => {
  const throttle = new FailedAuthThrottle();
  const delays = Array.from({ length: limits.failedAuthsFree + 3 }, () => throttle.delayMs("203.0.113.1", 1000));
  t.same(delays.slice(-4), [0, limits.failedAuthDelayMs, limits.failedAuthDelayMs, limits.failedAuthDelayMs]);
  t.equal(throttle.delayMs("203.0.113.2", 1000), 0, "another address is another count");
  t.equal(throttle.delayMs("203.0.113.1", 1000 + limits.failedAuthWindowMs), 0, "the window ends");
  t.equal(throttle.delayMs("203.0.113.1", 0), 0, "a clock that stepped back starts anew");
});

t.test("addresses without end fill no memory", async (t) => {
  const throttle = new FailedAuthThrottle();
  for (let index = 0; index < 3 * limits.failedAuthAddressesMax; index++) throttle.delayMs(`address ${index}`, 0);
  t.equal(throttle.delayMs("address 0", 0), 0);
});

t.test("all addresses of an IPv6 /64 count as one, IPv4 written as IPv6 one by one", async (t) => {
  const throttle = new FailedAuthThrottle();
  const hex = (index: number): string => index.toString(16).padStart(4, "0");
  const from = (network: string, index: number): number =>
    throttle.delayMs(`2001:0db8:0000:${network}:${hex(index * 7)}:0000:0000:${hex(index)}`, 0);
  for (let index = 0; index < limits.failedAuthsFree; index++) t.equal(from("0001", index), 0);
  t.equal(from("0001", 500), limits.failedAuthDelayMs);
  t.equal(from("0002", 500), 0, "the next /64 is somebody else");
  const mapped = (index: number) => throttle.delayMs(`0000:0000:0000:0000:0000:ffff:cb00:${hex(index)}`, 0);
  for (let index = 0; index < 2 * limits.failedAuthsFree; index++) t.equal(mapped(index), 0);
});

t.test("guesses from everywhere leave the count of one who goes on guessing as it was", async (t) => {
  const throttle = new FailedAuthThrottle();
  const fail = () => throttle.delayMs("203.0.113.1", 0);
  for (let index = 0; index < limits.failedAuthsFree; index++) fail();
  for (let index = 0; index < 2 * limits.failedAuthAddressesMax; index++) {
    throttle.delayMs(`address ${index}`, 0);
    if (index % 1000 === 0) t.equal(fail(), limits.failedAuthDelayMs);
  }
});

t.test("while guesses wait, right tokens and the data plane are answered", async (t) => {
  const server = await startServer(t);
  const tenant = await firstTenant(server);
  const guess = () => server.ask("GET", "/v1/account", { token: `vat_${"x".repeat(43)}` });
  for (let count = 0; count < limits.failedAuthsFree; count++) t.equal((await guess()).status, 401);
  let guesses = 0;
  let isDone = false;
  const guessing = (async () => {
    for (; !isDone; guesses++) t.equal((await guess()).status, 401);
  })();
  const rounds = 10;
  for (let round = 0; round < rounds; round++) {
    const answers = [
      await server.ask("GET", "/v1/account", { token: tenant.token }),
      await server.ask("POST", "/v1/events", {
        headers: { "x-service-site-key": tenant.siteKey },
        body: batch(`guess${round}00`),
      }),
      await server.ask("POST", "/v1/events", { headers: { "x-service-site-key": "pk_x" }, body: batch("guess000") }),
      await server.ask("GET", "/v1/sessions/sess_x/verdict", { token: "sk_x" }),
    ];
    t.same(
      answers.map(({ status }) => status),
      [200, 202, 401, 401],
    );
  }
  // One that waited as guesses do would take as long as a guess, and there are four in a round.
  t.ok(guesses < rounds, `${guesses} guesses were answered during ${rounds} rounds`);
  isDone = true;
  await guessing;
});
