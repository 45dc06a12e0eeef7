/** What the store does in the cluster, so that a start can tell which permission is missing, and an operator which to give. */
import type { RespCommand } from "../cluster/resp-encoder.js";

/** The keys of all rows. */
export const storeKeys = "vd{*";

/** Each command on rows, in scripts or outside of them, and those that come before or around it, with arguments as it has them. */
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

/** What connections and the look at the cluster before a start need beside it. */
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

/** Rules for `ACL SETUSER` of a user who may do that, and nothing else. */
export const storeAclRules: readonly string[] = [
  `~${storeKeys}`,
  ...[...rowCommands.map(([name]) => String(name).toLowerCase()), ...connectionCommands].map((name) => `+${name}`),
];
