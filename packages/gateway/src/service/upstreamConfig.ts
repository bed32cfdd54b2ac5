import { z } from 'zod'
import { findRepeated, maxUpstreamWeight } from '../proxy/checkUpstreamOptions.ts'
import { findHeadersFault, isHeaderValue } from '../proxy/upstream/upstreamHeaders.ts'
import { flag, httpUrl, methodName, must, object, oneOf, path, text, whole } from './configSchema.ts'

/** Names, file paths and values are checked together, because the path of an issue would repeat a name that may be a secret. */
const headers = z
  .record(
    z.string(),
    z.union([z.string(), z.strictObject({ file: z.string() })], {
      error: 'must have a text or { "file": PATH } for each header',
    }),
    must('must be an object of request headers, such as { "x-api-key": { "file": "node-key" } }'),
  )
  .superRefine((given, context) => {
    const fault = findHeadersFault(given, (value) => typeof value === 'object' || isHeaderValue(value))
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault })
  })

const maxCount = Number.MAX_SAFE_INTEGER
const methods = () => z.array(methodName(), must('must be a list of methods, such as ["eth_call"]')).readonly()
const upstreamsMessage = 'must be a list of at least one node, such as [{ "url": "http://127.0.0.1:8545" }]'

/** One node of a network. Exactly one of `url`, `urlEnv` and `urlFile` is set. */
const upstream = object({
  /** http or https; may have a path, a query, a user and a password. A secret. */
  url: httpUrl('must be the http or https URL of a node').exactOptional(),
  /** The name of an environment variable that holds the URL. */
  urlEnv: text('must be the name of an environment variable that holds the URL').exactOptional(),
  /** The path of a file that holds the URL. */
  urlFile: path('a file that holds the URL').exactOptional(),
  /** The upstream's name in logs and metrics, unique in its network. @default the network and its position, as in `testnet-1` */
  name: text('must be a name for logs', 64)
    .refine((name) => !name.includes('/'), "must be a name for logs, without a '/'")
    .exactOptional(),
  /** Request headers for this node: a text, or `{ "file": PATH }` for a file that holds it. Secrets. @default none */
  headers: headers.exactOptional(),
  /** Its share of the load, for `"loadBalancing": "spread"`. 0: only if no other node is healthy. @default 1 */
  weight: z
    .number(must(`must be a number from 0 to ${maxUpstreamWeight}`))
    .min(0, `must be a number from 0 to ${maxUpstreamWeight}`)
    .max(maxUpstreamWeight, `must be a number from 0 to ${maxUpstreamWeight}`)
    .exactOptional(),
  /** Most requests to this node in a second, from this instance. @default no limit */
  maxRequestsPerSecond: whole(1, maxCount).exactOptional(),
  /** The same for a day (UTC). @default no limit */
  maxRequestsPerDay: whole(1, maxCount).exactOptional(),
  /** Most units in a second: requests multiplied by `limits.weights`. @default no limit */
  maxUnitsPerSecond: whole(1, maxCount).exactOptional(),
  /** The same for a day (UTC). @default no limit */
  maxUnitsPerDay: whole(1, maxCount).exactOptional(),
  /** Whether it offers `debug_` methods, if `services.debug` is on. @default true */
  debug: flag().exactOptional(),
  /** Whether it offers `trace_` methods, if `services.trace` is on. @default true */
  trace: flag().exactOptional(),
  /** Whether it offers `txpool_` methods, if `services.txpool` is on. @default true */
  txpool: flag().exactOptional(),
  /** The only methods that it gets. @default all */
  allowMethods: methods().exactOptional(),
  /** Methods that it never gets. @default none */
  denyMethods: methods().exactOptional(),
  /** The first block whose state it has. @default 0 */
  earliestState: whole(0, maxCount).exactOptional(),
  /** How many of the newest blocks it has the state of. @default all */
  recentStateBlocks: whole(1, maxCount).exactOptional(),
}).refine(
  ({ url, urlEnv, urlFile }) => [url, urlEnv, urlFile].filter((one) => one !== undefined).length === 1,
  'must have exactly one of url, urlEnv and urlFile',
)

const hedgeMessage = 'must be a whole number from 1 to 60000, or "p95"'

const network = (name: string) =>
  object({
    /** The chain id that every node must have. A node with another one is never used. */
    chainId: whole(1, Number.MAX_SAFE_INTEGER),
    /** In order of preference. */
    upstreams: z.array(upstream, must(upstreamsMessage)).min(1, upstreamsMessage).readonly(),
    /** Which node gets a call: the first healthy one, or the one with the lowest load. @default 'order' */
    loadBalancing: oneOf(['order', 'spread']).exactOptional(),
    /** How many blocks a node may be behind the highest of the others. @default 8 */
    maxLagBlocks: whole(1, 1_000_000).exactOptional(),
    /**
     * A cheap read without a response after this many milliseconds is also sent to a second node. `"p95"`: after the 95th percentile of the
     * node's own latency. @default never
     */
    hedgeMs: z.union([z.literal('p95'), z.int().min(1).max(60_000)], { error: hedgeMessage }).exactOptional(),
  }).superRefine(({ upstreams, loadBalancing = 'order' }, context) => {
    const repeated = findRepeated(upstreams.map((one, index) => one.name ?? `${name}-${index + 1}`))
    if (repeated !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['upstreams', repeated, 'name'],
        message: 'is the name of another upstream of this network: use a different one',
      })
    for (const [index, { weight }] of upstreams.entries())
      if (weight !== undefined && loadBalancing === 'order')
        context.addIssue({
          code: 'custom',
          path: ['upstreams', index, 'weight'],
          message: `only works with "loadBalancing": "spread": add that to networks.${name}, or remove the weight`,
        })
  })

/** The schema of `networks`. */
export const networks = object({ testnet: network('testnet'), mainnet: network('mainnet') })
