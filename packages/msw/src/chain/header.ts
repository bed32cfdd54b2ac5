import type { Hash } from '@keyrail/core'
import type { RpcBlockHeader } from '@keyrail/core/schema'
import { toIntegerBytes, toQuantity, toHex } from '../bytes/hex.ts'
import { keccakHex } from '../bytes/keccak.ts'
import { encodeRlp } from '../bytes/rlp.ts'
import type { Rlp } from '../bytes/rlp.ts'
import { blockGasLimit } from './fees.ts'

/** The variable fields of a header. The others are the same in every block of a mock node. */
export interface Header {
  readonly number: number
  readonly parentHash: Hash
  readonly stateRoot: Hash
  readonly transactionsRoot: Hash
  readonly receiptsRoot: Hash
  readonly bloom: Uint8Array
  readonly gasUsed: number
  readonly blobGasUsed: number
  /** In seconds since 1970. */
  readonly timestamp: number
  /** In wei. */
  readonly baseFee: bigint
  /** On mainnet, the beacon chain's random number. Here, it makes the blocks of two forks differ. */
  readonly mixHash: Hash
}

/** The fee recipient of all blocks. */
export const miner = '0x0000000000000000000000000000000000000000'
const zeroHash = `0x${'00'.repeat(32)}` as const
const noNonce = '0x0000000000000000'
/** keccak256 of an empty list, because there are no uncles. */
const noUncles = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'
/** The root of an empty trie, for blocks without transactions or withdrawals. */
export const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
/** sha256 of empty input, because there are no requests. EIP-7685. */
const noRequests = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** The fields of a header in hashing order, including those of London, Shanghai, Cancun and Prague. */
export function headerParts(header: Header): Rlp[] {
  return [
    header.parentHash,
    noUncles,
    miner,
    header.stateRoot,
    header.transactionsRoot,
    header.receiptsRoot,
    header.bloom,
    '0x',
    toIntegerBytes(header.number),
    toIntegerBytes(blockGasLimit),
    toIntegerBytes(header.gasUsed),
    toIntegerBytes(header.timestamp),
    '0x',
    header.mixHash,
    noNonce,
    toIntegerBytes(header.baseFee),
    emptyRoot,
    toIntegerBytes(header.blobGasUsed),
    '0x',
    zeroHash,
    noRequests,
  ]
}

/** The hash of a block: keccak256 of its header in RLP. */
export function headerHash(header: Header): Hash {
  return keccakHex(encodeRlp(headerParts(header)))
}

/** Formats a header as JSON-RPC does. */
export function wireHeader(header: Header, hash: Hash): RpcBlockHeader {
  return {
    number: toQuantity(header.number),
    hash,
    parentHash: header.parentHash,
    sha3Uncles: noUncles,
    stateRoot: header.stateRoot,
    transactionsRoot: header.transactionsRoot,
    receiptsRoot: header.receiptsRoot,
    logsBloom: toHex(header.bloom),
    miner,
    difficulty: '0x0',
    gasLimit: toQuantity(blockGasLimit),
    gasUsed: toQuantity(header.gasUsed),
    timestamp: toQuantity(header.timestamp),
    extraData: '0x',
    mixHash: header.mixHash,
    nonce: noNonce,
    baseFeePerGas: toQuantity(header.baseFee),
    withdrawalsRoot: emptyRoot,
    blobGasUsed: toQuantity(header.blobGasUsed),
    excessBlobGas: '0x0',
    parentBeaconBlockRoot: zeroHash,
    requestsHash: noRequests,
  }
}
