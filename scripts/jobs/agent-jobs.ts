/** Agents at the shop: in a browser of their own, and attached late to the window of a person who has already used it. */

import { freePort } from "../../test/support/free-port.js";
import type { Display } from "../live/display.js";
import type { DrivenPage } from "../live/driven-page.js";
import { pause } from "../live/pause.js";
import { between, type Random } from "../live/randomness.js";
import { type Agent, type AgentTool, agentPage } from "../live/tools/agents/agent-tools.js";
import { visitInWindow } from "../live/tools/window.js";
import { doInBrowser } from "./browser-jobs.js";
import { type JobName, jobs } from "./jobs.js";
import { clickOn, playWheelUp, type Recordings } from "./people.js";
import type { ShopVisit } from "./shop.js";

/** Jobs with a form, by which an agent should be known. */
export const formJobs: readonly JobName[] = ["contact", "checkout", "sign-up", "log-in"];
/** Links on the first page that lead to the job's form; who buys starts there. */
const formLinks: Partial<Record<JobName, string>> = {
  contact: "contact",
  "sign-up": "signup",
  "log-in": "login",
  delivery: "delivery",
  account: "enter",
};

/** Jobs before each step of which a model thinks. */
const thoughtJobs: readonly JobName[] = ["account"];

/** As the tool comes, or after an hour of effort by its pointer and keys: waits, curves, letter by letter. */
export type AgentManner = "documented" | "effort";

/** The agent's page; a model looks at it and takes some seconds before it acts. */
function pageOf(agent: Agent, job: JobName, random: Random, manner: AgentManner): DrivenPage {
  if (manner === "effort") return agent.hand!;
  const page = agentPage(agent);
  if (!thoughtJobs.includes(job)) return page;
  const think = async () => {
    await agent.look();
    await pause(between(random, 2000, 6000));
  };
  return {
    ...page,
    async click(selector) {
      await think();
      await page.click(selector);
    },
    async fill(selector, text) {
      await think();
      await agent.fill(selector, text);
    },
  };
}

/** Does the job in a browser that the agent starts. */
export async function doAsAgent(
  tool: AgentTool,
  job: JobName,
  visit: ShopVisit,
  display: Display | null,
  random: Random,
  manner: AgentManner,
): Promise<void> {
  const agent = await tool.open!(display);
  try {
    await doInBrowser(pageOf(agent, job, random, manner), jobs[job], visit, manner, random);
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
  manner: AgentManner,
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
        const own = manner === "effort" ? manner : "attached";
        await doInBrowser(pageOf(agent, job, random, manner), jobs[job], visit, own, random);
      } finally {
        await agent.close();
      }
    },
    { args },
  );
}
