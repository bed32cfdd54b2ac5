import type { Address, Quantity } from '@keyrail/core'
import type { BlockIdentifier } from '@keyrail/core/schema'
import { lower, toQuantity } from '../bytes/hex.ts'
import type { Block } from '../chain/block.ts'
import { blobFee, blockGasLimit, effectiveGasPrice, nextBaseFee, defaultTip } from '../chain/fees.ts'
import { wireTransaction } from '../chain/wireTransaction.ts'
import { resolveBlockNumber, method } from './method.ts'
import type { Method, NodeView } from './method.ts'
import { serverError, RpcError } from './rpcError.ts'

/** The maximum number of blocks in a fee history. */
const maxBlocks = 1_024

function feeHistory(
  view: NodeView,
  count: Quantity | number,
  newest: BlockIdentifier,
  percentiles: readonly number[] = [],
): unknown {
  const last = resolveBlockNumber(view, newest)
  if (last === undefined) throw serverError('request beyond head block')
  for (const [index, percentile] of percentiles.entries()) {
    if (typeof percentile !== 'number' || percentile < 0 || percentile > 100)
      throw serverError(`invalid reward percentile: ${percentile}`)
    const before = percentiles[index - 1] ?? 0
    if (percentile < before)
      throw serverError(`invalid reward percentile: #${index - 1}:${before} >= #${index}:${percentile}`)
  }
  const first = Math.max(0, last + 1 - Math.min(maxBlocks, Number(count)))
  const blocks = Array.from({ length: last + 1 - first }, (_, index) => view.chain.block(first + index) as Block)
  const { header } = view.chain.block(last) as Block
  const baseFees = [...blocks.map((block) => block.header.baseFee), nextBaseFee(header.baseFee, header.gasUsed)]
  return {
    oldestBlock: toQuantity(first),
    baseFeePerGas: baseFees.map(toQuantity),
    gasUsedRatio: blocks.map((block) => block.header.gasUsed / blockGasLimit),
    baseFeePerBlobGas: baseFees.map(() => toQuantity(blobFee)),
    blobGasUsedRatio: blocks.map((block) => block.header.blobGasUsed / (9 * 131_072)),
    ...(percentiles.length > 0 && {
      reward: blocks.map((block) => percentiles.map((one) => toQuantity(getReward(block, one)))),
    }),
  }
}

/** The priority fee at a percentile of the gas of a block. */
function getReward({ header, executions }: Block, percentile: number): bigint {
  const tips = executions
    .map(({ tx, gasUsed }) => ({ tip: effectiveGasPrice(tx, header.baseFee) - header.baseFee, gasUsed }))
    .sort((one, other) => (one.tip < other.tip ? -1 : 1))
  let gas = 0
  for (const { tip, gasUsed } of tips) {
    gas += gasUsed
    if (gas >= (header.gasUsed * percentile) / 100) return tip
  }
  return tips.at(-1)?.tip ?? 0n
}

const pendingBySender = ({ chain }: NodeView): Map<string, Record<string, unknown>> => {
  const bySender = new Map<string, Record<string, unknown>>()
  for (const tx of chain.pool.all()) {
    const own = bySender.get(tx.from) ?? {}
    own[String(tx.nonce)] = wireTransaction(tx, null)
    bySender.set(tx.from, own)
  }
  return bySender
}

/** The methods for the node, its fees and its transaction pool. */
export const nodeMethods: Readonly<Record<string, Method>> = {
  eth_chainId: method([], ({ claimedChainId }) => toQuantity(claimedChainId)),
  net_version: method([], ({ claimedChainId }) => String(claimedChainId)),
  net_listening: method([], () => true),
  net_peerCount: method([], () => '0x0'),
  web3_clientVersion: method([], () => 'Keyrail/mock'),
  eth_syncing: method([], () => false),
  eth_mining: method([], () => false),
  eth_protocolVersion: method([], () => '0x44'),
  eth_accounts: method([], ({ chain }) => chain.accounts.map(({ address }) => address)),
  eth_gasPrice: method([], ({ chain }) => toQuantity(chain.nextBaseFee() + defaultTip)),
  eth_maxPriorityFeePerGas: method([], () => toQuantity(defaultTip)),
  eth_baseFee: method([], ({ chain }) => toQuantity(chain.nextBaseFee())),
  eth_blobBaseFee: method([], () => toQuantity(blobFee)),
  eth_feeHistory: method<[Quantity, BlockIdentifier, (readonly number[])?]>(
    ['any', 'block', 'any?'],
    (view, count, newest, percentiles) => {
      if (!Number.isSafeInteger(Number(count)))
        throw new RpcError(
          -32_602,
          'invalid argument 0: json: cannot unmarshal invalid hex string into Go value of type math.HexOrDecimal64',
        )
      return feeHistory(view, count, newest, percentiles)
    },
  ),
  eth_pendingTransactions: method([], ({ chain }) => chain.pool.all().map((tx) => wireTransaction(tx, null))),
  txpool_status: method([], ({ chain }) => {
    const ready = chain.pool.peek(chain.read, 0n).length
    return { pending: toQuantity(ready), queued: toQuantity(chain.pool.all().length - ready) }
  }),
  txpool_contentFrom: method<[Address]>(['address'], (view, address) => ({
    pending: pendingBySender(view).get(lower(address)) ?? {},
    queued: {},
  })),
  txpool_content: method([], (view) => ({ pending: Object.fromEntries(pendingBySender(view)), queued: {} })),
}
