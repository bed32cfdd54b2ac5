import type { Hash, Hex } from '@keyrail/core'
import type { AccessList, Authorization } from '@keyrail/core/schema'
import { fromHex, toQuantity, toHex, toInteger } from '../bytes/hex.ts'
import { keccakHex } from '../bytes/keccak.ts'
import { decodeRlp } from '../bytes/rlp.ts'
import type { Rlp } from '../bytes/rlp.ts'
import { recoverAddress } from '../bytes/signature.ts'
import { envelope, signingHash } from './encodeTransaction.ts'
import type { PooledTransaction, TransactionFields } from './transaction.ts'

const counts = [9, 11, 12, 14, 13] as const

function list(value: Rlp | undefined): readonly Rlp[] {
  if (!Array.isArray(value)) throw new Error('rlp: expected List')
  return value
}

function data(value: Rlp | undefined): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new Error('rlp: expected String or Byte')
  return value
}

function integer(value: Rlp | undefined): bigint {
  const bytes = data(value)
  if (bytes[0] === 0) throw new Error('rlp: non-canonical integer (leading zero bytes)')
  if (bytes.length > 32) throw new Error('rlp: input string too long for uint256')
  return toInteger(bytes)
}

function small(value: Rlp | undefined): number {
  const number = integer(value)
  if (number > BigInt(Number.MAX_SAFE_INTEGER)) throw new Error('rlp: input string too long for uint64')
  return Number(number)
}

function sized(value: Rlp | undefined, length: number): Hex {
  const bytes = data(value)
  if (bytes.length !== length) throw new Error(`rlp: input string has the wrong size, want ${length} bytes`)
  return toHex(bytes)
}

const decodeAccessList = (value: Rlp | undefined): AccessList =>
  list(value).map((entry) => {
    const [address, keys] = list(entry)
    return { address: sized(address, 20), storageKeys: list(keys).map((key) => sized(key, 32)) }
  })

const decodeAuthorizations = (value: Rlp | undefined): Authorization[] =>
  list(value).map((entry) => {
    const [chainId, address, nonce, yParity, r, s] = list(entry)
    return {
      chainId: toQuantity(integer(chainId)),
      address: sized(address, 20),
      nonce: toQuantity(integer(nonce)),
      yParity: toQuantity(integer(yParity)),
      r: toQuantity(integer(r)),
      s: toQuantity(integer(s)),
    }
  })

/**
 * Decodes a signed transaction of any type, and recovers who sent it. Blobs that come with it are dropped, as they are in blocks.
 *
 * @param raw - The bytes, as `eth_sendRawTransaction` takes them.
 * @throws {Error} with geth's message, if it is not a transaction.
 */
export function decodeTransaction(raw: Uint8Array): PooledTransaction {
  const first = raw[0] ?? 0
  if (first < 0xc0 && (first < 1 || first > 4)) throw new Error('transaction type not supported')
  const type = (first < 0xc0 ? first : 0) as TransactionFields['type']
  let parts = list(decodeRlp(type === 0 ? raw : raw.slice(1)))
  // A transaction with blobs is sent as a list whose first element is the transaction. EIP-4844 and EIP-7594.
  if (type === 3 && Array.isArray(parts[0])) parts = parts[0]
  if (parts.length !== counts[type]) {
    throw new Error(
      `rlp: too ${parts.length < counts[type] ? 'few' : 'many'} elements for a transaction of type ${type}`,
    )
  }
  const at = type === 0 ? 0 : 1
  const wide = type > 1 ? 1 : 0
  const [v, r, s] = parts.slice(-3).map(integer) as [bigint, bigint, bigint]
  if (type === 0 ? v < 27n || (v > 28n && v < 35n) : v > 1n) throw new Error('invalid transaction v, r, s values')
  const yParity = Number(type > 0 ? v : v < 35n ? v - 27n : (v - 35n) % 2n) as 0 | 1
  const to = data(parts[at + wide + 3])
  const maxFee = integer(parts[at + 1 + wide])
  const fields: TransactionFields = {
    type,
    chainId: type > 0 ? integer(parts[0]) : v < 35n ? undefined : (v - 35n) / 2n,
    nonce: small(parts[at]),
    maxTip: wide === 0 ? maxFee : integer(parts[at + 1]),
    maxFee,
    gas: small(parts[at + wide + 2]),
    to: to.length === 0 ? null : sized(to, 20),
    value: integer(parts[at + wide + 4]),
    input: toHex(data(parts[at + wide + 5])),
    accessList: type === 0 ? [] : decodeAccessList(parts[at + wide + 6]),
    maxBlobFee: type === 3 ? integer(parts[9]) : 0n,
    blobHashes: type === 3 ? list(parts[10]).map((hash): Hash => sized(hash, 32)) : [],
    authorizations: type === 4 ? decodeAuthorizations(parts[9]) : [],
  }
  if (type > 2 && fields.to === null) throw new Error('rlp: input string too short for common.Address')
  const encoded = envelope(type, parts)
  const from = recoverAddress(signingHash(fields), { r, s, yParity })
  return { ...fields, hash: keccakHex(encoded), raw: encoded, from, v, r, s, yParity }
}

/** As {@link decodeTransaction}, from hex. */
export function decodeRawTransaction(raw: Hex): PooledTransaction {
  return decodeTransaction(fromHex(raw))
}
