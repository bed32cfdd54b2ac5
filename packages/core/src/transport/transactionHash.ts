import { check } from '../failure/check.ts'

/** A Keccak-256 function that takes bytes as hex and returns the hash as hex. */
export type Keccak256 = (hex: `0x${string}`) => `0x${string}`

const ZKSYNC_TYPE = 0x71

/**
 * Computes the hash of a signed transaction: that of its bytes, for every type but ZKsync's own.
 *
 * @param raw - The param of `eth_sendRawTransaction`.
 * @param keccak256 - Hashes bytes.
 * @returns The hash; undefined for ZKsync's type 0x71, which is hashed by EIP-712.
 * @throws {KeyrailError} kind `invalidRequest` if `raw` is not a transaction, or `keccak256` returns no hash.
 * @example
 * transactionHash('0x02c0', keccak256)
 * declare function keccak256(hex: `0x${string}`): `0x${string}`
 * @see EIP-2718 (types), EIP-4844 and EIP-7594 (blobs are sent with the transaction and are not hashed), EIP-7702
 */
export function transactionHash(raw: unknown, keccak256: Keccak256): `0x${string}` | undefined {
  check(
    typeof raw === 'string' && raw.length % 2 === 0 && /^0x[0-7c-fC-F][\da-fA-F]{3,}$/.test(raw),
    'the param must be a signed transaction as hex, such as 0x02f8…: sign it first',
  )
  const type = Number(raw.slice(0, 4))
  if (type === ZKSYNC_TYPE) return undefined
  const hashed = type === 3 ? withoutBlobs(raw) : (raw as `0x${string}`)
  let hash: unknown
  try {
    hash = keccak256(hashed)
  } catch {
    // The error is not shown: it may contain the transaction.
  }
  check(
    typeof hash === 'string' && /^0x[\da-f]{64}$/i.test(hash),
    'keccak256 returned no hash: it must return 0x and 64 hex digits',
  )
  return hash.toLowerCase() as `0x${string}`
}

/** Removes blobs. With blobs, the first element of the list is the transaction, which is a list; without, it is the chain id, which is not a list. */
function withoutBlobs(raw: string): `0x${string}` {
  const byteAt = (at: number): number => Number(`0x${raw.slice(at, at + 2)}`)
  /** The hex digits of a list's RLP header: one byte for lists of up to 55 bytes, otherwise one byte and the bytes of the length. */
  const getHeaderLength = (at: number): number => (byteAt(at) < 0xf8 ? 2 : 2 + 2 * (byteAt(at) - 0xf7))
  const first = 4 + getHeaderLength(4)
  if (!(byteAt(first) >= 0xc0)) return raw as `0x${string}`
  const head = getHeaderLength(first)
  const length = head === 2 ? byteAt(first) - 0xc0 : Number(`0x${raw.slice(first + 2, first + head)}`)
  const end = first + head + 2 * length
  check(end <= raw.length, 'the raw transaction is incomplete: pass all of its bytes')
  return `0x03${raw.slice(first, end)}`
}
