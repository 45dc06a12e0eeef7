/** What the store does in the cluster, so that a start can tell which permission is missing, and an operator which to give. */
import type { RespCommand } from "../cluster/resp-encoder.js";

/** Each command on rows, in scripts or outside of them, with arguments as it has them. */
export const rowCommands: readonly RespCommand[] = [
  ["APPEND", "vd{0}", "x"],
  ["DEL", "vd{0}"],
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
  "asking",
  "client|setname",
  "cluster|info",
  "cluster|nodes",
  "cluster|slots",
  "eval",
  "evalsha",
  "evalsha_ro",
  "info",
  "readonly",
  "script|load",
  "time",
  "wait",
];

/** Rules for `ACL SETUSER` of a user who may do that, and nothing else. */
export const storeAclRules: readonly string[] = [
  "~vd{*",
  ...[...rowCommands.map(([name]) => String(name).toLowerCase()), ...connectionCommands].map((name) => `+${name}`),
];
