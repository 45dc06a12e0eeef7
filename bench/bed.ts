/** The test bed: a store with a project, rules and keys, the servers on it, and files of session tokens for the generator. */
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeSessionToken } from "../src/contract/sessions/session-token.js";
import type { TokensSpec } from "./load/tokens.js";
import type { BenchOptions } from "./options.js";
import { redisServer, runCommand, scratchFolder, startPeer, startVerdictd, type Target } from "./servers/servers.js";
import { type ClientRequest, judgedRequest, verdictRead } from "./traffic/client-request.js";

interface Keys {
  readonly siteKey: string;
  readonly privateKey: string;
}

/** Rules of many kinds that match no visitor of the bench: every one of them is asked. `%` is the rule's number. */
const ruleSources = [
  "score < 1 AND event_count > %",
  'path == "/admin/%"',
  'path starts_with "/wp-%"',
  'user_agent contains "scraper-%"',
  'host in {"a%.example", "b%.example"}',
  'path wildcard "*/wp-*%.php"',
  'ip in {"10.%.0.0/16", "2001:db8:%::/48"}',
  'band == "definite" AND path starts_with "/login/%"',
  "detection_ids contains 10019%",
  "session_age < 0 OR event_count > 90000%",
];

/** Ten active rules, as the figures are stated for. */
const usualRules = 10;
const tokenBytes = 34;

export class Bed {
  readonly folder = scratchFolder("tokens");
  readonly keys: Keys;
  readonly verdictd: Target;
  /** What the client asks with: the verdict of a session, and on a request with and without one. */
  readonly requests: { readonly verdict: ClientRequest; readonly judged: ClientRequest; readonly known: ClientRequest };
  readonly #account: { readonly token: string; readonly projectId: number } | null;
  #peer: Target | null = null;

  private constructor(
    verdictd: Target,
    keys: Keys,
    requests: Bed["requests"],
    account: { token: string; projectId: number } | null,
  ) {
    this.verdictd = verdictd;
    this.keys = keys;
    this.requests = requests;
    this.#account = account;
  }

  static async open({ remote, sessions }: BenchOptions): Promise<Bed> {
    if (remote !== null) {
      const target = { name: "verdictd", url: remote.url, pids: [], stop: async () => {} };
      return new Bed(target, remote, await clientRequests(remote.privateKey), null);
    }
    const dataDir = scratchFolder("store");
    const made = runCommand(dataDir, "init") as { account_token: string; project_id: number };
    // Room for the first contacts that come after the fill-up: ten million are the default's bound.
    const room = sessions > 5_000_000 ? ["--sessions-max", String(2 * sessions)] : [];
    const verdictd = await startVerdictd(dataDir, room);
    const account = { token: made.account_token, projectId: made.project_id };
    const enabled = (await control(
      verdictd.url,
      account.token,
      "POST",
      `/v1/projects/${account.projectId}/scoring`,
    )) as {
      site_key: string;
      private_key: string;
    };
    const stop = async (): Promise<void> => {
      await verdictd.stop();
      rmSync(dataDir, { recursive: true, force: true });
    };
    const keys = { siteKey: enabled.site_key, privateKey: enabled.private_key };
    const bed = new Bed({ ...verdictd, stop }, keys, await clientRequests(keys.privateKey), account);
    bed.dataDir = dataDir;
    await bed.addRules(0, usualRules);
    return bed;
  }

  /** The store's folder; "" for a remote deployment. */
  dataDir = "";

  /** Adds rules numbered `from` to `to` (exclusive) to the project; returns how to take them away again. Null for a remote one. */
  async addRules(from: number, to: number): Promise<(() => Promise<void>) | null> {
    if (this.#account === null) return null;
    const { token, projectId } = this.#account;
    const ids: number[] = [];
    for (let number = from; number < to; number++) {
      const expression = ruleSources[number % ruleSources.length]!.replaceAll("%", String(number % 256));
      const rule = { name: `bench ${number}`, expression, action: "challenge", is_active: true, sort_order: number };
      const created = await control(this.verdictd.url, token, "POST", `/v1/projects/${projectId}/rules`, rule);
      ids.push((created as { id: number }).id);
    }
    return async () => {
      for (const id of ids) await control(this.verdictd.url, token, "DELETE", `/v1/projects/${projectId}/rules/${id}`);
    };
  }

  /** Turns verdictd's own challenge on for the project; returns how to turn it off again. Null for a remote one. */
  async enableChallenge(): Promise<(() => Promise<void>) | null> {
    if (this.#account === null) return null;
    const { token, projectId } = this.#account;
    const set = async (enabled: boolean): Promise<void> => {
      await control(this.verdictd.url, token, "PUT", `/v1/projects/${projectId}/challenge`, { enabled });
    };
    await set(true);
    return () => set(false);
  }

  /** Turns request scoring on for the project; returns how to turn it off again. Null for a remote one. */
  async enableRequestScoring(): Promise<(() => Promise<void>) | null> {
    if (this.#account === null) return null;
    const { token, projectId } = this.#account;
    const set = async (enabled: boolean): Promise<void> => {
      await control(this.verdictd.url, token, "PUT", `/v1/projects/${projectId}/request-scoring`, { enabled });
    };
    await set(true);
    return () => set(false);
  }

  /** The peer on this machine, started when first asked for; null where there is no Redis or the bench is remote. */
  async peer(): Promise<Target | null> {
    const redis = redisServer();
    if (redis === null || this.#account === null) return null;
    this.#peer ??= await startPeer(redis, this.keys);
    return this.#peer;
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  /** Tokens that no store knows. */
  unknownTokens(count: number): TokensSpec {
    const file = this.file("unknown");
    const lines = Array.from({ length: count }, () =>
      encodeSessionToken(Buffer.from(Array.from({ length: 21 }, () => Math.floor(Math.random() * 256)))),
    );
    writeFileSync(file, `${lines.join("\n")}\n`);
    return { file, from: 0, count };
  }

  /** The tokens in a file, all or the first `most`. */
  tokens(name: string, most = Number.POSITIVE_INFINITY): TokensSpec {
    appendFileSync(this.file(name), "");
    const held = Math.floor(statSync(this.file(name)).size / tokenBytes);
    return { file: this.file(name), from: 0, count: Math.min(held, most) };
  }

  /** The answer to a read of the first stored session, for servers that give one answer to all. */
  async storedVerdict(): Promise<string> {
    const token = readFileSync(this.file("sessions"), "latin1").slice(0, tokenBytes).trim();
    const headers = { authorization: `Bearer ${this.keys.privateKey}` };
    const answer = await fetch(`${this.verdictd.url}/v1/sessions/${token}/verdict`, { headers });
    if (!answer.ok) throw new Error(`verdictd answered ${answer.status}`);
    return answer.text();
  }

  /** So many of the first `among` tokens of a file: each `stride`-th, round after round. So two that follow each other have no page in common. */
  stridedTokens(name: string, among: number, count: number, stride: number): TokensSpec {
    const tokens = readFileSync(this.file(name));
    const rounds = Math.max(1, Math.floor(among / stride));
    const lines = Array.from({ length: count }, (_, index) => {
      const at = ((index % rounds) * stride + Math.floor(index / rounds)) * tokenBytes;
      return tokens.subarray(at, at + tokenBytes);
    });
    const file = this.file(`${name}-strided-${among}`);
    writeFileSync(file, Buffer.concat(lines));
    return { file, from: 0, count };
  }

  async close(): Promise<void> {
    await this.#peer?.stop();
    await this.verdictd.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function clientRequests(privateKey: string): Promise<Bed["requests"]> {
  return {
    verdict: await verdictRead(privateKey),
    judged: await judgedRequest(privateKey, false),
    known: await judgedRequest(privateKey, true),
  };
}

async function control(url: string, token: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return text === "" ? null : JSON.parse(text);
}
