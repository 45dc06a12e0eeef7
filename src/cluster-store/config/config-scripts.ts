/**
 * Scripts that run in the slot of the configuration, each in one atomic step. Those that write always touch the head: `WAIT` counts what its own
 * connection has written, and so confirms everything that was written before.
 */
import { defineScript } from "../../cluster/script.js";

/** Keys: head. Argument: an id for the cluster, which it gets if it has none. Returns the id that it has. */
export const identifyCluster = defineScript({
  name: "identify-cluster",
  version: 1,
  source: `
redis.call('HSET', KEYS[1], 'touched', '')
if redis.call('HSETNX', KEYS[1], 'cluster', ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], 'revision', 1, 'change', '', 'bytes', 0)
end
return redis.call('HGET', KEYS[1], 'cluster')`,
});

/**
 * Changes the configuration, if nothing changed it since the state that the change was made on. Keys: head, rows, log, then the audit logs that it
 * adds to. Arguments: cluster, revision and last change that it was made on; its id; bytes that the configuration may have; entries of the log;
 * whether the log gets its rows (1) or only notes that they were too large for it (0); how many rows are put, how many removed; the store whose
 * migration makes the change ("" for none); then field and value of each row to put, the field of each row to remove, and for each entry of an audit
 * log the log's number, the entry's id and its text. Returns "other" (not this cluster), "copying" (another migration fills the
 * cluster, or none does where one should), "conflict", "full" (nothing was changed), "unknown" (the log no longer has what followed that state), or
 * "done", by this call or by an earlier one whose answer was lost; then the revision.
 */
export const changeConfig = defineScript({
  name: "change-config",
  version: 6,
  // Its size is bounded separately, and revoking a key must always be possible.
  allowsFullMemory: true,
  source: `
local head = redis.call('HMGET', KEYS[1], 'cluster', 'revision', 'change', 'bytes', 'migration')
if head[1] ~= ARGV[1] then return {'other', 0} end
local isCopied = head[5] and string.sub(head[5], -8) == ' copying'
if (isCopied or ARGV[10] ~= '') and head[5] ~= ARGV[10] .. ' copying' then return {'copying', 0} end
redis.call('HSET', KEYS[1], 'touched', '')
local revision = tonumber(ARGV[2]) + 1
local id = string.format('%.0f-0', revision)
if head[2] ~= ARGV[2] or head[3] ~= ARGV[3] then
  local entry = redis.call('XRANGE', KEYS[3], id, id)[1]
  if entry and entry[2][2] == ARGV[4] then return {'done', revision} end
  if not entry and tonumber(head[2]) >= revision then return {'unknown', 0} end
  return {'conflict', 0}
end
local putFrom = 11
local removedFrom = putFrom + 2 * tonumber(ARGV[8])
local loggedFrom = removedFrom + tonumber(ARGV[9])
local bytes = tonumber(head[4])
for at = putFrom, removedFrom - 1, 2 do
  local before = redis.call('HSTRLEN', KEYS[2], ARGV[at])
  bytes = bytes + #ARGV[at + 1] - before
  if before == 0 then bytes = bytes + #ARGV[at] end
end
for at = removedFrom, loggedFrom - 1 do
  local before = redis.call('HSTRLEN', KEYS[2], ARGV[at])
  if before > 0 then bytes = bytes - before - #ARGV[at] end
end
if bytes > tonumber(ARGV[5]) and bytes > tonumber(head[4]) then return {'full', 0} end
local entry = {'change', ARGV[4], 'after', ARGV[3], 'isWhole', ARGV[7]}
for at = putFrom, removedFrom - 1, 2 do
  redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1])
  if ARGV[7] == '1' then
    entry[#entry + 1] = '+' .. ARGV[at]
    entry[#entry + 1] = ARGV[at + 1]
  end
end
for at = removedFrom, loggedFrom - 1 do
  redis.call('HDEL', KEYS[2], ARGV[at])
  if ARGV[7] == '1' then
    entry[#entry + 1] = '-' .. ARGV[at]
    entry[#entry + 1] = ''
  end
end
for at = loggedFrom, #ARGV, 3 do
  local audit = KEYS[3 + tonumber(ARGV[at])]
  redis.call('HSET', audit, ARGV[at + 1], ARGV[at + 2])
  local last = tonumber(redis.call('HGET', audit, 'last') or '0')
  if last < tonumber(ARGV[at + 1]) then redis.call('HSET', audit, 'last', ARGV[at + 1]) end
end
redis.call('HSET', KEYS[1], 'revision', string.format('%.0f', revision), 'change', ARGV[4], 'bytes', string.format('%.0f', bytes))
redis.call('XADD', KEYS[3], 'MAXLEN', ARGV[6], id, unpack(entry))
return {'done', revision}`,
});

/**
 * Returns what happened since: the changes, or that all rows must be read, if the log no longer has every change. Keys: head, log, nodes. Arguments:
 * cluster, revision and last change that the caller has; the node that thereby reports that it is there and has them ("" for none), and how often it
 * did. A state that a failover has undone, or that the log no longer knows, counts as revision -1. Returns the id of the cluster; if it is this one
 * also revision, last change, then "current", or "changes" and entries of the log, or "behind" and the bytes of all rows; for a node also "copying",
 * and the report is not kept, while a store is being copied into the cluster.
 */
export const followConfig = defineScript({
  name: "follow-config",
  version: 5,
  allowsFullMemory: true,
  source: `
local head = redis.call('HMGET', KEYS[1], 'cluster', 'revision', 'change', 'bytes', 'migration')
if head[1] ~= ARGV[1] then return {head[1] or ''} end
redis.call('HSET', KEYS[1], 'touched', '')
if ARGV[4] ~= '' and head[5] and string.sub(head[5], -8) == ' copying' then return {head[1], head[2], head[3], 'copying'} end
local isCurrent = head[2] == ARGV[2] and head[3] == ARGV[3]
local entries
local isKept = isCurrent
local following = tonumber(ARGV[2]) + 1
if not isCurrent and following > 0 and following <= tonumber(head[2]) then
  local id = string.format('%.0f-0', following)
  entries = redis.call('XRANGE', KEYS[2], id, '+')
  isKept = entries[1] ~= nil and entries[1][1] == id and entries[1][2][4] == ARGV[3]
end
if ARGV[4] ~= '' then redis.call('HSET', KEYS[3], ARGV[4], ARGV[5] .. ' ' .. (isKept and ARGV[2] or '-1')) end
if isCurrent then return {head[1], head[2], head[3], 'current'} end
local isWhole = isKept
if isKept then
  for _, entry in ipairs(entries) do isWhole = isWhole and entry[2][6] == '1' end
end
if isWhole then return {head[1], head[2], head[3], 'changes', entries} end
return {head[1], head[2], head[3], 'behind', head[4]}`,
});

/**
 * Returns the whole configuration. Keys: head, rows, log. Argument: cluster. Returns the id of the cluster; if it is this one also revision, last
 * change, the rows, their bytes by the head, and the entries of the log from this revision on, two at most.
 */
export const readConfig = defineScript({
  name: "read-config",
  version: 2,
  isReadOnly: true,
  source: `
local head = redis.call('HMGET', KEYS[1], 'cluster', 'revision', 'change', 'bytes')
if head[1] ~= ARGV[1] then return {head[1] or ''} end
local entries = redis.call('XRANGE', KEYS[3], head[2] .. '-0', '+', 'COUNT', 2)
return {head[1], head[2], head[3], redis.call('HGETALL', KEYS[2]), head[4], entries}`,
});

/**
 * Returns 1 if the configuration is still in this state or was once, 0 if a failover has undone it or the log no longer knows. Keys: head, log.
 * Arguments: cluster, revision and last change of the state.
 */
export const confirmConfig = defineScript({
  name: "confirm-config",
  version: 1,
  allowsFullMemory: true,
  source: `
local head = redis.call('HMGET', KEYS[1], 'cluster', 'revision', 'change')
if head[1] ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'touched', '')
if head[2] == ARGV[2] and head[3] == ARGV[3] then return 1 end
local id = string.format('%.0f-0', tonumber(ARGV[2]) + 1)
local entry = redis.call('XRANGE', KEYS[2], id, id)[1]
return entry and entry[2][4] == ARGV[3] and 1 or 0`,
});

/** Reports that a node runs, whether or not it can follow the configuration. Keys: serving. Arguments: the node; how often it has reported that. */
export const reportServing = defineScript({
  name: "report-serving",
  version: 1,
  allowsFullMemory: true,
  source: "return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])",
});

/**
 * Returns the nodes that follow the configuration, or that run. First it removes the nodes given as arguments that have reported nothing new since.
 * Keys: nodes, or serving. Arguments: pairs of a node and its last report.
 */
export const configNodes = defineScript({
  name: "config-nodes",
  version: 1,
  source: `
for at = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[at]) == ARGV[at + 1] then redis.call('HDEL', KEYS[1], ARGV[at]) end
end
return redis.call('HGETALL', KEYS[1])`,
});
