import { bloomHolds } from './bloomHolds.ts'
import type { RpcBlockWithTransactions, Hex, RpcLog, RpcReceipt } from '@keyrail/core'
import { hexToBigInt, keccak256, parseTransaction, recoverTransactionAddress, toRlp } from 'viem'
import { expect } from 'vitest'
import { fromHex, toHex } from '../src/bytes/hex.ts'
import { orderedRoot } from '../src/chain/orderedRoot.ts'

/** Asks a node for one thing. */
export type Ask = (method: never, ...params: never) => Promise<never>
type AnyAsk = (method: string, ...params: unknown[]) => Promise<never>

const trimmed = (quantity: string): Hex =>
  BigInt(quantity) === 0n ? '0x' : toHex(fromHex(`0x${quantity.slice(2).length % 2 ? '0' : ''}${quantity.slice(2)}`))

/** The hash of a header as another library computes it. */
export function hashOfHeader(block: RpcBlockWithTransactions): Hex {
  return keccak256(
    toRlp([
      block.parentHash,
      block.sha3Uncles,
      block.miner,
      block.stateRoot,
      block.transactionsRoot,
      block.receiptsRoot,
      block.logsBloom,
      trimmed(block.difficulty as Hex),
      trimmed(block.number),
      trimmed(block.gasLimit),
      trimmed(block.gasUsed),
      trimmed(block.timestamp),
      block.extraData,
      block.mixHash,
      block.nonce,
      trimmed(block.baseFeePerGas as Hex),
      block.withdrawalsRoot as Hex,
      trimmed(block.blobGasUsed as Hex),
      trimmed(block.excessBlobGas as Hex),
      block.parentBeaconBlockRoot as Hex,
      block.requestsHash as Hex,
    ]),
  )
}

/**
 * Looks at every block of a chain from outside, and at all that is in them: hashes, roots, blooms, numbers, receipts and logs must fit together.
 *
 * @returns The hashes of the transactions that are in it.
 */
export async function checkChain(given: Ask): Promise<Hex[]> {
  const ask = given as unknown as AnyAsk
  const head = Number(await ask('eth_blockNumber'))
  const found: Hex[] = []
  const allLogs: RpcLog[] = []
  let parent: RpcBlockWithTransactions | undefined
  for (let number = 0; number <= head; number++) {
    const block: RpcBlockWithTransactions = await ask('eth_getBlockByNumber', `0x${number.toString(16)}`, true)
    expect(Number(block.number)).toBe(number)
    expect(block.hash).toBe(hashOfHeader(block))
    expect(await ask('eth_getBlockByHash', block.hash, true)).toEqual(block)
    if (parent !== undefined) {
      expect(block.parentHash).toBe(parent.hash)
      expect(Number(block.timestamp)).toBeGreaterThan(Number(parent.timestamp))
    }
    const receipts: RpcReceipt[] = await ask('eth_getBlockReceipts', block.hash)
    const rawReceipts: Hex[] = await ask('debug_getRawReceipts', block.number as never)
    const logs: RpcLog[] = await ask('eth_getLogs', { blockHash: block.hash })
    expect(receipts).toHaveLength(block.transactions.length)
    expect(receipts.flatMap((receipt) => receipt.logs)).toEqual(logs)
    expect(logs.map(({ logIndex }) => Number(logIndex))).toEqual(logs.map((_, index) => index))
    let gas = 0
    const raws: Uint8Array[] = []
    for (const [index, tx] of block.transactions.entries()) {
      const receipt = receipts[index] as RpcReceipt
      const raw: Hex = await ask('eth_getRawTransactionByHash', tx.hash)
      raws.push(fromHex(raw))
      expect(keccak256(raw)).toBe(tx.hash)
      expect((await recoverTransactionAddress({ serializedTransaction: raw as never })).toLowerCase()).toBe(tx.from)
      expect(parseTransaction(raw).nonce ?? 0).toBe(Number(tx.nonce))
      expect(await ask('eth_getTransactionByHash', tx.hash)).toEqual(tx)
      expect(await ask('eth_getTransactionReceipt', tx.hash)).toEqual(receipt)
      expect(receipt).toMatchObject({
        blockHash: block.hash,
        blockNumber: block.number,
        transactionHash: tx.hash,
        from: tx.from,
      })
      expect(Number(receipt.transactionIndex)).toBe(index)
      gas += Number(receipt.gasUsed)
      expect(Number(receipt.cumulativeGasUsed)).toBe(gas)
      for (const log of receipt.logs) {
        expect(log).toMatchObject({ blockHash: block.hash, transactionHash: tx.hash, removed: false })
        for (const bloom of [block.logsBloom, receipt.logsBloom]) {
          expect([log.address, ...log.topics].every((hex) => bloomHolds(bloom, hex))).toBe(true)
        }
      }
    }
    expect(Number(block.gasUsed)).toBe(gas)
    expect(block.transactionsRoot).toBe(toHex(orderedRoot(raws)))
    expect(block.receiptsRoot).toBe(toHex(orderedRoot(rawReceipts.map(fromHex))))
    if (logs.length === 0) expect(hexToBigInt(block.logsBloom)).toBe(0n)
    found.push(...block.transactions.map(({ hash }) => hash))
    allLogs.push(...logs)
    parent = block
  }
  expect(await ask('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' })).toEqual(allLogs)
  expect(await ask('eth_getBlockByNumber', `0x${(head + 1).toString(16)}`, false)).toBeNull()
  expect(new Set(found).size).toBe(found.length)
  return found
}
