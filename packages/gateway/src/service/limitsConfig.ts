import { z } from 'zod'
import { maxWeight } from '../proxy/method/weights.ts'
import { methodName, must, object, whole } from './configSchema.ts'

const maxCalls = 1_000_000_000

const calls = () => {
  const message = `must be a whole number from 1 to ${maxCalls}, or null for no limit`
  return z.number(must(message)).int(message).min(1, message).max(maxCalls, message).nullable()
}
const burst = () => whole(1, 100_000)

const keyLimits = (defaults: {
  readonly perSecond: number | null
  readonly burst: number
  readonly perDay: number | null
  readonly perMonth: number | null
}) =>
  object({
    perSecond: calls().default(defaults.perSecond),
    burst: burst().default(defaults.burst),
    perDay: calls().default(defaults.perDay),
    perMonth: calls().default(defaults.perMonth),
  }).prefault({})

const weights = () =>
  z.record(
    methodName(),
    whole(1, maxWeight),
    must('must be an object with a whole number for each method, such as { "eth_getLogs": 75 }'),
  )

/** The schema of `limits`. */
export const limits = object({
  /** `perDay` and `perMonth` for all API keys of a user together, `perSecond` and `burst` for each. @default 25,000 a day, 1,000 a second, 10,000 at once */
  // The rate is far above what the daily quota needs. Without a rate, rejected calls would be free.
  apiKeys: keyLimits({ perSecond: 1_000, burst: 10_000, perDay: 25_000, perMonth: null }),
  /** Each app. @default 100 a second, 1,000 at once, 100,000 a day, 3,000,000 a month */
  apps: keyLimits({ perSecond: 100, burst: 1_000, perDay: 100_000, perMonth: 3_000_000 }),
  /** @default 20 */
  appsPerUser: whole(1, 10_000).default(20),
  /** How many requests a call counts as in the limits above, by method. None may be above a `burst`. @default 1 each */
  weights: weights().default({}),
})
  .superRefine(({ apps, apiKeys, weights: given }, context) => {
    for (const [method, weight] of Object.entries(given))
      for (const [name, { burst: most }] of Object.entries({ apps, apiKeys }))
        if (weight > most)
          context.addIssue({
            code: 'custom',
            path: ['weights', method],
            message: `must be at most ${most}, which is limits.${name}.burst, because a call above the burst is never granted: lower the weight, or raise the burst`,
          })
  })
  .prefault({})

const boundsShape = {
  maxBodyBytes: whole(1, 268_435_456).exactOptional(),
  maxBatchCalls: whole(1, 100_000).exactOptional(),
  maxJsonDepth: whole(8, 1_000).exactOptional(),
  maxResponseBytes: whole(1, 268_435_456).exactOptional(),
  maxBufferedBytes: whole(1, Number.MAX_SAFE_INTEGER).exactOptional(),
  upstreamTimeoutMs: whole(1, 2_147_483_647).exactOptional(),
  headersTimeoutMs: whole(1, 2_147_483_647).exactOptional(),
  requestTimeoutMs: whole(1, 2_147_483_647).exactOptional(),
  writeTimeoutMs: whole(1, 2_147_483_647).exactOptional(),
  maxConnections: whole(1, 1_000_000).exactOptional(),
  maxCacheBytes: whole(0, 268_435_456).exactOptional(),
  maxFilters: whole(1, 100_000).exactOptional(),
}

/** The schema of `bounds`. */
export const bounds = object(boundsShape).prefault({})

const { maxBatchCalls, maxResponseBytes, upstreamTimeoutMs, maxCacheBytes, maxFilters } = boundsShape
const networkBoundsShape = { maxBatchCalls, maxResponseBytes, upstreamTimeoutMs, maxCacheBytes, maxFilters }

const toPlaces = (names: readonly string[], place: string): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, place]))

const quotaPlace = 'the limits of the config, because a quota counts calls to all networks'
const quotaPlaces = toPlaces(['perDay', 'perMonth'], quotaPlace)
const boundsPlaces = {
  ...toPlaces(Object.keys(boundsShape), 'the bounds of the config, because it holds for all networks'),
  ...toPlaces(Object.keys(networkBoundsShape), 'the bounds of the network'),
}

const ownRate = () => object({ perSecond: calls().exactOptional(), burst: burst().exactOptional() }, quotaPlaces)

/** The schema of the `limits` of a network. Missing members default to the `limits` of the config. */
export const networkLimits = object(
  {
    /** The rate of each API key on this network. */
    apiKeys: ownRate().exactOptional(),
    /** The rate of each app on this network. */
    apps: ownRate().exactOptional(),
    /** How many requests a call counts as on this network, by method. */
    weights: weights().exactOptional(),
  },
  {
    ...boundsPlaces,
    ...quotaPlaces,
    ...toPlaces(['perSecond', 'burst'], 'apps, apiKeys or both'),
    appsPerUser: 'the limits of the config',
  },
)

/** The schema of the `bounds` of a network. Missing members default to the `bounds` of the config. */
export const networkBounds = object(networkBoundsShape, boundsPlaces)
