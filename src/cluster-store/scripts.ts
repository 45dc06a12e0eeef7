/** Scripts that run inside the cluster, each in one atomic step. A changed source is a new version: nodes of both releases run side by side. */
import { defineScript } from "../cluster/script.js";

/**
 * Writes all rows of a session, or nothing. Keys: the session, the row of its `Idempotency-Key` or the session again, its index or the session again,
 * then further rows: those to write, and those to keep as long as the session. Arguments: version that is replaced ("" for none), new version,
 * record, ms that it lives, token, ms that the `Idempotency-Key` is valid (0: there is none), the value of its row that is replaced ("" for none), then
 * the value of each further row to write. Returns 1 when it is written, by this call or by an earlier one whose answer was lost; 0 when the session has
 * another version, or the `Idempotency-Key` another session. With the current version as both it only confirms that. Either way something is written:
 * Redis 7.2 and Valkey let `WAIT` pass at once on a connection that has replicated nothing (redis/redis #11713).
 */
export const saveSession = defineScript({
  name: "save-session",
  version: 4,
  source: `
local stored = redis.call('GETRANGE', KEYS[1], 0, 7)
if stored == ARGV[2] then
  redis.call('PEXPIRE', KEYS[1], math.max(1, redis.call('PTTL', KEYS[1])))
  return 1
end
if stored ~= ARGV[1] then return 0 end
if ARGV[6] ~= '0' then
  local named = redis.call('GET', KEYS[2])
  if named and named ~= ARGV[7] then return 0 end
  redis.call('SET', KEYS[2], ARGV[5], 'PX', ARGV[6])
end
redis.call('SET', KEYS[1], ARGV[2] .. ARGV[3], 'PX', ARGV[4])
if KEYS[3] ~= KEYS[1] then redis.call('ZADD', KEYS[3], 0, ARGV[5]) end
for row = 4, #KEYS do
  local value = ARGV[4 + row]
  if value then redis.call('SET', KEYS[row], value, 'PX', ARGV[4])
  else redis.call('PEXPIRE', KEYS[row], ARGV[4]) end
end
return 1`,
});

/**
 * Names the session of an `Idempotency-Key` whose row is in another shard than the session's, before that is written. Keys: the row; arguments: token, the
 * value that is replaced ("" for none), ms that it is valid. Returns 0 if the row names another session, 1 otherwise.
 */
export const claimIdempotencyKey = defineScript({
  name: "claim-key",
  version: 1,
  source: `
local named = redis.call('GET', KEYS[1])
if named and named ~= ARGV[1] and named ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1`,
});

/**
 * Confirms that a session does not exist, and writes a row that nobody reads, so that a master without its replicas, which may have missed the session, can't
 * have that acknowledged. Keys: the session, `writtenRow` of its slot; argument: ms that the latter lives. Returns 1 if there is none, 0 otherwise.
 */
export const confirmAbsent = defineScript({
  name: "confirm-absent",
  version: 1,
  source: `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('SET', KEYS[2], '', 'PX', ARGV[1])
return 1`,
});

/**
 * Changes nothing but a row that nobody reads (`writtenRow`): then `WAIT` tells of all that this master has written before. Key: the row; argument: ms.
 */
export const touchMaster = defineScript({
  name: "touch-master",
  version: 1,
  allowsFullMemory: true,
  source: `return redis.call('SET', KEYS[1], '', 'PX', ARGV[1])`,
});

/**
 * Remembers that the session of a token was erased. Key: the row; arguments: value, ms that it lives. A full memory takes it: what is erased then is more.
 */
export const rememberErasure = defineScript({
  name: "remember-erasure",
  version: 1,
  allowsFullMemory: true,
  source: `return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])`,
});

/** Removes all rows of a session and its place in the index. Keys: session, further rows, index last; argument: token. Returns 1 if it existed. */
export const eraseSessionRows = defineScript({
  name: "erase-session",
  version: 1,
  source: `
redis.call('ZREM', KEYS[#KEYS], ARGV[1])
local erased = 0
for row = 1, #KEYS - 1 do
  local removed = redis.call('DEL', KEYS[row])
  if row == 1 then erased = removed end
end
return erased`,
});

/**
 * Appends to a part of a project's paths. One of two logs is written; when it is full, the other is emptied and written. Keys: `pathRows`; arguments:
 * bytes that a log may have, the pairs, ms to live. Returns the number of the current log and its bytes now.
 */
export const appendPaths = defineScript({
  name: "append-paths",
  version: 2,
  source: `
local number = tonumber(redis.call('GET', KEYS[1]) or '0')
local log = KEYS[2 + number % 2]
if redis.call('STRLEN', log) >= tonumber(ARGV[1]) then
  number = number + 1
  log = KEYS[2 + number % 2]
  redis.call('DEL', log)
end
redis.call('SET', KEYS[1], number, 'PX', ARGV[3])
local bytes = redis.call('APPEND', log, ARGV[2])
redis.call('PEXPIRE', log, ARGV[3])
return {number, bytes}`,
});

/**
 * Reads what was appended to a part of a project's paths since. Keys: `pathRows`; arguments: number of the log that was read last (-1: none), how
 * many of its bytes. Returns the number of the current log, what follows in the one before, and what follows in it.
 */
export const readPaths = defineScript({
  name: "read-paths",
  version: 1,
  isReadOnly: true,
  source: `
local number = tonumber(redis.call('GET', KEYS[1]) or '0')
local known = tonumber(ARGV[1])
local log = KEYS[2 + number % 2]
local before = KEYS[2 + (number + 1) % 2]
if known == number then return {number, '', redis.call('GETRANGE', log, ARGV[2], -1)} end
local from = 0
if known == number - 1 then from = ARGV[2] end
return {number, redis.call('GETRANGE', before, from, -1), redis.call('GETRANGE', log, 0, -1)}`,
});

/**
 * Reads all rows of a session at one moment. Keys: session, index, further rows. Argument: token. Returns version and record, ms that it lives,
 * whether the index has it, then the value of each further row; null for one that does not exist.
 */
export const readSession = defineScript({
  name: "read-session",
  version: 1,
  isReadOnly: true,
  source: `
local rows = {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1]), redis.call('ZSCORE', KEYS[2], ARGV[1]) and 1 or 0}
for row = 3, #KEYS do rows[row + 1] = redis.call('GET', KEYS[row]) end
return rows`,
});

/**
 * Removes sessions from an index, with their rows, if the record is gone or was last seen too long ago. Keys: index, then for each session its record
 * and further rows, the same number for each. Arguments: the cutoff in ms since the epoch, rows of a session, then the tokens. Returns the tokens of
 * those that were removed.
 */
export const sweepIndex = defineScript({
  name: "sweep-index",
  version: 2,
  source: `
local swept = {}
local rows = tonumber(ARGV[2])
for session = 0, #ARGV - 3 do
  local record = 2 + session * rows
  local seen = redis.call('GETRANGE', KEYS[record], 24, 31)
  if #seen < 8 or struct.unpack('<d', seen) < tonumber(ARGV[1]) then
    for row = record, record + rows - 1 do redis.call('DEL', KEYS[row]) end
    redis.call('ZREM', KEYS[1], ARGV[3 + session])
    swept[#swept + 1] = ARGV[3 + session]
  end
end
return swept`,
});

/** Counts the sessions in several indexes of a shard. Keys: the indexes. */
export const countIndexed = defineScript({
  name: "count-indexed",
  version: 1,
  isReadOnly: true,
  source: `
local sum = 0
for _, index in ipairs(KEYS) do sum = sum + redis.call('ZCARD', index) end
return sum`,
});
