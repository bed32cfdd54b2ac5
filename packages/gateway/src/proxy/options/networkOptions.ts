import type { MethodPreset } from '@keyrail/core/internal'
import { z } from 'zod'
import { methodPresets } from '../../lib/methods.ts'
import { confirm } from './confirmOptions.ts'
import { choice, flag, must, whole } from './fields.ts'
import { ownMethods } from './ownMethods.ts'
import type { NetworkBounds } from './bounds.ts'
import type { UpstreamOptions } from './upstreamOptions.ts'
import type { MethodWeights } from '../method/weights.ts'

const loadBalancing = choice(['order', 'spread', 'cost'])
const hedgeMessage = 'must be a whole number from 1 to 60000, or "p95"'

/** How the calls of a network are sent to its nodes. */
export const networkShape = {
  loadBalancing: loadBalancing
    .default('order')
    .describe(
      '`order`: all calls go to the first healthy node. `spread`: a call goes to the node with the lowest load. `cost`: to the cheapest node that is not busy. See [how a node is chosen](../service/upstreams.md#how-a-node-is-chosen).',
    ),
  maxLagBlocks: whole(1, 1_000_000)
    .default(8)
    .describe('How many blocks a node may be behind the highest head of the network.'),
  hedgeMs: z
    .union([z.literal('p95'), z.int().min(1).max(60_000)], { error: hedgeMessage })
    .exactOptional()
    .describe(
      'After how many milliseconds a cheap read is also sent to a second node: see [hedging](../service/upstreams.md#hedging). Default: never.',
    ),
  methods: ownMethods
    .default({})
    .describe(
      'Methods to offer besides those of Ethereum, or to narrow, by name: see [methods](../service/methods.md).',
    ),
  methodPresets: z
    .array(
      choice(methodPresets as [MethodPreset, ...MethodPreset[]]),
      must('must be a list of presets, such as ["erc4337"]'),
    )
    .readonly()
    .exactOptional()
    .describe(
      'The [groups of methods](../service/methods.md#presets) that the network offers too. Default: of the well-known network.',
    ),
  broadcast: z
    .union([z.literal('all'), z.int().min(1).max(100)], { error: 'must be a whole number from 1 to 100, or "all"' })
    .default(1)
    .describe(
      'To how many nodes `eth_sendRawTransaction` is sent at once: see [transactions to several nodes](../service/upstreams.md#transactions-to-several-nodes).',
    ),
  confirm: confirm
    .default([])
    .describe(
      'The reads that several independent nodes must agree on: see [confirmed reads](../service/confirmed-reads.md).',
    ),
  confirmByCallers: flag()
    .default(false)
    .describe(
      'Whether apps and API keys can ask for more [confirmation](../service/confirmed-reads.md#more-for-an-app-or-a-call) than the network requires. It costs more calls at nodes.',
    ),
  splitLogs: flag()
    .default(true)
    .describe(
      'Whether the service reads `eth_getLogs` in parts if a node rejects its range: see [large log ranges](../service/upstreams.md#large-log-ranges).',
    ),
  cache: flag()
    .default(true)
    .describe(
      'Whether final results of the network are stored in the [chain store](../service/chain-store.md), if there is one.',
    ),
  cacheTraces: flag()
    .default(false)
    .describe(
      'Whether traces of final blocks and their transactions are stored there too. They are served for the client and version of the node that sent them: see [traces](../service/chain-store.md#traces).',
    ),
  finalityDepth: whole(1, 1_000_000)
    .exactOptional()
    .describe(
      'How many blocks behind its head a block is final at nodes without the tag `finalized`: see [finality](../chains.md#finality-and-caches). Default: no block of such a node is final.',
    ),
  verifyResults: flag()
    .default(true)
    .describe(
      'Whether the service verifies that blocks, transactions, receipts and logs are those of the call: see [verified results](../service/upstreams.md#verified-results).',
    ),
  checkLogs: flag()
    .default(true)
    .describe(
      'Whether subscriptions verify that the logs of a block are complete: see [subscriptions](../service/subscriptions.md).',
    ),
}

/** How the load of a network is distributed over its nodes. */
export type LoadBalancing = z.output<typeof loadBalancing>

/** One network, with its nodes in the order of preference. */
export interface NetworkOptions extends Readonly<z.output<z.ZodObject<typeof networkShape>>> {
  /** A node that responds to `eth_chainId` with another one is never used. */
  readonly chainId: number
  /** Other names of the network, which its URLs can have too. */
  readonly aliases: readonly string[]
  readonly upstreams: readonly UpstreamOptions[]
  readonly bounds: NetworkBounds
  /** How many requests a call of a method counts as. `undefined`: the weights of the gateway. */
  readonly weights: MethodWeights | undefined
}
