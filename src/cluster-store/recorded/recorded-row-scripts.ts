/** Scripts that run inside the cluster for recorded rows: blocks, marks, timelines. Each is one atomic step on rows of one slot. */
import { defineScript } from "../../cluster/script.js";

/**
 * Stores blocks of one project. Ids are assigned in order; a segment holds `size` ids. Keys: last id, last write of the writer, tallies, segments that
 * may be needed, segments to drop. Arguments: number of the write, above those that had an answer; ms that it is remembered, a tally, a segment; ids of a
 * segment; maximum of references of a block; numbers of tallies, of segments, of the first segment and so on; then for each tally its maximum of records,
 * its last record known to the caller, how many further blocks, how many references and these; then for each block the number of its tally, its text and
 * the token of its session ("" for none).
 * Returns, as text, for each tally its records, its last record and whether that is stored, then the id of each block (0: it was only counted); the same
 * if it ran before. If some needed segments are not among the keys, writes nothing and returns the numbers of all segments that it needs, as numbers.
 */
export const recordBlocks = defineScript({
  name: "record-blocks",
  version: 3,
  source: `
local number, done = string.match(redis.call('GET', KEYS[2]) or '', '^(%d+) (.*)$')
if number and tonumber(number) >= tonumber(ARGV[1]) then return done end
local size, most = tonumber(ARGV[5]), tonumber(ARGV[6])
local tallyCount, segmentCount = tonumber(ARGV[7]), tonumber(ARGV[8])
local at = 9
local segments = {}
for number = 1, segmentCount do
  segments[ARGV[at]] = KEYS[2 + tallyCount + number]
  at = at + 1
end
local tallies = {}
for number = 1, tallyCount do
  local records, last = string.match(redis.call('GET', KEYS[2 + number]) or '', '^(%d+) (%d+)$')
  local tally = {records = tonumber(records or 0), last = tonumber(last or ARGV[at + 1]), most = tonumber(ARGV[at]), further = tonumber(ARGV[at + 2])}
  tally.references = {}
  for reference = 1, tonumber(ARGV[at + 3]) do tally.references[reference] = ARGV[at + 3 + reference] end
  at = at + 4 + #tally.references
  tallies[number] = tally
end
local function segmentOf(id) return string.format('%.0f', math.floor(id / size)) end
local last = tonumber(redis.call('GET', KEYS[1]) or '0')
local needed, isMissing = {}, false
local function need(id)
  local segment = segmentOf(id)
  needed[#needed + 1] = tonumber(segment)
  if not segments[segment] then isMissing = true end
end
if #ARGV > at then
  need(last + 1)
  need(last + (#ARGV - at + 1) / 3)
end
for _, tally in ipairs(tallies) do if tally.last > 0 then need(tally.last) end end
if isMissing then return needed end
local ids = {}
for row = at, #ARGV, 3 do
  local tally = tallies[tonumber(ARGV[row])]
  if tally.records >= tally.most then
    tally.further = tally.further + 1
    ids[#ids + 1] = '0'
  else
    last = last + 1
    local segment = segments[segmentOf(last)]
    local id = string.format('%.0f', last)
    redis.call('HSET', segment, id, ARGV[row + 1])
    redis.call('HINCRBY', segment, 'n', 1)
    if ARGV[row + 2] ~= '' then
      local name = 's:' .. ARGV[row + 2]
      local named = redis.call('HGET', segment, name)
      redis.call('HSET', segment, name, named and (named .. ' ' .. id) or id)
    end
    redis.call('PEXPIRE', segment, ARGV[4])
    tally.records = tally.records + 1
    tally.last = last
    ids[#ids + 1] = string.format('%.0f', last)
  end
end
if #ids > 0 then redis.call('SET', KEYS[1], string.format('%.0f', last)) end
local result = {}
for number, tally in ipairs(tallies) do
  local id = string.format('%.0f', tally.last)
  local segment = segments[segmentOf(tally.last)]
  local isStored = tally.last > 0 and redis.call('HEXISTS', segment, id) == 1
  if isStored and tally.further > 0 then redis.call('HINCRBY', segment, id .. 'c', tally.further) end
  if isStored and #tally.references > 0 then
    local all = {}
    for reference in string.gmatch(redis.call('HGET', segment, id .. 'r') or '', '%S+') do all[#all + 1] = reference end
    for _, reference in ipairs(tally.references) do all[#all + 1] = reference end
    redis.call('HSET', segment, id .. 'r', table.concat(all, ' ', math.max(1, #all - most + 1)))
  end
  if tally.records > 0 then redis.call('SET', KEYS[2 + number], tally.records .. ' ' .. id, 'PX', ARGV[3]) end
  result[#result + 1] = tally.records .. ' ' .. id .. ' ' .. (isStored and 1 or 0)
end
for key = 3 + tallyCount + segmentCount, #KEYS do redis.call('DEL', KEYS[key]) end
local text = table.concat(result, ' ') .. ' ' .. table.concat(ids, ' ')
redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. text, 'PX', ARGV[2])
return text`,
});

/**
 * Puts a mark. Keys: marks of the project. Arguments: token, mark, marks that the project may have, ms that they live. Returns 1 when it is put, 0
 * when there are too many.
 */
export const putMark = defineScript({
  name: "put-mark",
  version: 1,
  source: `
local isNew = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0
if isNew and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1`,
});

/** Removes marks that have not changed. Keys: marks of the project; arguments: pairs of token and mark. Returns how many were removed. */
export const removeMarks = defineScript({
  name: "remove-marks",
  version: 1,
  source: `
local removed = 0
for at = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[at]) == ARGV[at + 1] then removed = removed + redis.call('HDEL', KEYS[1], ARGV[at]) end
end
return removed`,
});

/**
 * Writes a session's timeline, if its version is unchanged and the session exists. Keys: session, timeline. Arguments: version that is replaced (""
 * for none), new version, timeline, ms that it lives. Returns 1 when it is written, by this call or by an earlier one whose answer was lost; 0 when
 * it has another version, -1 when there is no session.
 */
export const saveTimeline = defineScript({
  name: "save-trail",
  version: 1,
  source: `
local stored = redis.call('GETRANGE', KEYS[2], 0, 7)
if stored == ARGV[2] then return 1 end
if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end
if stored ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[2], ARGV[2] .. ARGV[3], 'PX', ARGV[4])
return 1`,
});

/**
 * Notes which sessions of a project have a timeline, and keeps the latest. Keys: the index. Arguments: how many to keep, ms that the index lives,
 * tokens to add. Returns the tokens beyond that number.
 */
export const indexTimelines = defineScript({
  name: "index-trails",
  version: 1,
  source: `
for at = 3, #ARGV do redis.call('ZADD', KEYS[1], 0, ARGV[at]) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local surplus = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[1])
if surplus <= 0 then return {} end
local oldest = redis.call('ZRANGE', KEYS[1], 0, surplus - 1)
for _, token in ipairs(oldest) do redis.call('ZREM', KEYS[1], token) end
return oldest`,
});

/**
 * Adds to the counts of a project's hour. Keys: the hour. Arguments: the field of the writer, the number of this addition, ms that the hour is kept;
 * then fields and how much to raise them, or for fields that end in `lastMs` their least value. Adds only numbers above the writer's last. Returns 1,
 * or 0 when it was added before.
 */
export const addTraffic = defineScript({
  name: "add-traffic",
  version: 1,
  source: `
local last = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
if last >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
for at = 4, #ARGV, 2 do
  if string.sub(ARGV[at], -6) == 'lastMs' then
    local before = tonumber(redis.call('HGET', KEYS[1], ARGV[at]) or '0')
    if before < tonumber(ARGV[at + 1]) then redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
  else redis.call('HINCRBY', KEYS[1], ARGV[at], ARGV[at + 1]) end
end
return 1`,
});

/** Returns the ids of a log's latest changes up to this one, the latest first, at most so many. Keys: audit log. Arguments: the id; how many. */
export const changesBefore = defineScript({
  name: "changes-before",
  version: 1,
  isReadOnly: true,
  source: `
local stored = redis.call('HGETALL', KEYS[1])
local last, ids, latest = tonumber(ARGV[1]), {}, {}
for at = 1, #stored, 2 do
  local id = tonumber(stored[at])
  if id and id <= last then ids[#ids + 1] = id end
end
table.sort(ids)
for at = #ids, math.max(1, #ids - tonumber(ARGV[2]) + 1), -1 do latest[#latest + 1] = ids[at] end
return latest`,
});
