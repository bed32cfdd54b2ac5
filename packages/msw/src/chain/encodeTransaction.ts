import type { Address, Hex } from '@keyrail/core'
import type { AccessList, Authorization } from '@keyrail/core/schema'
import { concat, toIntegerBytes } from '../bytes/hex.ts'
import { keccak, keccakHex } from '../bytes/keccak.ts'
import { encodeRlp } from '../bytes/rlp.ts'
import type { Rlp } from '../bytes/rlp.ts'
import { privateKeyToAddress, signHash } from '../bytes/signature.ts'
import type { PooledTransaction, TransactionFields } from './transaction.ts'

const toAccessListRlp = (accessList: AccessList): Rlp =>
  accessList.map(({ address, storageKeys }) => [address, storageKeys])
const toAuthorizationsRlp = (list: readonly Authorization[]): Rlp =>
  list.map(({ chainId, address, nonce, yParity, r, s }) => [
    toIntegerBytes(BigInt(chainId)),
    address,
    ...[nonce, yParity, r, s].map((part) => toIntegerBytes(BigInt(part))),
  ])

/** The signed fields of a transaction, in order. EIP-155, 2930, 1559, 4844 and 7702. */
export function unsignedParts(tx: TransactionFields): Rlp[] {
  const { type, chainId, nonce, to, value, input, gas, maxFee, maxTip } = tx
  const fees = type < 2 ? [toIntegerBytes(maxFee)] : [toIntegerBytes(maxTip), toIntegerBytes(maxFee)]
  const parts: Rlp[] = [toIntegerBytes(nonce), ...fees, toIntegerBytes(gas), to ?? '0x', toIntegerBytes(value), input]
  if (type === 0) return chainId === undefined ? parts : [...parts, toIntegerBytes(chainId), '0x', '0x']
  parts.unshift(toIntegerBytes(chainId ?? 0n))
  parts.push(toAccessListRlp(tx.accessList))
  if (type === 3) parts.push(toIntegerBytes(tx.maxBlobFee), tx.blobHashes)
  if (type === 4) parts.push(toAuthorizationsRlp(tx.authorizations))
  return parts
}

/** Encodes the envelope: the type byte and the list, or only the list for legacy transactions. EIP-2718. */
export function envelope(type: number, parts: Rlp): Uint8Array {
  const list = encodeRlp(parts)
  return type === 0 ? list : concat(Uint8Array.of(type), list)
}

/** The hash that the sender of a transaction signs. */
export function signingHash(tx: TransactionFields): Uint8Array {
  return keccak(envelope(tx.type, unsignedParts(tx)))
}

const senders = new Map<Hex, Address>()

/** Signs a transaction with a key of the mock node. */
export function signTransaction(tx: TransactionFields, privateKey: Hex): PooledTransaction {
  const signature = signHash(signingHash(tx), privateKey)
  const { r, s, yParity } = signature
  const v =
    tx.type > 0
      ? BigInt(yParity)
      : tx.chainId === undefined
        ? 27n + BigInt(yParity)
        : tx.chainId * 2n + 35n + BigInt(yParity)
  // EIP-155: the chain id and two empty fields are signed, but not sent.
  const parts = tx.type > 0 ? unsignedParts(tx) : unsignedParts({ ...tx, chainId: undefined })
  const raw = envelope(tx.type, [...parts, toIntegerBytes(v), toIntegerBytes(r), toIntegerBytes(s)])
  let from = senders.get(privateKey)
  if (from === undefined) senders.set(privateKey, (from = privateKeyToAddress(privateKey)))
  return { ...tx, hash: keccakHex(raw), raw, from, v, ...signature }
}
