import type { RedisLink } from '../../storage/redis/redisLink.ts'
import { unitsPerToken } from '../rateLimit/tokenBucket.ts'
import type { CallerView, LimitRequest, SharedView } from './usageLimits.ts'
import { noNews, parseView, toNewsArguments, toViewKey, viewFunction } from './viewScript.ts'

/** How old a seed may be, in milliseconds: others may have been charged since. */
const maxSeedAgeMs = 2_000
/** Redis forgets a quota that was idle for this long: by then its month is over. */
const quotaSeconds = 40 * 86_400

// The tag in braces puts all keys of a quota on one shard. Short names: beyond 60 bytes, Redis allocates 16 more for each key.
/** Gets the Redis key of what a quota has used. */
export const toUsedKey = (quota: string): string => `kr:{${quota}}:used`
/** Gets the Redis key of a key's rate. It is stored with its quota, so that one script can decide on both. */
export const toRateKey = (id: string, quota: string | undefined): string =>
  quota === undefined ? `kr:{${id}}:rate` : `kr:{${quota}}:${id}`

/*
 * Values are packed, because that takes a third of the memory and half of the time of text:
 * - a rate: spent, at (as in tokenBucket.ts)
 * - a quota: day, units used in the day, month, units used in the month, units handed out for an outage, seededAt.
 * A quota of up to 44 bytes needs one allocation in Redis. seededAt shows whether Redis has lost its data since.
 */
const common = `
local rateFormat, quotaFormat = '<dd', '<I4dI4dI4d'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function toMonth(day)
  -- Civil from days: the days of 400 years from a 1 March on.
  local shifted = day + 719468
  local era = math.floor(shifted / 146097)
  local dayOfEra = shifted - era * 146097
  local year = math.floor((dayOfEra - math.floor(dayOfEra / 1460) + math.floor(dayOfEra / 36524) - math.floor(dayOfEra / 146096)) / 365)
  local dayOfYear = dayOfEra - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local month = math.floor((5 * dayOfYear + 2) / 153)
  year = year + era * 400
  if month < 10 then return year * 12 + month + 2 end
  return (year + 1) * 12 + month - 10
end
-- Starts a later day or month. A clock that steps back reopens nothing.
local function advance(quota)
  local today = math.floor(now / 86400000)
  if today <= quota.day then return end
  local month = toMonth(today)
  if month > quota.month then quota.month, quota.monthUsed = month, 0 end
  quota.day, quota.dayUsed, quota.handed = today, 0, 0
end
local function read(key)
  local stored = redis.call('GET', key)
  if not stored then return nil end
  local quota = {}
  quota.day, quota.dayUsed, quota.month, quota.monthUsed, quota.handed, quota.seededAt = struct.unpack(quotaFormat, stored)
  return quota
end
local function write(key, quota)
  redis.call('SET', key, struct.pack(quotaFormat, quota.day, quota.dayUsed, quota.month, quota.monthUsed, quota.handed, quota.seededAt), 'EX', ${quotaSeconds})
end
-- A failover may have lost what instances have seen already.
local function raise(quota, day, dayUsed, monthUsed)
  local raised = false
  if day == quota.day and dayUsed > quota.dayUsed then quota.dayUsed, raised = dayUsed, true end
  if day > 0 and monthUsed > quota.monthUsed and toMonth(day) == quota.month then quota.monthUsed, raised = monthUsed, true end
  return raised
end
-- Arguments that are left out are 0.
local function number(index) return tonumber(ARGV[index] or 0) end
`

const takeScript = `${common}${viewFunction}
if now > number(1) then return { 1, now } end
local perSecond, burst, calls, passed, perDay, perMonth = number(2), number(3), number(4), number(5), number(6), number(7)
-- How many of the first calls fit, and what they cost.
local function fit(count, units)
  local cost = 0
  for index = 1, count do
    local weight = tonumber(ARGV[20 + index] or 1)
    if cost + weight > units then return index - 1, cost end
    cost = cost + weight
  end
  return count, cost
end
local quota, changed
if KEYS[2] then
  quota = read(KEYS[2])
  if not quota then
    if now - number(14) > ${maxSeedAgeMs} then return { 2, now } end
    local day = number(11)
    quota = { day = day, dayUsed = number(12), month = toMonth(day), monthUsed = number(13), handed = 0, seededAt = number(14) }
    changed = true
  end
  advance(quota)
  changed = raise(quota, number(8), number(9), number(10)) or changed
end
local spent, rated = 0, calls
if perSecond > 0 then
  local stored, at, cost = redis.call('GET', KEYS[1]), now, 0
  if stored then
    spent, at = struct.unpack(rateFormat, stored)
    if now > at then spent = math.max(0, spent - (now - at) * perSecond) end
  end
  rated, cost = fit(calls, math.floor((burst * ${unitsPerToken} - spent) / ${unitsPerToken}))
  -- If the clock of Redis was set back, the bucket refills from now on instead of waiting for the clock to catch up.
  if cost > 0 or at > now then
    local after = spent + cost * ${unitsPerToken}
    redis.call('SET', KEYS[1], struct.pack(rateFormat, after, now), 'PX', math.ceil(after / perSecond) + 1000)
  end
end
if not quota then return { 0, now, rated, spent } end
local left = math.huge
if perDay >= 0 then left = perDay - quota.dayUsed end
if perMonth >= 0 then left = math.min(left, perMonth - quota.monthUsed) end
local granted, cost = fit(math.min(passed, rated), left)
quota.dayUsed, quota.monthUsed = quota.dayUsed + cost, quota.monthUsed + cost
local reserved = 0
if left < math.huge then reserved = math.max(0, math.min(math.ceil((number(15) - quota.handed) / 4), left - cost)) end
quota.handed = quota.handed + reserved
if changed or cost > 0 or reserved > 0 then write(KEYS[2], quota) end
local view
if KEYS[3] then view = see(KEYS[3], 16) end
return { 0, now, rated, spent, granted, cost, quota.day, quota.dayUsed, quota.monthUsed, reserved, quota.seededAt, view }`

const chargeScript = `${common}
local units, day = number(1), number(2)
local quota = read(KEYS[1])
-- Then it will be seeded from the ledger, which has these units.
if not quota then return 0 end
if quota.seededAt ~= number(3) and (units < 0 or quota.seededAt >= number(4)) then return 0 end
advance(quota)
raise(quota, number(5), number(6), number(7))
if day == quota.day then quota.dayUsed = math.max(0, quota.dayUsed + units) end
if toMonth(day) == quota.month then quota.monthUsed = math.max(0, quota.monthUsed + units) end
write(KEYS[1], quota)
return 1`

const shareScript = `${common}${viewFunction}
return { now, see(KEYS[1], 1) }`

const readScript = `${common}
local quota = read(KEYS[1])
if not quota then return { 0 } end
advance(quota)
return { quota.day, quota.dayUsed, quota.monthUsed }`

/** The usage of a quota. */
export interface UsedUnits {
  /** Days since 1970. */
  readonly day: number
  readonly dayUsed: number
  readonly monthUsed: number
}

/** The options that Redis gets with a request. */
export interface TakeOptions {
  /** The time of Redis after which nothing is charged, in milliseconds. */
  readonly deadline: number
  /** The usage that this instance has seen; `undefined`: Redis does not need it. */
  readonly floor: UsedUnits | undefined
  /** The usage in the ledger, and the time of Redis before it was read; `undefined`: not known. */
  readonly seed: (UsedUnits & { readonly at: number }) | undefined
  /** Units that all instances together may grant without Redis, if this instance requests its part of them; otherwise 0. */
  readonly outageGrant: number
}

/** The decision of Redis. */
export interface TakenFromRedis extends UsedUnits {
  readonly status: 'taken'
  /** The time of Redis, in milliseconds. */
  readonly now: number
  /** How many calls the rate granted. */
  readonly rated: number
  /** The bucket before the request, in the units of `tokenBucket.ts`. */
  readonly spent: number
  readonly granted: number
  readonly charged: number
  /** Units that are reserved for this instance: it may grant them while Redis is lost. */
  readonly reserved: number
  /** The time of Redis at which it got the quota from the ledger. */
  readonly seededAt: number
  readonly view?: CallerView | undefined
}

/** `late`: after the deadline. `missing`: Redis has no counter for the quota. In both cases nothing is charged. */
export type TakeResult = TakenFromRedis | { readonly status: 'late' | 'missing'; readonly now: number }

/** Units to add to a quota outside of a request. */
export interface Charge {
  /** Negative to return units. */
  readonly units: number
  readonly day: number
  /** When Redis got the quota from the ledger that this instance knows. */
  readonly seededAt: number
  /** A later seed includes these units. @default 0, for units to return */
  readonly writtenAt?: number
  readonly floor?: UsedUnits | undefined
}

/** The scripts that decide on limits. All reject if Redis cannot be reached. */
export interface LimitScripts {
  take(request: LimitRequest, options: TakeOptions): Promise<TakeResult>
  /** Adds units to a quota that Redis has. */
  charge(quota: string, charge: Charge): Promise<void>
  /** Shares a view, and returns it with what others have shared. */
  share(quota: string, view: SharedView): Promise<CallerView>
  /** Reads what a quota has used; `undefined`: Redis has no counter for it. */
  read(quota: string): Promise<UsedUnits | undefined>
}

type Run<Reply> = (keys: number, ...values: (string | number)[]) => Promise<Reply>
type Reply = readonly number[]
/** The reply of a request ends with the view, if there is one. */
type TakeReply = readonly (number | string)[]

/** Defines the scripts on a connection. */
export const defineLimitScripts = ({ client, cork }: Pick<RedisLink, 'client' | 'cork'>): LimitScripts => {
  client.defineCommand('keyrailTake', { lua: takeScript })
  client.defineCommand('keyrailCharge', { lua: chargeScript })
  client.defineCommand('keyrailShare', { lua: shareScript })
  client.defineCommand('keyrailRead', { lua: readScript, readOnly: true })
  const commands = client as unknown as {
    keyrailTake: Run<TakeReply>
    keyrailCharge: Run<Reply>
    keyrailShare: Run<readonly [now: number, view: string]>
    keyrailRead: Run<Reply>
  }
  return {
    take: async ({ id, rate, quota, calls, passed, weights, view }, { deadline, floor, seed, outageGrant }) => {
      const keys = quota === undefined ? [toRateKey(id, undefined)] : [toRateKey(id, quota.id), toUsedKey(quota.id)]
      if (quota !== undefined && view !== undefined) keys.push(toViewKey(view, quota.id))
      const values: (string | number)[] = [deadline, rate?.perSecond ?? 0, rate?.burst ?? 0, calls, passed]
      values.push(quota?.perDay ?? -1, quota?.perMonth ?? -1)
      // Most requests need no further arguments, and each takes CPU here and in Redis.
      const hasNews = view?.news !== undefined
      if (floor !== undefined || seed !== undefined || outageGrant > 0 || weights !== undefined || hasNews) {
        values.push(floor?.day ?? 0, floor?.dayUsed ?? 0, floor?.monthUsed ?? 0)
        values.push(seed?.day ?? 0, seed?.dayUsed ?? 0, seed?.monthUsed ?? 0, seed?.at ?? 0)
        values.push(outageGrant, ...toNewsArguments(view ?? noNews), ...(weights ?? []))
      }
      cork(keys[0] ?? '')
      const reply = await commands.keyrailTake(keys.length, ...keys, ...values)
      const shared = reply[11]
      const [status, now = 0, rated = 0, spent = 0, granted = passed, charged = 0, ...rest] = reply as Reply
      if (status !== 0) return { status: status === 1 ? 'late' : 'missing', now }
      const [day = 0, dayUsed = 0, monthUsed = 0, reserved = 0, seededAt = 0] = rest
      const taken = { rated, spent, granted: Math.min(granted, rated), charged, day, dayUsed, monthUsed, reserved }
      return {
        status: 'taken',
        now,
        ...taken,
        seededAt,
        view: typeof shared === 'string' ? parseView(shared, now) : undefined,
      }
    },
    charge: async (quota, { units, day, seededAt, writtenAt = 0, floor }) => {
      const values = [units, day, seededAt, writtenAt, floor?.day ?? 0, floor?.dayUsed ?? 0, floor?.monthUsed ?? 0]
      await commands.keyrailCharge(1, toUsedKey(quota), ...values)
    },
    share: async (quota, view) => {
      const [now, shared] = await commands.keyrailShare(1, toViewKey(view, quota), ...toNewsArguments(view))
      return parseView(shared, now)
    },
    read: async (quota) => {
      const [day = 0, dayUsed = 0, monthUsed = 0] = await commands.keyrailRead(1, toUsedKey(quota))
      return day === 0 ? undefined : { day, dayUsed, monthUsed }
    },
  }
}
