/** Stored sessions scored again, by a command beside a running server. */
import t from "tap";
import { sessionRange } from "../../src/store/keys.js";
import { openStore } from "../../src/store/open-store.js";
import { decodeSession, encodeSession } from "../../src/store/session-record.js";
import { automatedBatch } from "../support/batches.js";
import { command } from "../support/process.js";
import { firstTenant, startServer } from "../support/server.js";

t.test("rescore gives stored sessions the score that the present catalogue gives them", async (t) => {
  const server = await startServer(t, ["--verdict-ttl", "0"]);
  const one = await firstTenant(server);
  const sent = await server.ask("POST", "/v1/events", {
    headers: { "x-service-site-key": one.siteKey, "user-agent": "python-requests/2.32" },
    body: automatedBatch("rescore1"),
  });
  const read = () =>
    server.ask("GET", `/v1/sessions/${sent.json.session_token}/verdict`, { token: one.privateKey }).then((a) => a.json);
  const scored = await read();
  t.equal(scored.verdict, "definite");

  // As a session would be that an older catalogue took for a person.
  const store = openStore(server.dataDir);
  t.teardown(() => store.close());
  const [row] = [...store.sessions.getRange(sessionRange(one.projectId))];
  const record = decodeSession(row!.value)!;
  record.state.score = 90;
  record.state.engineScores = { heuristics: null, js_detection: null, behavioral: 90 };
  record.state.detectionIds = [];
  store.sessions.putSync(row!.key, encodeSession(record));
  t.equal((await read()).verdict, "likely_human");

  const outcome = await command(["rescore", "--json", "--data-dir", server.dataDir]);
  t.same(JSON.parse(outcome.stdout), { sessions: 1, changed: 1, left: 0 });
  t.same(await read(), scored);

  // As a session would be that a version with another layout of evidence has stored: its score stands.
  const known = decodeSession(store.sessions.get(row!.key)!)!;
  known.state.score = 7;
  known.features[0]! += 1;
  store.sessions.putSync(row!.key, encodeSession(known));
  const again = await command(["rescore", "--json", "--data-dir", server.dataDir]);
  t.same(JSON.parse(again.stdout), { sessions: 1, changed: 0, left: 1 });
  t.equal((await read()).score, 7);
});
