/** What is left of a session in a real cluster, by every key of it. */
import { decodeSessionToken } from "../../../src/contract/sessions/session-token.js";
import type { RedisCluster } from "../../support/redis-cluster.js";

/** Keys of the cluster whose name or value has the token. */
export async function tracesIn(cluster: RedisCluster, token: string): Promise<string[]> {
  const bytes = decodeSessionToken(token)!;
  const found: string[] = [];
  for (const each of await cluster.masters()) {
    for (const key of (await each.ask("KEYS", "*")) as Buffer[]) {
      const type = String(await each.ask("TYPE", key));
      const read = { string: ["GET"], zset: ["ZRANGE"], hash: ["HGETALL"], stream: ["XRANGE"] }[type]!;
      const range = type === "zset" ? ["0", "-1"] : type === "stream" ? ["-", "+"] : [];
      const value = [await each.ask(read[0]!, key, ...range)].flat(3);
      const all = [key, ...value.filter((part): part is Buffer => part instanceof Buffer)];
      if (all.some((part) => part.includes(bytes) || part.includes(token))) found.push(key.toString("latin1"));
    }
  }
  return found;
}
