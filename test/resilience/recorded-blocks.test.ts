/**
 * A blocked session that goes on asking, over real sockets: some records and a count in the store, whichever thread answers, and every block
 * in the statistics.
 */
import t from "tap";
import { limits } from "../../src/limits.js";
import { automatedBatch, browserHeaders } from "../support/batches.js";
import { RawClient, rawRequest } from "../support/raw-socket.js";
import { askUntil, firstTenant, startServer } from "../support/server.js";
import { isOnCluster } from "../support/test-store.js";

const connections = 8;
const readsEach = 60;
const reads = connections * readsEach;

t.test("a flood of blocks of one session is a few records, and none is lost from the counts", async (t) => {
  const server = await startServer(t, ["--http-threads", "2", "--scoring-threads", "2", "--verdict-ttl", "0"]);
  const { projectId, token, siteKey, privateKey } = await firstTenant(server);
  const project = `/v1/projects/${projectId}`;
  const headers = { ...browserHeaders, "x-service-site-key": siteKey };
  const { json } = await server.ask("POST", "/v1/events", { headers, body: automatedBatch("flooder0") });
  const rule = { name: "bots", expression: "score < 30", action: "block" };
  t.equal((await server.ask("POST", `${project}/rules`, { token, body: rule })).status, 201);

  const began = Math.floor(Date.now() / 60_000);
  const clients = await Promise.all(Array.from({ length: connections }, () => RawClient.open(server.port)));
  const actions = await Promise.all(
    clients.map(async (client, of) => {
      const found = new Set<string>();
      const take = async () => found.add(JSON.parse((await client.answer())!.body).action);
      for (let index = 0; index < readsEach; index++) {
        const path = `/v1/sessions/${json.session_token}/verdict?path=/${of}/${index}`;
        client.write(rawRequest("GET", path, { Authorization: `Bearer ${privateKey}` }));
        // A connection that sends more while an answer is under way is closed.
        if (isOnCluster) await take();
      }
      if (!isOnCluster) for (let index = 0; index < readsEach; index++) await take();
      client.leave();
      return [...found];
    }),
  );
  t.same(actions, Array(connections).fill(["block"]));

  const sum = (rows: readonly { count: number }[]) => rows.reduce((total, { count }) => total + count, 0);
  const { json: log } = await askUntil(
    () => server.ask("GET", `${project}/blocks?limit=100`, { token }),
    ({ json }) => sum(json.data) === reads,
  );
  t.equal(sum(log.data), reads, "every block is in a count");
  const minutes = Math.floor(Date.now() / 60_000) - began + 1;
  t.ok(log.data.length <= minutes * limits.blocksOfSessionMinuteMax, `${log.data.length} records`);
  const rows = await server.store.recorded.blocks.before(projectId, Number.MAX_SAFE_INTEGER, reads);
  t.equal(rows.length, log.data.length, "and no more rows");
  const metrics = await server.metricsOnce((now) => now.sum("verdictd_blocks_recorded_total") === reads);
  t.equal(metrics.sum("verdictd_blocks_recorded_total"), reads);

  const blocked = (answer: { json: { data: { actions: { block: number } }[] } }): number =>
    answer.json.data.reduce((total, { actions }) => total + actions.block, 0);
  const stats = await askUntil(
    () => server.ask("GET", `${project}/stats`, { token }),
    (answer) => blocked(answer) === reads,
  );
  t.equal(blocked(stats), reads, "statistics count every block");
});
