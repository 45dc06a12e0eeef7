/** Agents at the shop: in a browser of their own, and attached late to the window of a person who has already used it. */

import { freePort } from "../../test/support/process.js";
import type { Display } from "../live/display.js";
import { pause } from "../live/pause.js";
import { between, type Random } from "../live/randomness.js";
import { type AgentTool, agentPage } from "../live/tools/agents/agent-tools.js";
import { visitInWindow } from "../live/tools/window.js";
import { doInBrowser } from "./browser-jobs.js";
import { type JobName, jobs } from "./jobs.js";
import { clickOn, playWheelUp, type Recordings } from "./people.js";
import type { ShopVisit } from "./shop.js";

/** Jobs with a form, by which an agent should be known. */
export const formJobs: readonly JobName[] = ["contact", "checkout", "sign-up", "log-in"];
/** Links on the first page that lead to the job's form; who buys starts there. */
const formLinks: Partial<Record<JobName, string>> = { contact: "contact", "sign-up": "signup", "log-in": "login" };

/** Does the job in a browser that the agent starts. */
export async function doAsAgent(
  tool: AgentTool,
  job: JobName,
  visit: ShopVisit,
  display: Display | null,
  random: Random,
): Promise<void> {
  const agent = await tool.open!(display);
  try {
    await doInBrowser(agentPage(agent), jobs[job], visit, "documented", random);
  } finally {
    await agent.close();
  }
}

/** A person opens the shop by hand and goes to the form; then the agent attaches to the window and does the rest. */
export async function doAttached(
  tool: AgentTool,
  job: JobName,
  visit: ShopVisit,
  display: Display,
  recordings: Recordings,
  random: Random,
): Promise<void> {
  const port = await freePort();
  const args = [`--remote-debugging-port=${port}`];
  await visitInWindow(
    { visit, display },
    async (hand) => {
      await playWheelUp(hand, random);
      const link = formLinks[job];
      if (link !== undefined) await clickOn(hand, visit, link, recordings, random);
      await pause(between(random, 800, 1500));
      const agent = await tool.attach!(port, new URL(visit.url).origin);
      try {
        await doInBrowser(agentPage(agent), jobs[job], visit, "attached", random);
      } finally {
        await agent.close();
      }
    },
    { args },
  );
}
