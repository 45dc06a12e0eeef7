/** Agents in the console: who was blocked, whose a session is, and which detections moved a score, in a real browser. `CONSOLE_PICTURES=1` leaves pictures. */
import t from "tap";
import { fitsTablets, look } from "../console/desk.js";
import { visitedDesk } from "../console/visited-desk.js";
import { browserHeaders, event } from "../support/batches.js";
import { noChromium, skipFileIf } from "../support/chromium.js";

skipFileIf(t, noChromium);

const { server, tenant, verdictOf, at, asked, desk, page } = await visitedDesk(t);

t.test("blocks and sessions say which agent it was, and a contribution of nothing why", async (t) => {
  const headers = { ...browserHeaders, "x-service-site-key": tenant.siteKey };
  const report = async (name: string, payload: Record<string, unknown>): Promise<string> => {
    const env = { ...event(`${name}-env-0000`, payload), type: "env" };
    const body = { session_token: null, events: [event(`${name}-page-0000`), env] };
    return (await server.ask("POST", "/v1/events", { headers, body })).json.session_token;
  };
  const marked = await report("marked", { agent_marks: ["element:claude-phantom-cursor*"] });
  const acting = await report("acting", {
    lone_activations: 2,
    shared_focus: 2,
    eval_length: 33,
    driver_artifacts: ["cdc_", "__playwright"],
  });
  await asked("POST", `${at}/rules`, {
    name: "No agents",
    expression: 'agent_certainty in {"marked", "behavior"}',
    action: "block",
  });
  for (const token of [marked, acting]) t.equal((await verdictOf(token)).action, "block");
  const words = { [marked]: "Claude in Chrome, by its mark", [acting]: "an unknown agent, by its behavior" };
  await desk.go("Blocks");
  for (const [token, who] of Object.entries(words)) {
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: token }) });
    await row.getByRole("link", { name: who }).waitFor();
    await row.getByText(`The visitor is ${who}.`).waitFor();
  }
  await page.getByRole("searchbox").fill("claude mark");
  await desk.says(/^1 of \d+ blocks/);
  await page.getByRole("searchbox").fill("by its");
  await desk.says(/^2 of \d+ blocks/);
  await look(t, desk, "blocks-agents");
  await fitsTablets(t, desk, "blocks-agents");
  await desk.go("Sessions");
  await look(t, desk, "sessions-agents");
  await fitsTablets(t, desk, "sessions-agents");
  for (const [token, who] of Object.entries(words)) {
    const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: token }) });
    await row.getByRole("link", { name: who }).waitFor();
  }
  await page.getByRole("link", { name: words[marked]! }).click();
  await desk.title("Explore");
  t.equal(await page.getByLabel("Expression").inputValue(), 'agent == "Claude in Chrome"');
  await page.getByRole("table").getByText(words[marked]!).waitFor();

  await page.goto(`${desk.address}#/sessions/${acting}`);
  await desk.title("Session");
  await page
    .getByRole("listitem")
    .filter({ hasText: `Known as ${words[acting]}` })
    .waitFor();
  const states = new Map<number, string>(
    (await server.ask("GET", "/v1/detections", {})).json.data.map(({ id, state }: { id: number; state: string }) => [
      id,
      state,
    ]),
  );
  const { detections } = (await asked("GET", `${at}/sessions/${acting}`)).json;
  for (const { id, contribution } of detections) {
    const row = page.getByRole("row", { name: new RegExp(`^${id} `) });
    const why = states.get(id) === "experimental" ? "0 (experimental)" : "0 (not counted here)";
    t.match(await row.textContent(), contribution === 0 ? why : `+${contribution.toFixed(2)}`);
  }
  const zeros = detections.filter(({ contribution }: { contribution: number }) => contribution === 0);
  const ofZeros = zeros.map(({ id }: { id: number }) => states.get(id));
  t.strictSame(new Set(ofZeros), new Set(["scoring", "experimental"]), "both kinds are there");
});
