import { z } from 'zod'
import { isNetworkName, networkNameRule } from '../lib/network.ts'
import { findRepeated, maxUpstreamWeight } from '../proxy/checkUpstreamOptions.ts'
import { findHeadersFault, isHeaderValue } from '../proxy/upstream/upstreamHeaders.ts'
import { networkBounds, networkLimits } from './limitsConfig.ts'
import { flag, httpUrl, methodName, must, object, choice, path, text, whole, wsUrl } from './configSchema.ts'

/** Request headers. Names, file paths and values are checked together, because the path of an issue would repeat a name that may be a secret. */
export const headers = z
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

const countDefined = (...values: readonly unknown[]): number => values.filter((value) => value !== undefined).length

const maxCount = Number.MAX_SAFE_INTEGER
const methods = () => z.array(methodName(), must('must be a list of methods, such as ["eth_call"]')).readonly()
const upstreamsMessage = 'must be a list of at least one node, such as [{ "url": "http://127.0.0.1:8545" }]'

/** One node of a network. Exactly one of `url`, `urlEnv` and `urlFile` is set, and at most one of `wsUrl`, `wsUrlEnv` and `wsUrlFile`. */
const upstream = object({
  /** http or https; may have a path, a query, a user and a password. A secret. */
  url: httpUrl('must be the http or https URL of a node').exactOptional(),
  /** The name of an environment variable that holds the URL. */
  urlEnv: text('must be the name of an environment variable that holds the URL').exactOptional(),
  /** The path of a file that holds the URL. */
  urlFile: path('a file that holds the URL').exactOptional(),
  /** ws or wss: subscriptions then learn of new blocks and pending transactions at once. A secret, like `url`. @default none: the node is polled */
  wsUrl: wsUrl('must be the ws or wss URL of a node').exactOptional(),
  /** The name of an environment variable that holds the WebSocket URL. */
  wsUrlEnv: text('must be the name of an environment variable that holds the WebSocket URL').exactOptional(),
  /** The path of a file that holds the WebSocket URL. */
  wsUrlFile: path('a file that holds the WebSocket URL').exactOptional(),
  /** The upstream's name in logs and metrics, unique in its network. @default the network and its position, as in `testnet-1` */
  name: text('must be a name for logs', 64)
    .refine((name) => !name.includes('/'), "must be a name for logs, without a '/'")
    .exactOptional(),
  /** Request headers for this node, also for its WebSocket: a text, or `{ "file": PATH }` for a file that holds it. Secrets. @default none */
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
})
  .refine(
    ({ url, urlEnv, urlFile }) => countDefined(url, urlEnv, urlFile) === 1,
    'must have exactly one of url, urlEnv and urlFile',
  )
  .refine(
    (given) => countDefined(given.wsUrl, given.wsUrlEnv, given.wsUrlFile) <= 1,
    'must have at most one of wsUrl, wsUrlEnv and wsUrlFile',
  )

const hedgeMessage = 'must be a whole number from 1 to 60000, or "p95"'

/** The name of a network or of a chain. */
export const networkName = () => z.string(must(networkNameRule)).refine(isNetworkName, networkNameRule)

const network = object({
  /** The chain that it is a network of, for example `ethereum`. @default that of the well-known network of this name or chain id, or else the network's name */
  chain: networkName().exactOptional(),
  /** @default that of the well-known network, or else the network's name */
  title: text('must be a title such as "Base Sepolia"', 64).exactOptional(),
  /** The chain id that every node must have. A node with another one is never used. Required unless the name is that of a well-known network. */
  chainId: whole(1, Number.MAX_SAFE_INTEGER).exactOptional(),
  /** The symbol of its coin. @default that of the well-known network, or else ETH */
  symbol: text('must be the symbol of its coin, such as "ETH"', 16).exactOptional(),
  /** Whether its coin has no value. @default as in the well-known network, or else whether its name is `testnet` or ends in `-testnet` */
  testnet: flag().exactOptional(),
  /** Other names, which its URLs can have too. @default those of the well-known network, as far as no other network has them */
  aliases: z.array(networkName(), must('must be a list of names')).readonly().exactOptional(),
  /** The URL of a block explorer. @default that of the well-known network */
  explorerUrl: httpUrl('must be the http or https URL of a block explorer').exactOptional(),
  /** In order of preference. */
  upstreams: z.array(upstream, must(upstreamsMessage)).min(1, upstreamsMessage).readonly(),
  /** Which node gets a call: the first healthy one, or the one with the lowest load. @default 'order' */
  loadBalancing: choice(['order', 'spread']).exactOptional(),
  /** How many blocks a node may be behind the highest of the others. @default 8 */
  maxLagBlocks: whole(1, 1_000_000).exactOptional(),
  /**
   * A cheap read without a response after this many milliseconds is also sent to a second node. `"p95"`: after the 95th percentile of the
   * node's own latency. @default never
   */
  hedgeMs: z.union([z.literal('p95'), z.int().min(1).max(60_000)], { error: hedgeMessage }).exactOptional(),
  /** Whether `eth_getLogs` is read in parts if a node rejects its range. @default true */
  splitLogs: flag().exactOptional(),
  /** Whether subscriptions check that a node's logs of a block are complete, by its bloom filter or its receipts. @default true */
  checkLogs: flag().exactOptional(),
  /** Rates and weights of this network. @default those of the config's `limits`, for each that is left out */
  limits: networkLimits.exactOptional(),
  /** Size and time limits of requests to this network. @default those of the config's `bounds`, for each that is left out */
  bounds: networkBounds.exactOptional(),
})

/** The schema of `networks`. */
export const networks = z
  .record(networkName(), network, must('must be an object with a network for each name'))
  .refine((given) => Object.keys(given).length > 0, 'must have at least one network')
  .superRefine((given, context) => {
    for (const [name, { upstreams, loadBalancing = 'order' }] of Object.entries(given)) {
      const repeated = findRepeated(upstreams.map((one, index) => one.name ?? `${name}-${index + 1}`))
      if (repeated !== undefined)
        context.addIssue({
          code: 'custom',
          path: [name, 'upstreams', repeated, 'name'],
          message: 'is the name of another upstream of this network: use a different one',
        })
      for (const [index, { weight }] of upstreams.entries())
        if (weight !== undefined && loadBalancing === 'order')
          context.addIssue({
            code: 'custom',
            path: [name, 'upstreams', index, 'weight'],
            message: `only works with "loadBalancing": "spread": add that to networks.${name}, or remove the weight`,
          })
    }
  })
