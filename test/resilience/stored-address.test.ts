/** `--ip-storage`: what of a visitor's address is in the store afterwards. */
import t from "tap";
import { defaultPlans } from "../../src/contract/configuration/plans.js";
import type { IpStorage } from "../../src/contract/configuration/scoring-worker.js";
import { Sessions } from "../../src/control-plane/sessions/sessions.js";
import { storedAddress } from "../../src/net/stored-address.js";
import { batch } from "../support/batches.js";
import { openIngest } from "./ingest.js";

t.test("an address is kept whole, as its network, or not at all", async (t) => {
  for (const [ip, network] of [
    ["203.0.113.77", "203.0.113.0"],
    ["2001:db8:a:b::77", "2001:db8:a::"],
    ["2001:db8::77", "2001:db8::"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::"],
    ["::1", "::"],
    ["fe80::1:2:3:4", "fe80::"],
    ["", ""],
  ] as const) {
    t.same([storedAddress(ip, "full"), storedAddress(ip, "truncated"), storedAddress(ip, "none")], [ip, network, ""]);
  }
});

for (const [storage, expected] of [
  ["full", "203.0.113.77"],
  ["truncated", "203.0.113.0"],
  ["none", ""],
] as const satisfies [IpStorage, string][]) {
  t.test(`with --ip-storage ${storage} the session's record holds no more than that`, async (t) => {
    const { store, owner, take } = await openIngest(t, defaultPlans, storage);
    const [answer] = take({ body: batch("address0", 2), nowMs: Date.UTC(2026, 10, 21), ip: "203.0.113.77" });
    if (answer === undefined || !("session_token" in answer)) throw new Error("the batch was refused");
    t.equal(new Sessions(store).scoredState(owner.projectId, answer.session_token)?.last.ip, expected);
    const holds = [...store.sessions.getRange({})].some(({ value }) => value.includes("203.0.113.77"));
    t.equal(holds, storage === "full");
  });
}
