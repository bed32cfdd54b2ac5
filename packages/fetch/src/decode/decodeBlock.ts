import type { Hex } from '@keyrail/core'
import type { Block, PendingBlock, Withdrawal } from './block.ts'
import { decodeOptional } from './decodeOptional.ts'
import { decodeLenient } from './decodeLenient.ts'
import { decodeHex } from './decodeHex.ts'
import { decodeList } from './decodeList.ts'
import { decodeNumber } from './decodeNumber.ts'
import { decodeObject } from './decodeObject.ts'
import { decodeQuantity } from './decodeQuantity.ts'
import { malformed } from './malformed.ts'

const decodeWithdrawal = (value: unknown, path: string): Withdrawal => {
  const withdrawal = decodeObject<keyof Withdrawal>(value, path)
  return {
    ...withdrawal,
    index: decodeNumber(withdrawal.index, `${path}.index`),
    validatorIndex: decodeNumber(withdrawal.validatorIndex, `${path}.validatorIndex`),
    address: decodeHex(withdrawal.address, `${path}.address`, 20),
    amount: decodeQuantity(withdrawal.amount, `${path}.amount`),
  }
}

const decodeHash = (value: unknown, path: string): Hex => decodeHex(value, path, 32)

const decodeHashes = (value: unknown, path: string): Hex[] => decodeList(value, path, decodeHash)

/**
 * Decodes a pending block: fields that are not known yet may be null.
 *
 * @param value - The value that the node sent.
 * @param decode - Decodes an entry of `transactions`. @default checks that it is a hash
 * @throws {KeyrailError} kind `badResponse`, with the name of the malformed or missing field.
 * @example
 * const wire = await client.eth_getBlockByNumber('pending', false)
 * const gasUsed = wire && decodePendingBlock(wire).gasUsed
 */
export function decodePendingBlock(value: unknown): PendingBlock
export function decodePendingBlock<T>(
  value: unknown,
  decode: (transaction: unknown, path: string) => T,
): PendingBlock<T>
export function decodePendingBlock(
  value: unknown,
  decode: (transaction: unknown, path: string) => unknown = decodeHash,
): PendingBlock<unknown> {
  const block = decodeObject<keyof Block>(value, 'block')
  const quantity = (name: keyof Block): bigint => decodeQuantity(block[name], `block.${name}`)
  const lenient = <T>(
    name: keyof Block,
    decodeField: (value: unknown, path: string, bytes?: number) => T,
    bytes?: number,
  ): T | undefined => decodeLenient(block[name], `block.${name}`, decodeField, bytes)
  return {
    ...block,
    hash: decodeOptional(block.hash, 'block.hash', decodeHash) ?? null,
    number: decodeOptional(block.number, 'block.number', decodeQuantity) ?? null,
    parentHash: decodeHash(block.parentHash, 'block.parentHash'),
    timestamp: quantity('timestamp'),
    miner: decodeOptional(block.miner, 'block.miner', decodeHex, 20) ?? null,
    gasLimit: decodeOptional(block.gasLimit, 'block.gasLimit', decodeQuantity),
    gasUsed: quantity('gasUsed'),
    baseFeePerGas: decodeOptional(block.baseFeePerGas, 'block.baseFeePerGas', decodeQuantity),
    blobGasUsed: decodeOptional(block.blobGasUsed, 'block.blobGasUsed', decodeQuantity),
    excessBlobGas: decodeOptional(block.excessBlobGas, 'block.excessBlobGas', decodeQuantity),
    difficulty: lenient('difficulty', decodeQuantity),
    totalDifficulty: lenient('totalDifficulty', decodeQuantity),
    size: lenient('size', decodeNumber),
    extraData: lenient('extraData', decodeHex),
    mixHash: lenient('mixHash', decodeHash),
    nonce: lenient('nonce', decodeHex, 8) ?? null,
    logsBloom: lenient('logsBloom', decodeHex, 256) ?? null,
    sha3Uncles: lenient('sha3Uncles', decodeHash),
    stateRoot: lenient('stateRoot', decodeHash),
    transactionsRoot: lenient('transactionsRoot', decodeHash),
    receiptsRoot: lenient('receiptsRoot', decodeHash),
    withdrawalsRoot: lenient('withdrawalsRoot', decodeHash),
    parentBeaconBlockRoot: lenient('parentBeaconBlockRoot', decodeHash),
    requestsHash: lenient('requestsHash', decodeHash),
    blockAccessListHash: lenient('blockAccessListHash', decodeHash),
    slotNumber: lenient('slotNumber', decodeQuantity),
    uncles: lenient('uncles', decodeHashes) ?? [],
    withdrawals: decodeOptional(block.withdrawals, 'block.withdrawals', (list, path) =>
      decodeList(list, path, decodeWithdrawal),
    ),
    transactions: decodeList(block.transactions, 'block.transactions', decode),
  }
}

/**
 * Decodes a mined block.
 *
 * @param value - The value that the node sent.
 * @param decode - Decodes an entry of `transactions`, for example with `decodeTransaction`. @default checks that it is a hash
 * @throws {KeyrailError} kind `badResponse`, with the name of the malformed or missing field.
 * @example
 * const wire = await client.eth_getBlockByNumber('latest', true)
 * const block = wire && decodeBlock(wire, decodeTransaction)
 * @see execution-apis, schema `Block`
 */
export function decodeBlock(value: unknown): Block
export function decodeBlock<T>(value: unknown, decode: (transaction: unknown, path: string) => T): Block<T>
export function decodeBlock(
  value: unknown,
  decode: (transaction: unknown, path: string) => unknown = decodeHash,
): Block<unknown> {
  const block = decodePendingBlock(value, decode)
  const { hash, number, miner, nonce, logsBloom } = block
  for (const [name, field] of Object.entries({ hash, number, miner }))
    if (field === null) throw malformed(`block.${name}`, 'given')
  return { ...block, nonce: nonce ?? undefined, logsBloom: logsBloom ?? undefined } as Block<unknown>
}
