/** What was acknowledged is found, though a process that opens the store hides the last commit for a moment: see `support/set-back.ts`. */
import t from "tap";
import { storeFile } from "../../src/store/store-file.js";
import { batch } from "../support/batches.js";
import { Client } from "../support/keep-alive-client.js";
import { makeOwner } from "../support/owner.js";
import { serve } from "../support/process.js";
import { commitHider } from "../support/set-back.js";

t.test("a session is known by every read after its batch was answered", async (t) => {
  const dataDir = t.testdir();
  const owner = await makeOwner(dataDir);
  const { port } = await serve(t, dataDir);
  const hide = await commitHider(t, storeFile(dataDir));
  const client = new Client(port, 1);
  t.teardown(() => client.close());
  const authorization = `Bearer ${owner.privateKey}`;
  const asMember = { authorization: `Bearer ${owner.token}` };
  const at = `/v1/projects/${owner.projectId}`;
  t.equal((await client.ask("PUT", `${at}/request-scoring`, asMember, { enabled: true })).status, 200);
  const hidden = async (name: string): Promise<string> => {
    const { status, json } = await client.send(owner.siteKey, batch(`${name}-batch`, 3), name);
    t.equal(status, 202);
    await hide();
    return json.session_token;
  };
  // Several, because a commit of the server's own may be the one that was hidden.
  for (let index = 0; index < 4; index++) {
    const read = await client.ask("GET", `/v1/sessions/${await hidden(`read${index}`)}/verdict`, { authorization });
    t.ok(read.json.score > 0, `a verdict read finds it: ${JSON.stringify(read.json)}`);
    const question = { session_token: await hidden(`judged${index}`), request: { path: "/" } };
    const judged = await client.ask("POST", "/v1/verdict", { authorization }, question);
    t.equal(judged.json.subject, "session", `a judged request does: ${JSON.stringify(judged.json)}`);
    const explained = await client.ask("GET", `${at}/sessions/${await hidden(`asked${index}`)}`, asMember);
    t.equal(explained.status, 200, `its explanation does: ${JSON.stringify(explained.json)}`);
  }
});
