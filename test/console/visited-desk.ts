/** A console that is signed in to a project with traffic: people, bots, and a rule that blocks what is a bot. */
import type { Test } from "tap";
import { launch } from "../support/chromium.js";
import { type Answer, firstTenant, startServer } from "../support/server.js";
import { Desk, readVerdict, traffic } from "./desk.js";

/** Starts the server and the browser, which are ended with the test, and opens the overview. */
export async function visitedDesk(t: Test) {
  const server = await startServer(t, ["--verdict-ttl", "0", "--alert-private-addresses"]);
  const tenant = await firstTenant(server);
  const { bots } = await traffic(server, tenant);
  const browser = await launch(t, { isPlain: true });
  /** The project's address. */
  const at = `/v1/projects/${tenant.projectId}`;
  const asked = (method: string, path: string, body?: unknown): Promise<Answer> =>
    server.ask(method, path, { token: tenant.token, ...(body !== undefined && { body }) });
  await asked("POST", `${at}/rules`, { name: "No bots", expression: "score < 30", action: "block", is_active: true });
  const verdictOf = (session: string) => readVerdict(server, tenant, session, "/checkout");
  const desk = await Desk.open(t, browser, server);
  await desk.signIn(tenant.token);
  return {
    server,
    tenant,
    bots,
    browser,
    at,
    asked,
    verdictOf,
    desk,
    page: desk.page,
    dialog: desk.page.getByRole("dialog"),
  };
}
