/** Scripts of a migration, each in one atomic step. Safe to run twice. */
import { defineScript } from "../../cluster/script.js";

/**
 * Claims an empty cluster for the store that migrates into it. Keys: head, nodes, serving. Arguments: an id for the cluster, if it has none; the
 * store. Returns the id of the cluster, then its migration: `STORE copying`, `STORE done MS`; or "used" if it holds a configuration, or nodes run on it.
 */
export const beginMigration = defineScript({
  name: "begin-migration",
  version: 2,
  source: `
local head = redis.call('HMGET', KEYS[1], 'cluster', 'bytes', 'migration')
if head[3] then
  if string.sub(head[3], 1, #ARGV[2]) == ARGV[2] then redis.call('HSET', KEYS[1], 'touched', '') end
  return {head[1], head[3]}
end
if head[1] and (head[2] ~= '0' or redis.call('HLEN', KEYS[2]) + redis.call('HLEN', KEYS[3]) > 0) then return {head[1], 'used'} end
if not head[1] then
  redis.call('HSET', KEYS[1], 'cluster', ARGV[1], 'revision', 1, 'change', '', 'bytes', 0)
  head[1] = ARGV[1]
end
redis.call('HSET', KEYS[1], 'migration', ARGV[2] .. ' copying')
return {head[1], ARGV[2] .. ' copying'}`,
});

/** Opens the cluster to nodes. Keys: head. Arguments: store, ms. Returns its migration, as `beginMigration` does. */
export const finishMigration = defineScript({
  name: "finish-migration",
  version: 1,
  source: `
redis.call('HSET', KEYS[1], 'touched', '')
if redis.call('HGET', KEYS[1], 'migration') == ARGV[1] .. ' copying' then
  redis.call('HSET', KEYS[1], 'migration', ARGV[1] .. ' done ' .. ARGV[2])
end
return redis.call('HGET', KEYS[1], 'migration')`,
});

/**
 * Sets a session's rows to the rows of the migrated store. Keys: session, index, further rows. Arguments: version, record, ms that it lives, token,
 * then the value of each further row, empty for one that does not exist.
 */
export const copySession = defineScript({
  name: "copy-session",
  version: 1,
  source: `
redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[3])
redis.call('ZADD', KEYS[2], 0, ARGV[4])
for row = 3, #KEYS do
  if ARGV[2 + row] == '' then redis.call('DEL', KEYS[row])
  else redis.call('SET', KEYS[row], ARGV[2 + row], 'PX', ARGV[3]) end
end
return 1`,
});

/** Makes a hash hold these fields and no others. Keys: the hash. Arguments: ms that it lives (0: for ever), then field and value of each. */
export const copyHash = defineScript({
  name: "copy-hash",
  version: 2,
  source: `
redis.call('DEL', KEYS[1])
for at = 2, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
if ARGV[1] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1`,
});

/** Replaces a part of a project's paths with these pairs. Keys: `pathRows`. Arguments: the pairs, ms to live. */
export const copyPaths = defineScript({
  name: "copy-paths",
  version: 1,
  source: `
redis.call('SET', KEYS[1], '0', 'PX', ARGV[2])
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
redis.call('DEL', KEYS[3])
return 1`,
});

/** Sets one field of a hash. Keys: the hash. Arguments: ms that it lives, field, value. */
export const copyField = defineScript({
  name: "copy-field",
  version: 1,
  source: `
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`,
});
