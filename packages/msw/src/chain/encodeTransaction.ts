import type { AccessList, Address, Authorization, Hex } from '@keyrail/core'
import { concat, integerBytes } from '../bytes/hex.ts'
import { keccak, keccakHex } from '../bytes/keccak.ts'
import { encodeRlp } from '../bytes/rlp.ts'
import type { Rlp } from '../bytes/rlp.ts'
import { addressOfKey, signOpenly } from '../bytes/signature.ts'
import type { PooledTransaction, TransactionFields } from './transaction.ts'

const listOf = (accessList: AccessList): Rlp => accessList.map(({ address, storageKeys }) => [address, storageKeys])
const authorizationsOf = (list: readonly Authorization[]): Rlp =>
  list.map(({ chainId, address, nonce, yParity, r, s }) => [
    integerBytes(BigInt(chainId)),
    address,
    ...[nonce, yParity, r, s].map((part) => integerBytes(BigInt(part))),
  ])

/** The parts of a transaction that are signed, in their order. EIP-155, 2930, 1559, 4844 and 7702. */
export function unsignedParts(tx: TransactionFields): Rlp[] {
  const { type, chainId, nonce, to, value, input, gas, maxFee, maxTip } = tx
  const fees = type < 2 ? [integerBytes(maxFee)] : [integerBytes(maxTip), integerBytes(maxFee)]
  const parts: Rlp[] = [integerBytes(nonce), ...fees, integerBytes(gas), to ?? '0x', integerBytes(value), input]
  if (type === 0) return chainId === undefined ? parts : [...parts, integerBytes(chainId), '0x', '0x']
  parts.unshift(integerBytes(chainId ?? 0n))
  parts.push(listOf(tx.accessList))
  if (type === 3) parts.push(integerBytes(tx.maxBlobFee), tx.blobHashes)
  if (type === 4) parts.push(authorizationsOf(tx.authorizations))
  return parts
}

/** Bytes of an envelope: the type before the list, but for legacy ones. EIP-2718. */
export function envelope(type: number, parts: Rlp): Uint8Array {
  const list = encodeRlp(parts)
  return type === 0 ? list : concat(Uint8Array.of(type), list)
}

/** What the sender of a transaction signs. */
export function signingHash(tx: TransactionFields): Uint8Array {
  return keccak(envelope(tx.type, unsignedParts(tx)))
}

const senders = new Map<Hex, Address>()

/** Signs with one of the mock node's own keys. */
export function signTransaction(tx: TransactionFields, privateKey: Hex): PooledTransaction {
  const signature = signOpenly(signingHash(tx), privateKey)
  const { r, s, yParity } = signature
  const v =
    tx.type > 0
      ? BigInt(yParity)
      : tx.chainId === undefined
        ? 27n + BigInt(yParity)
        : tx.chainId * 2n + 35n + BigInt(yParity)
  // A legacy one for one chain is signed with three parts that it is not sent with.
  const parts = tx.type > 0 ? unsignedParts(tx) : unsignedParts({ ...tx, chainId: undefined })
  const raw = envelope(tx.type, [...parts, integerBytes(v), integerBytes(r), integerBytes(s)])
  let from = senders.get(privateKey)
  if (from === undefined) senders.set(privateKey, (from = addressOfKey(privateKey)))
  return { ...tx, hash: keccakHex(raw), raw, from, v, ...signature }
}
