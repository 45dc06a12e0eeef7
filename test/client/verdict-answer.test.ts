/** What the client passes on of an answer: strict in what is acted upon, and in what a site may read without looking twice. */
import t from "tap";
import { decodeVerdict } from "../../src/client/verdict-answer.js";

const answer = { verdict: "automated", score: 1, action: "block", detection_ids: [400101], reason: "A bot." };
const decoded = (more: object) => decodeVerdict(JSON.stringify({ ...answer, ...more }), "enforce", "id");

t.test("an agent is passed on when it is one", async (t) => {
  const agent = { name: "Claude in Chrome", category: "ai_agent", certainty: "behavior" };
  t.same(decoded({ agent })?.agent, agent);
  t.same(decoded({ agent: { ...agent, certainty: "of a newer release" } })?.agent?.certainty, "of a newer release");
  for (const other of [null, "Claude", 7, [], {}, { ...agent, name: 1 }, { name: "Claude" }]) {
    const verdict = decoded({ agent: other });
    t.equal(verdict?.action, "block", "the verdict counts all the same");
    t.notOk("agent" in verdict!, JSON.stringify(other));
  }
});
