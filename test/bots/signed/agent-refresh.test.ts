// Keys come into the store in the background, are kept on failure, and count at once in every process that has the store open.

import t, { type Test } from "tap";
import { AgentRefresh, type AgentRefreshParts, refreshAgents } from "../../../src/bots/signed/agent-refresh.js";
import { directoryFetcher } from "../../../src/bots/signed/directory-fetch.js";
import { Nonces } from "../../../src/bots/signed/nonces.js";
import { createSignedAgents } from "../../../src/bots/signed/signed-agents.js";
import { SignedAgentStore } from "../../../src/control-plane/lists/signed-agent-store.js";
import { limits } from "../../../src/limits.js";
import { openStore } from "../../../src/store/open-store.js";
import { keySet, startDirectory } from "./directory-server.js";
import { newKey, signedRequest } from "./signer.js";

const startMs = Date.UTC(2026, 10, 22);

/** A store with one agent, whose directory is a real server, and a refresh with a clock of its own. */
async function bed(t: Test, key = newKey()) {
  const server = await startDirectory(t, keySet(key.jwk));
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const keeper = new SignedAgentStore(store);
  await keeper.replace({ version: "1", agents: [{ url: server.origin, name: "Example", category: "ai_agent" }] });
  const clock = { nowMs: startMs };
  const outcomes: (string | null)[] = [];
  const parts: AgentRefreshParts = {
    keeper,
    fetch: directoryFetcher(server.parts),
    now: () => clock.nowMs,
    onFetched: (_, failure) => outcomes.push(failure),
    onFailure: (error) => {
      throw error;
    },
  };
  return { server, store, keeper, clock, outcomes, parts, refresh: new AgentRefresh(parts) };
}

t.test("a listed agent is fetched at the next look, and its signatures are verified from then on", async (t) => {
  const key = newKey();
  const { server, store, refresh } = await bed(t, key);
  // As another thread has it: opened beside, told by the revision alone.
  const other = new SignedAgentStore(store);
  const { judge } = createSignedAgents({ agents: () => other.keyed(), nonces: new Nonces(), allowTestKeys: false });
  const state = async () => (await judge(signedRequest({ key, nowMs: startMs, agent: server.origin }))).signature;
  t.equal(await state(), "unverified");
  t.same(server.asked, [], "a visitor's word fetches nothing");
  await refresh.look();
  t.equal(server.asked.length, 1);
  t.equal(await state(), "verified");
  await other.remove(server.origin);
  t.equal(await state(), "unverified");
});

t.test("keys are fetched anew every hour, and a key that is gone verifies no more", async (t) => {
  const { server, keeper, clock, refresh, outcomes } = await bed(t);
  await refresh.look();
  await refresh.look();
  t.equal(server.asked.length, 1, "not before it is due");
  const next = newKey();
  server.answer = keySet(next.jwk);
  const before = keeper.keyed();
  clock.nowMs += 1.2 * limits.agentFetchEveryMs;
  await refresh.look();
  t.equal(server.asked.length, 2);
  t.not(keeper.keyed(), before);
  t.same(keeper.keyed()[0]?.keys, [next.jwk]);
  clock.nowMs += 1.2 * limits.agentFetchEveryMs;
  const same = keeper.keyed();
  await refresh.look();
  t.equal(server.asked.length, 3);
  t.equal(keeper.keyed(), same, "the same keys are no change");
  t.same(outcomes, [null, null, null]);
});

t.test("the keys of all agents that are due are one change", async (t) => {
  const { server, store, keeper, refresh } = await bed(t);
  await keeper.add({ url: "https://127.0.0.1:1", name: "Away", category: "ai_agent" });
  let changes = 0;
  // As on a cluster, where each change waits for all nodes.
  Object.assign(store, {
    changes: {
      run: async <T>(change: () => T): Promise<T> => {
        changes++;
        return store.root.transactionSync(change);
      },
    },
  });
  await refresh.look();
  t.equal(changes, 1);
  t.equal(keeper.listed().find(({ url }) => url === server.origin)?.keys?.keys.length, 1);
  t.type(keeper.listed().find(({ url }) => url !== server.origin)?.fetch?.failure, "string");
});

t.test("a directory that fails keeps its keys, and is asked again later and later", async (t) => {
  const { server, keeper, clock, refresh, outcomes } = await bed(t);
  await refresh.look();
  const kept = keeper.keyed();
  server.answer = (_, response) => void response.writeHead(500).end();
  clock.nowMs += 1.2 * limits.agentFetchEveryMs;
  await refresh.look();
  t.equal(keeper.keyed(), kept);
  t.match(keeper.listed()[0], { keys: { source: "fetched" }, fetch: { failure: "answers 500" } });
  await refresh.look();
  t.equal(server.asked.length, 2, "not at once");
  clock.nowMs += 1.2 * limits.agentRetryMs;
  await refresh.look();
  t.equal(server.asked.length, 3);
  clock.nowMs += 1.2 * limits.agentRetryMs;
  await refresh.look();
  t.equal(server.asked.length, 3, "the second time it waits longer");
  clock.nowMs += 1.2 * limits.agentRetryMs;
  await refresh.look();
  t.same(outcomes, [null, "answers 500", "answers 500", "answers 500"]);
});

t.test("imported keys are kept like fetched ones, and put the fetch off", async (t) => {
  const { server, keeper, clock, refresh } = await bed(t);
  const own = newKey();
  await keeper.importKeys(server.origin, [own.jwk], new Date(clock.nowMs).toISOString());
  await refresh.look();
  t.same(server.asked, []);
  t.same(keeper.keyed()[0]?.keys, [own.jwk]);
  t.notOk(await keeper.importKeys("https://stranger.example", [own.jwk], ""), "of a listed agent only");
});

t.test("an agent that is taken off the list while it is fetched stays off", async (t) => {
  const { server, keeper, parts } = await bed(t);
  const remove: AgentRefreshParts = {
    ...parts,
    fetch: async (url) => {
      await keeper.remove(url);
      return parts.fetch(url);
    },
  };
  await refreshAgents(remove, [server.origin]);
  t.same(keeper.listed(), []);
  await keeper.add({ url: server.origin, name: "Example", category: "ai_agent" });
  t.same(keeper.keyed()[0]?.keys, [], "nothing of it was left");
});

t.test("many agents are fetched a few at a time, each once", async (t) => {
  let active = 0;
  let most = 0;
  const urls = Array.from({ length: 30 }, (_, index) => `https://a${index}.example`);
  const { parts } = await bed(t);
  const counted: AgentRefreshParts = {
    ...parts,
    fetch: async () => {
      most = Math.max(most, ++active);
      await new Promise((done) => setImmediate(done));
      active--;
      return { failure: "none" };
    },
  };
  const outcomes = await refreshAgents(counted, urls);
  t.same(
    outcomes.map(({ url }) => url),
    urls,
  );
  t.equal(most, limits.agentFetchesAtOnce);
});
