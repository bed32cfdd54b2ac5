import { z } from 'zod'
import { maxWeight as maxMethodWeight, weightedMethods } from '../method/weights.ts'
import { flag, must, text, whole } from './fields.ts'

const maxWeight = 1_000
const weightMessage = `must be a number from 0 to ${maxWeight}`
const positive = () => whole(1, Number.MAX_SAFE_INTEGER)
// The schema of the network checks them, because it can add methods.
const method = () => z.string().meta({ anyOf: [{ enum: weightedMethods }, { pattern: '_' }] })
const methods = () => z.array(method(), must('must be a list of methods, such as ["eth_call"]')).readonly()
const offers = (group: 'debug' | 'trace' | 'txpool') =>
  flag().default(true).describe(`Whether the node offers \`${group}_*\`, if \`services.${group}\` is on.`)

/** How a node is used. The config adds its URL and its headers. */
export const upstreamShape = {
  name: text('must be a name for logs', 64)
    .refine((name) => !name.includes('/'), "must be a name for logs, without a '/'")
    .exactOptional()
    .describe(
      'The name in logs, metrics and the dashboard, unique in its network. Default: the network and the position, such as `mainnet-1`.',
    ),
  group: text('must be the name of a group', 64)
    .exactOptional()
    .describe(
      'Nodes with the same group count as one in [confirmed reads](../service/confirmed-reads.md#independent-nodes). Default: the [vendor](../service/vendors.md), else the host and port of `url`.',
    ),
  weight: z
    .number(must(weightMessage))
    .min(0, weightMessage)
    .max(maxWeight, weightMessage)
    .exactOptional()
    .describe('The share of the load with `"loadBalancing": "spread"`. With 0, the node is a backup. Default: `1`.'),
  maxRequestsPerSecond: positive()
    .exactOptional()
    .describe('The [budget](../service/upstreams.md#budgets) of requests in a second. Default: no limit.'),
  maxRequestsPerDay: positive().exactOptional().describe('The budget of requests on a day (UTC). Default: no limit.'),
  maxUnitsPerSecond: positive()
    .exactOptional()
    .describe('The budget of units in a second: requests multiplied by `weights`. Default: no limit.'),
  maxUnitsPerDay: positive().exactOptional().describe('The budget of units on a day (UTC). Default: no limit.'),
  weights: z
    .record(z.string(), whole(0, maxMethodWeight), must('must be an object with a number of units for each method'))
    .exactOptional()
    .describe(
      'How many units a call of a method uses in the budgets of this node, by name, and `*` for all others, which otherwise use 1. Default: that of the [vendor](../service/vendors.md), else `limits.weights`.',
    ),
  unitPrice: z
    .number(must('must be a number from 0'))
    .min(0, 'must be a number from 0')
    .exactOptional()
    .describe(
      'What a unit costs at this node, for `"loadBalancing": "cost"`: in any currency, the same for all nodes of the network. Default: `1`, and `0` for a node without `weights` and without a budget of a day.',
    ),
  maxLogBlocks: positive()
    .exactOptional()
    .describe(
      'How many blocks of logs the node accepts in one `eth_getLogs`: larger ranges are [read in parts](../service/upstreams.md#large-log-ranges) at once. Default: that of the [vendor](../service/vendors.md), else learned from its errors.',
    ),
  debug: offers('debug'),
  trace: offers('trace'),
  txpool: offers('txpool'),
  allowMethods: methods().exactOptional().describe('The only methods that the node gets. Default: all.'),
  denyMethods: methods().default([]).describe('Methods that the node never gets.'),
  privateTransactions: flag()
    .default(false)
    .describe(
      'Whether the node keeps transactions private. It gets only [private transactions](../service/upstreams.md#private-transactions), and no other node gets them.',
    ),
  earliestState: whole(0, Number.MAX_SAFE_INTEGER).default(0).describe('The first block whose state the node has.'),
  recentStateBlocks: positive()
    .exactOptional()
    .describe(
      'How many of the newest blocks the node has the state of: 128 for a geth that is not an archive node. Default: all.',
    ),
}

/** Request headers for one node, such as its authorization. A secret. */
export type UpstreamHeaders = Readonly<Record<string, string>>

/** One node behind the gateway. */
export interface UpstreamOptions extends Readonly<z.output<z.ZodObject<typeof upstreamShape>>> {
  readonly name: string
  /** http or https. May have a path, a query, a user and a password. A secret: it appears in no response and no log. */
  readonly url: URL
  /** ws or wss. A secret, like `url`. */
  readonly wsUrl: URL | undefined
  /** Secrets, like the URL. */
  readonly headers: UpstreamHeaders
}

/** Gets what a node shares with those that it is not independent of. */
export const getNodeGroup = ({ group }: { readonly group?: string | undefined }, url: URL | string = ''): string =>
  group ?? new URL(url).host
