import { bloomContains } from './bloomContains.ts'
import type { Hex, RpcLog, RpcReceipt } from '@keyrail/core'
import type { RpcBlockWithTransactions } from '@keyrail/core/schema'
import { hexToBigInt, keccak256, parseTransaction, recoverTransactionAddress, toRlp } from 'viem'
import { expect } from 'vitest'
import { fromHex, toHex } from '../src/bytes/hex.ts'
import { orderedRoot } from '../src/chain/orderedRoot.ts'

/** Calls a method of a node. */
export type SendRequest = (method: never, ...params: never) => Promise<never>
type AnyRequest = (method: string, ...params: unknown[]) => Promise<never>

const trimmed = (quantity: string): Hex =>
  BigInt(quantity) === 0n ? '0x' : toHex(fromHex(`0x${quantity.slice(2).length % 2 ? '0' : ''}${quantity.slice(2)}`))

/** Computes the hash of a header with viem. */
export function hashHeader(block: RpcBlockWithTransactions): Hex {
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
 * Checks through RPC that every block of a chain is consistent: hashes, roots, blooms, numbers, receipts and logs.
 *
 * @returns The hashes of the mined transactions.
 */
export async function checkChain(given: SendRequest): Promise<Hex[]> {
  const request = given as unknown as AnyRequest
  const head = Number(await request('eth_blockNumber'))
  const found: Hex[] = []
  const allLogs: RpcLog[] = []
  let parent: RpcBlockWithTransactions | undefined
  for (let number = 0; number <= head; number++) {
    const block: RpcBlockWithTransactions = await request('eth_getBlockByNumber', `0x${number.toString(16)}`, true)
    expect(Number(block.number)).toBe(number)
    expect(block.hash).toBe(hashHeader(block))
    expect(await request('eth_getBlockByHash', block.hash, true)).toEqual(block)
    if (parent !== undefined) {
      expect(block.parentHash).toBe(parent.hash)
      expect(Number(block.timestamp)).toBeGreaterThan(Number(parent.timestamp))
    }
    const receipts: RpcReceipt[] = await request('eth_getBlockReceipts', block.hash)
    const rawReceipts: Hex[] = await request('debug_getRawReceipts', block.number as never)
    const logs: RpcLog[] = await request('eth_getLogs', { blockHash: block.hash })
    expect(receipts).toHaveLength(block.transactions.length)
    expect(receipts.flatMap((receipt) => receipt.logs)).toEqual(logs)
    expect(logs.map(({ logIndex }) => Number(logIndex))).toEqual(logs.map((_, index) => index))
    let gas = 0
    const raws: Uint8Array[] = []
    for (const [index, tx] of block.transactions.entries()) {
      const receipt = receipts[index] as RpcReceipt
      const raw: Hex = await request('eth_getRawTransactionByHash', tx.hash)
      raws.push(fromHex(raw))
      expect(keccak256(raw)).toBe(tx.hash)
      expect((await recoverTransactionAddress({ serializedTransaction: raw as never })).toLowerCase()).toBe(tx.from)
      expect(parseTransaction(raw).nonce ?? 0).toBe(Number(tx.nonce))
      expect(await request('eth_getTransactionByHash', tx.hash)).toEqual(tx)
      expect(await request('eth_getTransactionReceipt', tx.hash)).toEqual(receipt)
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
          expect([log.address, ...log.topics].every((hex) => bloomContains(bloom, hex))).toBe(true)
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
  expect(await request('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest' })).toEqual(allLogs)
  expect(await request('eth_getBlockByNumber', `0x${(head + 1).toString(16)}`, false)).toBeNull()
  expect(new Set(found).size).toBe(found.length)
  return found
}
