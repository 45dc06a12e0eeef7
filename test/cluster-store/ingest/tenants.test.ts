/** The same mixed groups of several tenants on both stores: a token that comes with another project's key touches nothing of its session. */
import t, { type Test } from "tap";
import { seededRandom } from "../../../scripts/live/randomness.js";
import { parseStoreUrl } from "../../../src/cluster/store-url.js";
import { Projects } from "../../../src/control-plane/accounts/projects.js";
import { Refusal } from "../../../src/errors.js";
import type { IngestOutcome } from "../../../src/ingest/commit-batches.js";
import type { IngestRequest } from "../../../src/ingest/frame.js";
import { commitToLmdb } from "../../../src/ingest/lmdb-commit.js";
import { openStore } from "../../../src/store/open-store.js";
import { decodeSession } from "../../../src/store/session-record.js";
import type { Store } from "../../../src/store/store.js";
import { batch } from "../../support/batches.js";
import { lmdbThread } from "../../support/lmdb-thread.js";
import { type Owner, ownerOf } from "../../support/owner.js";

import { startRedis } from "../../support/redis-cluster.js";
import { keyOf, recorded, requestOf, scoringNode, storedSession } from "./scoring-node.js";

/** A batch of a plan. Sessions are named by the number of the batch that made them, because each store mints tokens of its own. */
interface Planned {
  readonly id: string;
  readonly tenant: number;
  /** The session whose token it sends; null for a first contact. */
  readonly sends: number | null;
}

/** A store as the plan is run on it. */
interface Side {
  commit(requests: readonly IngestRequest[]): Promise<readonly IngestOutcome[]>;
  /** The events of a session of a tenant; null if there is none. */
  events(owner: Owner, token: string): Promise<number | null>;
}

const tenants = 3;

/** Groups of 1 to 40 batches. Two thirds of the batches name a session, a third of those one of another tenant. */
function plan(seed: number, groups: number): Planned[][] {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const made: Planned[] = [];
  return Array.from({ length: groups }, () => {
    const known = made.length;
    const group = Array.from({ length: 1 + below(40) }, (): Planned => {
      const number = made.length;
      // Few sessions get most batches, so that each meets its own again in the same group.
      const sends = known === 0 || below(3) === 0 ? null : below(Math.min(known, 6));
      const own = sends === null ? below(tenants) : made[sends]!.tenant;
      const tenant = below(3) === 0 ? below(tenants) : own;
      const planned = { id: `b${String(number).padStart(7, "0")}`, tenant, sends };
      made.push(planned);
      return planned;
    });
    return group;
  });
}

/** What became of each batch, its session by the number of the batch that made it, then the events of each session by tenant. */
async function run(groups: readonly Planned[][], owners: readonly Owner[], side: Side): Promise<(number | null)[][]> {
  const tokens: string[] = [];
  const makerOf = new Map<string, number>();
  const results: (number | null)[][] = [];
  for (const group of groups) {
    const outcomes = await side.commit(
      group.map(({ id, tenant, sends }) =>
        requestOf(owners[tenant]!, batch(id, 2, sends === null ? null : tokens[sends]!)),
      ),
    );
    for (const outcome of outcomes) {
      const { session_token: token, accepted, duplicates } = recorded(outcome);
      if (!makerOf.has(token)) makerOf.set(token, tokens.length);
      tokens.push(token);
      results.push([makerOf.get(token)!, accepted, duplicates]);
    }
  }
  for (const token of makerOf.keys()) {
    const events: (number | null)[] = [];
    for (const owner of owners) events.push(await side.events(owner, token));
    results.push(events);
  }
  return results;
}

async function ownersOf(store: Store): Promise<Owner[]> {
  const first = await ownerOf(store);
  const projects = new Projects(store, Date.now);
  const owners = [first];
  while (owners.length < tenants) {
    const project = await projects.create(first.accountId, `tenant ${owners.length}`);
    if (project instanceof Refusal) throw new Error(project.message);
    const keys = await projects.enableScoring(project.id);
    if (keys instanceof Refusal) throw new Error(keys.message);
    owners.push({ ...first, projectId: project.id, siteKey: keys.siteKey, privateKey: keys.privateKey ?? "" });
  }
  return owners;
}

function onOneHost(store: Store): Side {
  const thread = lmdbThread(store);
  return {
    commit: async (requests) => commitToLmdb(thread, requests),
    events: async (owner, token) => {
      const record = store.sessions.getBinary(keyOf(owner, token));
      return record === undefined ? null : decodeSession(record)!.state.eventCount;
    },
  };
}

async function onCluster(t: Pick<Test, "teardown">, store: Store): Promise<Side> {
  const redis = await startRedis(t, { masters: 3, replicas: 1 });
  const url = parseStoreUrl(redis.url);
  if ("fault" in url) throw new Error(url.fault);
  const node = scoringNode(t, store, url);
  return {
    commit: (requests) => node.commit(...requests),
    events: async (owner, token) => (await storedSession(node, keyOf(owner, token)))?.state.eventCount ?? null,
  };
}

t.test("tenants on one host and on a cluster", async (t) => {
  const store = openStore(t.testdir());
  t.teardown(() => store.close());
  const owners = await ownersOf(store);
  const cluster = await onCluster(t, store);

  await t.test("mixed groups come to the same on both, and each session is of one tenant", async (t) => {
    for (let round = 0; round < 2; round++) {
      const seed = (Date.now() + round) % 1_000_000;
      const groups = plan(seed, 6);
      const here = await run(groups, owners, onOneHost(store));
      t.same(await run(groups, owners, cluster), here, `seed ${seed}`);
      const sessions = here.slice(groups.flat().length);
      t.ok(sessions.length > 1);
      t.ok(sessions.every((events) => events.filter((count) => count !== null).length === 1));
    }
  });

  await t.test("half of a group names a session of another tenant", async (t) => {
    const [first, second] = owners;
    const [made] = await cluster.commit([requestOf(first!, batch("victim00", 1))]);
    const token = recorded(made).session_token;
    const group = Array.from({ length: 30 }, (_, index) =>
      requestOf(index % 2 === 0 ? first! : second!, batch(`burst${String(index).padStart(4, "0")}`, 1, token)),
    );
    const outcomes = (await cluster.commit(group)).map(recorded);
    t.same(
      outcomes.map((outcome) => outcome.session_token === token),
      group.map((_, index) => index % 2 === 0),
    );
    t.equal(await cluster.events(first!, token), 16, "its own events alone");
    t.equal(await cluster.events(second!, token), null);
  });
});
