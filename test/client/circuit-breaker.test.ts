/** Holds when the circuit breaker lets a call through. */
import t from "tap";
import { CircuitBreaker } from "../../src/client/circuit-breaker.js";

const options = { failuresMax: 3, openMs: 1000, openMsMax: 3000 };

function opened(): CircuitBreaker {
  const breaker = new CircuitBreaker(options);
  for (let count = 1; count <= 3; count++) breaker.fail("normal", 0);
  return breaker;
}

t.test("it opens at the third failure in a row, and says so once", async (t) => {
  const breaker = new CircuitBreaker(options);
  t.same([breaker.fail("normal", 0), breaker.fail("normal", 0)], [false, false]);
  t.equal(breaker.admit(0), "normal");
  t.equal(breaker.fail("normal", 0), true);
  t.equal(breaker.admit(999), null);
  t.equal(breaker.fail("normal", 500), false, "a call begun before it opened");
  t.equal(breaker.admit(1000), "probe", "and did not put the end off");
});

t.test("a success in between starts the count anew", async (t) => {
  const breaker = new CircuitBreaker(options);
  breaker.fail("normal", 0);
  breaker.fail("normal", 0);
  breaker.succeed();
  t.equal(breaker.fail("normal", 0), false);
  t.equal(breaker.admit(0), "normal");
});

t.test("one probe at a time, and a lost one is followed by another", async (t) => {
  const breaker = opened();
  t.equal(breaker.admit(1000), "probe");
  t.equal(breaker.admit(1001), null);
  t.equal(breaker.admit(1999), null);
  t.equal(breaker.admit(2000), "probe");
});

t.test("each failed probe doubles the open time, up to its bound; a good one closes", async (t) => {
  const breaker = opened();
  let nowMs = 1000;
  for (const openMs of [2000, 3000, 3000]) {
    t.equal(breaker.admit(nowMs), "probe");
    breaker.fail("probe", nowMs);
    t.equal(breaker.admit(nowMs + openMs - 1), null);
    nowMs += openMs;
  }
  t.equal(breaker.admit(nowMs), "probe");
  breaker.succeed();
  t.equal(breaker.admit(nowMs), "normal");
  for (let count = 1; count <= 3; count++) breaker.fail("normal", nowMs);
  t.equal(breaker.admit(nowMs + 1000), "probe", "and the open time is the first again");
});

t.test("slow answers count only where different visitors meet them", async (t) => {
  const breaker = new CircuitBreaker(options);
  for (let count = 0; count < 20; count++) t.equal(breaker.failSlowly("normal", 0, "192.0.2.1"), false);
  t.equal(breaker.admit(0), "normal", "one visitor opens it for nobody");
  t.equal(breaker.failSlowly("normal", 0, "192.0.2.2"), false);
  t.equal(breaker.failSlowly("normal", 0, "192.0.2.3"), true, "three do");
  const other = new CircuitBreaker(options);
  other.failSlowly("normal", 0, "192.0.2.1");
  other.succeed();
  t.equal(other.failSlowly("normal", 0, "192.0.2.1"), false);
  for (const _ of [1, 2]) other.failSlowly("normal", 0, undefined);
  t.equal(other.admit(0), null, "a visitor who is not known counts each time");
});
