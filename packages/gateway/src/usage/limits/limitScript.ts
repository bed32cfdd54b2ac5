import type { RedisLink } from '../../storage/redis/redisLink.ts'
import { unitsPerToken } from '../rateLimit/tokenBucket.ts'
import type { CallerView, LimitRequest, SharedView } from './usageLimits.ts'
import { noNews, parseView, toNewsArguments, toViewKey, viewFunction } from './viewScript.ts'

/** How old a seed may be, in milliseconds: others may have been charged since. */
const maxSeedAgeMs = 2_000
/** Redis forgets an account that was idle for this long: by then its month is over. */
const accountSeconds = 40 * 86_400

// The tag in braces puts all keys of an account on one shard. Short names: beyond 60 bytes, Redis allocates 16 more for each key.
/** Gets the Redis key of an account's used quota. */
export const toUsedKey = (account: string): string => `kr:{${account}}:used`
/** Gets the Redis key of a key's rate. It is stored with its account, so that one script can decide on both. */
export const toRateKey = (id: string, account: string | undefined): string =>
  account === undefined ? `kr:{${id}}:rate` : `kr:{${account}}:${id}`

/*
 * Values are packed, because that takes a third of the memory and half of the time of text:
 * - a rate: spent, at (as in tokenBucket.ts)
 * - an account: day, units used in the day, month, units used in the month, units handed out for an outage, seededAt.
 * An account of up to 44 bytes needs one allocation in Redis. seededAt shows whether Redis has lost its data since.
 */
const common = `
local rateFormat, accountFormat = '<dd', '<I4dI4dI4d'
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
local function advance(account)
  local today = math.floor(now / 86400000)
  if today <= account.day then return end
  local month = toMonth(today)
  if month > account.month then account.month, account.monthUsed = month, 0 end
  account.day, account.dayUsed, account.handed = today, 0, 0
end
local function read(key)
  local stored = redis.call('GET', key)
  if not stored then return nil end
  local account = {}
  account.day, account.dayUsed, account.month, account.monthUsed, account.handed, account.seededAt = struct.unpack(accountFormat, stored)
  return account
end
local function write(key, account)
  redis.call('SET', key, struct.pack(accountFormat, account.day, account.dayUsed, account.month, account.monthUsed, account.handed, account.seededAt), 'EX', ${accountSeconds})
end
-- A failover may have lost what instances have seen already.
local function raise(account, day, dayUsed, monthUsed)
  local raised = false
  if day == account.day and dayUsed > account.dayUsed then account.dayUsed, raised = dayUsed, true end
  if day > 0 and monthUsed > account.monthUsed and toMonth(day) == account.month then account.monthUsed, raised = monthUsed, true end
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
local account, changed
if KEYS[2] then
  account = read(KEYS[2])
  if not account then
    if now - number(14) > ${maxSeedAgeMs} then return { 2, now } end
    local day = number(11)
    account = { day = day, dayUsed = number(12), month = toMonth(day), monthUsed = number(13), handed = 0, seededAt = number(14) }
    changed = true
  end
  advance(account)
  changed = raise(account, number(8), number(9), number(10)) or changed
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
if not account then return { 0, now, rated, spent } end
local left = math.huge
if perDay >= 0 then left = perDay - account.dayUsed end
if perMonth >= 0 then left = math.min(left, perMonth - account.monthUsed) end
local granted, cost = fit(math.min(passed, rated), left)
account.dayUsed, account.monthUsed = account.dayUsed + cost, account.monthUsed + cost
local reserved = 0
if left < math.huge then reserved = math.max(0, math.min(math.ceil((number(15) - account.handed) / 4), left - cost)) end
account.handed = account.handed + reserved
if changed or cost > 0 or reserved > 0 then write(KEYS[2], account) end
local view
if KEYS[3] then view = see(KEYS[3], 16) end
return { 0, now, rated, spent, granted, cost, account.day, account.dayUsed, account.monthUsed, reserved, account.seededAt, view }`

const chargeScript = `${common}
local units, day = number(1), number(2)
local account = read(KEYS[1])
-- Then it will be seeded from the ledger, which has these units.
if not account then return 0 end
if account.seededAt ~= number(3) and (units < 0 or account.seededAt >= number(4)) then return 0 end
advance(account)
raise(account, number(5), number(6), number(7))
if day == account.day then account.dayUsed = math.max(0, account.dayUsed + units) end
if toMonth(day) == account.month then account.monthUsed = math.max(0, account.monthUsed + units) end
write(KEYS[1], account)
return 1`

const shareScript = `${common}${viewFunction}
return { now, see(KEYS[1], 1) }`

const readScript = `${common}
local account = read(KEYS[1])
if not account then return { 0 } end
advance(account)
return { account.day, account.dayUsed, account.monthUsed }`

/** The usage of an account. */
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
  /** The time of Redis at which it got the account from the ledger. */
  readonly seededAt: number
  readonly view?: CallerView | undefined
}

/** `late`: after the deadline. `missing`: Redis has no counter for the account. In both cases nothing is charged. */
export type TakeResult = TakenFromRedis | { readonly status: 'late' | 'missing'; readonly now: number }

/** Units to add to an account outside of a request. */
export interface Charge {
  /** Negative to return units. */
  readonly units: number
  readonly day: number
  /** When Redis got the account from the ledger that this instance knows. */
  readonly seededAt: number
  /** A later seed includes these units. @default 0, for units to return */
  readonly writtenAt?: number
  readonly floor?: UsedUnits | undefined
}

/** The scripts that decide on limits. All reject if Redis cannot be reached. */
export interface LimitScripts {
  take(request: LimitRequest, options: TakeOptions): Promise<TakeResult>
  /** Adds units to an account that Redis has. */
  charge(account: string, charge: Charge): Promise<void>
  /** Shares a view, and returns it with what others have shared. */
  share(account: string, view: SharedView): Promise<CallerView>
  /** Reads what an account has used; `undefined`: Redis has no counter for it. */
  read(account: string): Promise<UsedUnits | undefined>
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
    take: async ({ id, rate, account, calls, passed, weights, view }, { deadline, floor, seed, outageGrant }) => {
      const keys =
        account === undefined ? [toRateKey(id, undefined)] : [toRateKey(id, account.id), toUsedKey(account.id)]
      if (account !== undefined && view !== undefined) keys.push(toViewKey(view, account.id))
      const values: (string | number)[] = [deadline, rate?.perSecond ?? 0, rate?.burst ?? 0, calls, passed]
      values.push(account?.perDay ?? -1, account?.perMonth ?? -1)
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
    charge: async (account, { units, day, seededAt, writtenAt = 0, floor }) => {
      const values = [units, day, seededAt, writtenAt, floor?.day ?? 0, floor?.dayUsed ?? 0, floor?.monthUsed ?? 0]
      await commands.keyrailCharge(1, toUsedKey(account), ...values)
    },
    share: async (account, view) => {
      const [now, shared] = await commands.keyrailShare(1, toViewKey(view, account), ...toNewsArguments(view))
      return parseView(shared, now)
    },
    read: async (account) => {
      const [day = 0, dayUsed = 0, monthUsed = 0] = await commands.keyrailRead(1, toUsedKey(account))
      return day === 0 ? undefined : { day, dayUsed, monthUsed }
    },
  }
}
