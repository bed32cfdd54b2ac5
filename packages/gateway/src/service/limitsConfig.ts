import { z } from 'zod'
import { maxWeight } from '../proxy/method/weights.ts'
import { boundsPlaces } from '../proxy/options/bounds.ts'
import { methodName, must, object, whole } from '../proxy/options/fields.ts'

const maxCalls = 1_000_000_000

const calls = () => {
  const message = `must be a whole number from 1 to ${maxCalls}, or null for no limit`
  return z.number(must(message)).int(message).min(1, message).max(maxCalls, message).nullable()
}
const burst = () => whole(1, 100_000)

/** The limits of an account. @param of - The accounts, for descriptions. */
const keyLimits = (
  of: { readonly one: string; readonly each: string; readonly together: string },
  defaults: {
    readonly perSecond: number | null
    readonly burst: number
    readonly perDay: number | null
    readonly perMonth: number | null
  },
) =>
  object({
    perSecond: calls().default(defaults.perSecond).describe(`Requests per second of ${of.each}.`),
    burst: burst().default(defaults.burst).describe(`How many requests ${of.one} can send at once.`),
    perDay: calls().default(defaults.perDay).describe(`Requests of ${of.together} on a day (UTC).`),
    perMonth: calls().default(defaults.perMonth).describe(`Requests of ${of.together} in a month (UTC).`),
  }).prefault({})

const apps = { one: 'an app', each: 'each app', together: 'each app' }
const apiKeys = { one: 'an API key', each: 'each API key', together: 'all API keys of a user together' }

const weights = () =>
  z.record(
    methodName(),
    whole(1, maxWeight),
    must('must be an object with a whole number for each method, such as { "eth_getLogs": 75 }'),
  )

/** The schema of `limits`. */
export const limits = object({
  apps: keyLimits(apps, { perSecond: 100, burst: 1_000, perDay: 100_000, perMonth: 3_000_000 }),
  // The rate is far above what the daily quota needs. Without a rate, rejected calls would be free.
  apiKeys: keyLimits(apiKeys, { perSecond: 1_000, burst: 10_000, perDay: 25_000, perMonth: null }),
  appsPerUser: whole(1, 10_000).default(20).describe('How many apps a user can have.'),
  weights: weights()
    .default({})
    .describe('How many requests a call counts as, by method: [weights](../service/limits.md#weights).'),
})
  .superRefine((given, context) => {
    for (const [method, weight] of Object.entries(given.weights))
      for (const name of ['apps', 'apiKeys'] as const) {
        const { burst: most } = given[name]
        if (weight > most)
          context.addIssue({
            code: 'custom',
            path: ['weights', method],
            message: `must be at most ${most}, which is limits.${name}.burst, because a call above the burst is never granted: lower the weight, or raise the burst`,
          })
      }
  })
  .prefault({})

const toPlaces = (names: readonly string[], place: string): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, place]))

const quotaPlace = 'the limits of the config, because a quota counts calls to all networks'
const quotaPlaces = toPlaces(['perDay', 'perMonth'], quotaPlace)

const ownRate = ({ one, each }: typeof apps, limitsOf: string) =>
  object(
    {
      perSecond: calls().exactOptional().describe(`The rate of ${each}. Default: \`limits.${limitsOf}.perSecond\`.`),
      burst: burst()
        .exactOptional()
        .describe(`How many requests ${one} can send at once. Default: \`limits.${limitsOf}.burst\`.`),
    },
    quotaPlaces,
  )

/** The schema of the `limits` of a network. */
export const networkLimits = object(
  {
    apiKeys: ownRate(apiKeys, 'apiKeys').exactOptional(),
    apps: ownRate(apps, 'apps').exactOptional(),
    weights: weights()
      .exactOptional()
      .describe('How many requests a call counts as, by method. Default: `limits.weights`.'),
  },
  {
    ...boundsPlaces,
    ...quotaPlaces,
    ...toPlaces(['perSecond', 'burst'], 'apps, apiKeys or both'),
    appsPerUser: 'the limits of the config',
  },
)
