/** What the store does in the cluster. A start uses it to name a missing permission, and an operator to grant it. */
import type { RespCommand } from "../cluster/resp-encoder.js";

/** The keys of all rows. */
export const storeKeys = "vd{*";

/** Each command on rows, in scripts or outside of them, and the commands before or around it, with the arguments used. */
export const rowCommands: readonly RespCommand[] = [
  ["APPEND", "vd{0}", "x"],
  ["ASKING"],
  ["DEL", "vd{0}"],
  ["EVALSHA", "0", "1", "vd{0}"],
  ["EVALSHA_RO", "0", "1", "vd{0}"],
  ["EXISTS", "vd{0}"],
  ["GET", "vd{0}"],
  ["GETRANGE", "vd{0}", "0", "7"],
  ["HDEL", "vd{0}", "x"],
  ["HEXISTS", "vd{0}", "x"],
  ["HGET", "vd{0}", "x"],
  ["HGETALL", "vd{0}"],
  ["HINCRBY", "vd{0}", "x", "1"],
  ["HLEN", "vd{0}"],
  ["HMGET", "vd{0}", "x"],
  ["HSET", "vd{0}", "x", "x"],
  ["HSETNX", "vd{0}", "x", "x"],
  ["HSTRLEN", "vd{0}", "x"],
  ["INCRBY", "vd{0}", "1"],
  ["MGET", "vd{0}", "vd{0}"],
  ["PEXPIRE", "vd{0}", "1"],
  ["PTTL", "vd{0}"],
  ["READONLY"],
  ["SCAN", "0"],
  ["SET", "vd{0}", "x"],
  ["STRLEN", "vd{0}"],
  ["XADD", "vd{0}", "1-0", "x", "x"],
  ["XRANGE", "vd{0}", "-", "+"],
  ["XREAD", "STREAMS", "vd{0}", "0"],
  ["ZADD", "vd{0}", "0", "x"],
  ["ZCARD", "vd{0}"],
  ["ZRANGE", "vd{0}", "-", "+", "BYLEX"],
  ["ZREM", "vd{0}", "x"],
  ["ZSCORE", "vd{0}", "x"],
];

/** Commands that connections, and the check of the cluster before a start, need besides. */
const connectionCommands = [
  "client|setname",
  "cluster|info",
  "cluster|nodes",
  "cluster|slots",
  "eval",
  "info",
  "script|load",
  "time",
  "wait",
];

/** Rules for `ACL SETUSER` of a user who may do this and nothing else. */
export const storeAclRules: readonly string[] = [
  `~${storeKeys}`,
  ...[...rowCommands.map(([name]) => String(name).toLowerCase()), ...connectionCommands].map((name) => `+${name}`),
];
