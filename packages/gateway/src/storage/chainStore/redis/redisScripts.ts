/**
 * Replaces rows of an atom, if those to be removed are still there and no other row has blocks of the new ones: rows of an atom never overlap.
 *
 * KEYS: the rows, values to set, values to delete. ARGV: how many rows to remove, how many that may be gone, how many to add, and how many values to set;
 * the rows to remove, those that may be gone, `first`, `last` and row of each to add, and the values. Returns 0 if nothing was done.
 */
export const coverScript = `
local removes, voids, adds, puts = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local gone = {}
for at = 5, 4 + removes + voids do
  if at <= 4 + removes and not redis.call('ZSCORE', KEYS[1], ARGV[at]) then return 0 end
  gone[ARGV[at]] = true
end
local start = 5 + removes + voids
for at = start, start + 3 * adds - 1, 3 do
  local skip = 0
  while true do
    local found = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[at], '+inf', 'LIMIT', skip, 1)[1]
    if not found then break end
    if not gone[found] then
      local first = tonumber(string.match(found, '^%x+%[(%d+)'))
      if not first or first <= tonumber(ARGV[at + 1]) then return 0 end
      break
    end
    skip = skip + 1
  end
end
for at = 5, start - 1 do redis.call('ZREM', KEYS[1], ARGV[at]) end
for at = start, start + 3 * adds - 1, 3 do redis.call('ZADD', KEYS[1], ARGV[at + 1], ARGV[at + 2]) end
for at = 1, puts do redis.call('SET', KEYS[1 + at], ARGV[start + 3 * adds - 1 + at]) end
for at = puts + 2, #KEYS do redis.call('DEL', KEYS[at]) end
return 1`

/** Adds a member with the time as its score, in microseconds. KEYS: the sorted set. ARGV: the member. */
export const numberScript = `
local now = redis.call('TIME')
return redis.call('ZADD', KEYS[1], now[1] * 1000000 + now[2], ARGV[1])`

/** Replaces two fields of a hash if they are as they were read. KEYS: the hash. ARGV: the fields, what was read, what to write; '' deletes. */
export const swapScript = `
local found = redis.call('HMGET', KEYS[1], ARGV[1], ARGV[2])
if (found[1] or '') ~= ARGV[3] or (found[2] or '') ~= ARGV[4] then return 0 end
if ARGV[5] == '' then redis.call('HDEL', KEYS[1], ARGV[1], ARGV[2])
else redis.call('HSET', KEYS[1], ARGV[1], ARGV[5], ARGV[2], ARGV[6]) end
return 1`
