import type { Hash, Quantity } from '@keyrail/core'
import type { BlockIdentifier, Bytes } from '@keyrail/core/schema'
import { fromHex, lower, toQuantity, toHex } from '../bytes/hex.ts'
import { keccakHex } from '../bytes/keccak.ts'
import { encodeRlp } from '../bytes/rlp.ts'
import { encodeBlock, encodeReceipt, wireBlock, wireReceipt } from '../chain/block.ts'
import type { Block } from '../chain/block.ts'
import { blockGasLimit, gasPerBlob } from '../chain/fees.ts'
import { emptyRoot, headerParts, wireHeader } from '../chain/header.ts'
import { wireTransaction } from '../chain/wireTransaction.ts'
import { resolveBlock, getHead, method } from './method.ts'
import type { Method, NodeView } from './method.ts'

/** The block that the pending transactions would form, as far as is known without running them. */
function pendingBlock({ chain }: NodeView, hydrated: boolean): unknown {
  const parent = chain.block(chain.height()) as Block
  const baseFee = chain.nextBaseFee()
  const transactions = chain.pool.peek(chain.read, baseFee)
  const header = wireHeader(
    {
      ...parent.header,
      number: parent.number + 1,
      parentHash: parent.hash,
      transactionsRoot: emptyRoot,
      receiptsRoot: emptyRoot,
      bloom: new Uint8Array(256),
      gasUsed: Math.min(
        blockGasLimit,
        transactions.reduce((sum, { gas }) => sum + gas, 0),
      ),
      blobGasUsed: transactions.reduce((sum, { blobHashes }) => sum + gasPerBlob * blobHashes.length, 0),
      timestamp: chain.nextTimestamp(),
      baseFee,
    },
    emptyRoot,
  )
  return {
    ...header,
    hash: null,
    nonce: null,
    miner: null,
    logsBloom: null,
    size: '0x0',
    uncles: [],
    withdrawals: [],
    transactions: transactions.map((tx) => (hydrated ? wireTransaction(tx, null) : tx.hash)),
  }
}

const findMined = (view: NodeView, hash: Hash): { readonly block: Block; readonly index: number } | undefined => {
  const place = view.chain.find(lower(hash))
  return place !== undefined && place.block.number <= getHead(view) ? place : undefined
}
const findTransaction = (view: NodeView, hash: Hash): unknown => {
  const place = findMined(view, hash)
  if (place !== undefined) return wireTransaction(place.block.executions[place.index]!.tx, place)
  const pending = view.chain.pool.get(lower(hash))
  return pending === undefined ? null : wireTransaction(pending, null)
}
const formatAt = (block: Block | undefined, index: Quantity): unknown => {
  const found = block?.executions[Number(index)]
  return block === undefined || found === undefined ? null : wireTransaction(found.tx, { block, index: Number(index) })
}
const getRaw = (block: Block | undefined, index: Quantity): Bytes | null => {
  const tx = block?.executions[Number(index)]?.tx
  return tx === undefined ? null : toHex(tx.raw)
}
const byBlock = <T>(handle: (block: Block) => T) =>
  method<[BlockIdentifier]>(['block'], (view, block) => {
    const found = resolveBlock(view, block)
    return found === undefined ? null : handle(found)
  })
const count = byBlock((block) => toQuantity(block.executions.length))
const zero = byBlock(() => '0x0')

/** The methods for blocks, transactions and receipts. */
export const chainMethods: Readonly<Record<string, Method>> = {
  eth_blockNumber: method([], (view) => toQuantity(getHead(view))),
  eth_getBlockByNumber: method<[BlockIdentifier, boolean]>(['block', 'boolean'], (view, block, hydrated) => {
    if (block === 'pending') return pendingBlock(view, hydrated)
    const found = resolveBlock(view, block)
    return found === undefined ? null : wireBlock(found, hydrated)
  }),
  eth_getBlockByHash: method<[Hash, boolean]>(['hash', 'boolean'], (view, hash, hydrated) => {
    const found = resolveBlock(view, hash)
    return found === undefined ? null : wireBlock(found, hydrated)
  }),
  eth_getHeaderByNumber: byBlock((block) => wireHeader(block.header, block.hash)),
  eth_getHeaderByHash: byBlock((block) => wireHeader(block.header, block.hash)),
  eth_getBlockReceipts: byBlock((block) => block.executions.map((_, index) => wireReceipt(block, index))),
  eth_getBlockTransactionCountByNumber: count,
  eth_getBlockTransactionCountByHash: count,
  eth_getUncleCountByBlockNumber: zero,
  eth_getUncleCountByBlockHash: zero,
  eth_getUncleByBlockNumberAndIndex: method(['block', 'quantity'], () => null),
  eth_getUncleByBlockHashAndIndex: method(['hash', 'quantity'], () => null),
  eth_getTransactionByHash: method<[Hash]>(['hash'], findTransaction),
  eth_getTransactionByBlockHashAndIndex: method<[Hash, Quantity]>(['hash', 'quantity'], (view, hash, index) =>
    formatAt(resolveBlock(view, hash), index),
  ),
  eth_getTransactionByBlockNumberAndIndex: method<[BlockIdentifier, Quantity]>(
    ['block', 'quantity'],
    (view, block, index) => formatAt(resolveBlock(view, block), index),
  ),
  eth_getRawTransactionByHash: method<[Hash]>(['hash'], (view, hash) => {
    const place = findMined(view, hash)
    const tx = place?.block.executions[place.index]?.tx ?? view.chain.pool.get(lower(hash))
    return tx === undefined ? null : toHex(tx.raw)
  }),
  eth_getRawTransactionByBlockHashAndIndex: method<[Hash, Quantity]>(['hash', 'quantity'], (view, hash, index) =>
    getRaw(resolveBlock(view, hash), index),
  ),
  eth_getRawTransactionByBlockNumberAndIndex: method<[BlockIdentifier, Quantity]>(
    ['block', 'quantity'],
    (view, block, index) => getRaw(resolveBlock(view, block), index),
  ),
  eth_getTransactionReceipt: method<[Hash]>(['hash'], (view, hash) => {
    const place = findMined(view, hash)
    return place === undefined ? null : wireReceipt(place.block, place.index)
  }),
  debug_getRawHeader: byBlock((block) => toHex(encodeRlp(headerParts(block.header)))),
  debug_getRawBlock: byBlock((block) => toHex(encodeBlock(block))),
  debug_getRawReceipts: byBlock((block) => block.executions.map((one) => toHex(encodeReceipt(one)))),
  debug_getRawTransaction: method<[Hash]>(['hash'], (view, hash) => {
    const place = findMined(view, hash)
    return toHex(place?.block.executions[place.index]?.tx.raw ?? new Uint8Array(0))
  }),
  web3_sha3: method<[Bytes]>(['bytes'], (_, data) => keccakHex(fromHex(data))),
}
