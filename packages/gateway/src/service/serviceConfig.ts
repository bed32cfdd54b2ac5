import { z } from 'zod'
import { readIpRule } from '../allow/ipRule.ts'

const daysLong = 3_650
const dayMs = 24 * 60 * 60 * 1_000
const mostCalls = 1_000_000_000

/** What is said of a value that is not there, or is not what it must be. */
const must = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }): string => (input === undefined ? `is missing: ${what}` : what),
})

const whole = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`
  return z.number(must(message)).int(message).min(min, message).max(max, message)
}
const calls = () => {
  const message = `must be a whole number from 1 to ${mostCalls}, or null for no limit`
  return z.number(must(message)).int(message).min(1, message).max(mostCalls, message).nullable()
}
const text = (what: string, max = 200) =>
  z.string(must(what)).trim().min(1, what).max(max, `must have at most ${max} characters`)
const onOff = () => z.boolean(must('must be true or false'))
const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, must(`must be ${values.map((value) => `"${value}"`).join(' or ')}`))
const object = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `has a name that is not known; known are ${Object.keys(shape).join(', ')}`
        : `must be an object with ${Object.keys(shape).join(', ')}`,
  })

const webUrl = (what: string) => z.string(must(what)).refine((given) => isWebUrl(given), what)
const isWebUrl = (given: string): boolean => /^https?:$/.test(URL.parse(given)?.protocol ?? '')
const publicUrl = webUrl('must be the http or https URL at which callers reach the service').refine((given) => {
  const url = URL.parse(given)
  return url !== null && `${url.search}${url.hash}${url.username}${url.password}` === ''
}, 'must have no query, no fragment and no credentials')

const host = () => text('must be an interface to listen on, such as "127.0.0.1" or "0.0.0.0"')
const port = (min = 0) => whole(min, 65_535)
const listen = object({ host: host().default('127.0.0.1'), port: port() })

const upstream = object({
  url: webUrl('must be the http or https URL of a node').exactOptional(),
  urlEnv: text('must be the name of an environment variable that holds the URL').exactOptional(),
  urlFile: text('must be the path of a file that holds the URL', 4_096).exactOptional(),
  name: text('must be a name for logs', 64)
    .refine((name) => !name.includes('/'), "must be a name for logs, without a '/'")
    .exactOptional(),
}).refine(
  ({ url, urlEnv, urlFile }) => [url, urlEnv, urlFile].filter((one) => one !== undefined).length === 1,
  'must have one of url, urlEnv and urlFile',
)

const network = object({
  chainId: whole(1, Number.MAX_SAFE_INTEGER),
  upstreams: z
    .array(upstream, must('must be a list of at least one node, as in [{ "url": "http://127.0.0.1:8545" }]'))
    .min(1, 'must be a list of at least one node, as in [{ "url": "http://127.0.0.1:8545" }]')
    .readonly(),
  maxLagBlocks: whole(1, 1_000_000).exactOptional(),
  hedgeMs: whole(1, 60_000).exactOptional(),
})

const keyLimits = { perSecond: calls(), burst: whole(1, 100_000), perDay: calls(), perMonth: calls() }

/** The config file: every member, what it may be, and what it is where it is left out. */
export const serviceConfigSchema = object({
  $schema: z.string().exactOptional(),
  publicUrl,
  listen: listen.prefault({ port: 8080 }),
  tls: object({
    certFile: text('must be the path of a certificate chain in PEM', 4_096),
    keyFile: text('must be the path of its private key in PEM', 4_096),
  }).exactOptional(),
  control: object({ publicUrl, listen }).exactOptional(),
  prometheus: object({ host: host().default('127.0.0.1'), port: port() }).exactOptional(),
  storage: object({ file: text('must be the path of the SQLite file', 4_096) }).exactOptional(),
  dashboard: object({ folder: text('must be the path of the folder with the built pages', 4_096) }).exactOptional(),
  trustedProxies: z
    .array(
      text('must be an IP address or a range, such as "10.0.0.0/8"').superRefine((given, context) => {
        const read = readIpRule(given)
        if ('mend' in read) context.addIssue({ code: 'custom', message: read.mend })
      }),
      must('must be a list of IP addresses and ranges'),
    )
    .readonly()
    .default([]),
  signUp: oneOf(['open', 'invite', 'closed']).default('closed'),
  reveal: oneOf(['onDemand', 'never']).default('onDemand'),
  chain: object({
    name: text('must be the name of the chain, such as "Ethereum"', 64),
    symbol: text('must be the symbol of its coin, such as "ETH"', 16),
    aliases: z
      .array(text('must be another name of the chain', 64), must('must be a list of names'))
      .readonly()
      .default([]),
  }),
  networks: object({ testnet: network, mainnet: network }),
  services: object({ debug: onOff().default(false), trace: onOff().default(false) }).prefault({}),
  limits: object({
    apiKeys: object({
      perSecond: keyLimits.perSecond.default(null),
      burst: keyLimits.burst.default(1_000),
      perDay: keyLimits.perDay.default(25_000),
      perMonth: keyLimits.perMonth.default(null),
    }).prefault({}),
    apps: object({
      perSecond: keyLimits.perSecond.default(100),
      burst: keyLimits.burst.default(1_000),
      perDay: keyLimits.perDay.default(100_000),
      perMonth: keyLimits.perMonth.default(3_000_000),
    }).prefault({}),
    appsPerUser: whole(1, 10_000).default(20),
  }).prefault({}),
  bounds: object({
    maxBodyBytes: whole(1, 268_435_456).exactOptional(),
    maxBatchItems: whole(1, 100_000).exactOptional(),
    maxAnswerBytes: whole(1, 268_435_456).exactOptional(),
    upstreamTimeoutMs: whole(1, 2_147_483_647).exactOptional(),
    headersTimeoutMs: whole(1, 2_147_483_647).exactOptional(),
    requestTimeoutMs: whole(1, 2_147_483_647).exactOptional(),
    writeTimeoutMs: whole(1, 2_147_483_647).exactOptional(),
    maxConnections: whole(1, 1_000_000).exactOptional(),
    maxCacheBytes: whole(0, 268_435_456).exactOptional(),
    maxFilters: whole(1, 100_000).exactOptional(),
  }).prefault({}),
  quotaStatus: z.literal([403, 429], must('must be 403 or 429')).default(403),
  outageGrant: whole(0, 1_000_000).default(500),
  staleKeysForMs: whole(0, dayMs).default(600_000),
  retention: object({
    minutesDays: whole(1, daysLong).default(8),
    hoursDays: whole(1, daysLong).default(90),
    daysDays: whole(1, daysLong).default(730),
  }).prefault({}),
  logRequests: onOff().default(true),
})

/** How a service is configured, every default filled in. Made by `parseServiceConfig`, or from a file by `readServiceConfig`. */
export type ServiceConfig = z.output<typeof serviceConfigSchema>

/** What may stand in a config file. */
export type ServiceConfigInput = z.input<typeof serviceConfigSchema>
