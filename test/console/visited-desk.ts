/** The console of a new server; and one that is signed in to a project with traffic: people, bots, and a rule that blocks what is a bot. */
import type { Test } from "tap";
import { launch } from "../support/chromium.js";
import { askerAs, firstTenant, startServer } from "../support/server.js";
import { Desk, readVerdict, traffic } from "./desk.js";

/** Starts a server with an account, and a browser, which are ended with the test. */
export async function consoleServer(t: Test, flags: readonly string[] = []) {
  const server = await startServer(t, ["--verdict-ttl", "0", ...flags]);
  const tenant = await firstTenant(server);
  const browser = await launch(t, { isPlain: true });
  /** The project's address. */
  const at = `/v1/projects/${tenant.projectId}`;
  return { server, tenant, browser, at, asked: askerAs(server, tenant.token) };
}

/** Starts the server and the browser, and opens the overview. */
export async function visitedDesk(t: Test) {
  const opened = await consoleServer(t, ["--alert-private-addresses"]);
  const { server, tenant, browser, at, asked } = opened;
  const { bots } = await traffic(server, tenant);
  await asked("POST", `${at}/rules`, { name: "No bots", expression: "score < 30", action: "block", is_active: true });
  const verdictOf = (session: string) => readVerdict(server, tenant, session, "/checkout");
  const desk = await Desk.open(t, browser, server);
  await desk.signIn(tenant.token);
  return {
    ...opened,
    bots,
    verdictOf,
    desk,
    page: desk.page,
    dialog: desk.page.getByRole("dialog"),
  };
}
