/** A project and a session of declared automation, made through the executable's own command line and API. */
import { automatedBatch } from "../support/batches.js";
import type { BareRoot, Serving } from "./bare-root.js";

interface Verdict {
  readonly verdict: string;
  readonly score: number;
}

interface Project {
  readonly id: number;
  readonly token: string;
}

interface Session {
  /** How many of its two events were accepted. */
  readonly accepted: number;
  /** Its verdict, as the server at `address` has it. */
  verdict(address: string): Promise<Verdict>;
}

/** Runs `init`. Throws when it refuses. */
export async function firstProject(root: BareRoot): Promise<Project> {
  const { code, stdout, stderr } = await root.run("init", "--json");
  if (code !== 0 || stderr !== "") throw new Error(`init: exit ${code}: ${stderr}`);
  const { project_id: id, account_token: token } = JSON.parse(stdout);
  return { id, token };
}

/** Enables scoring and sends a batch, which must be the project's first. */
export async function firstSession({ id, token }: Project, { address }: Serving): Promise<Session> {
  const enabled = await answer(`${address}/v1/projects/${id}/scoring`, token, {});
  const { site_key, private_key } = enabled as { site_key: string; private_key: string };
  const taken = await answer(`${address}/v1/events`, null, { site_key, ...automatedBatch("first") });
  const { session_token, accepted } = taken as { session_token: string; accepted: number };
  return {
    accepted,
    verdict: async (at) => (await answer(`${at}/v1/sessions/${session_token}/verdict`, private_key)) as Verdict,
  };
}

async function answer(url: string, token: string | null, body?: object): Promise<unknown> {
  const response = await fetch(url, {
    headers: { "content-type": "application/json", ...(token !== null && { authorization: `Bearer ${token}` }) },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
