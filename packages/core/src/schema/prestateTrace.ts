import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/** Storage slots and their values. */
export interface PrestateStorage {
  [slot: Hash]: Hash
}

/** An account as a transaction found it. The nonce is a number, not hex. */
export interface PrestateAccount {
  balance?: Quantity
  nonce?: number
  code?: Bytes
  codeHash?: Hash
  storage?: PrestateStorage
}

/** The accounts that a transaction touched, as it found them. Source: geth docs, built-in tracers, `prestateTracer`. */
export interface PrestateTrace {
  [address: Address]: PrestateAccount
}

/** What a transaction changed: before and after, the changed fields only. Source: geth docs, built-in tracers, `prestateTracer` with `diffMode`. */
export interface PrestateDiff {
  pre: PrestateTrace
  post: PrestateTrace
}
