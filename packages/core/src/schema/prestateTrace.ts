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

/** The changes of a transaction: the changed fields, before and after. Source: geth docs, built-in tracers, `prestateTracer` with `diffMode`. */
export interface PrestateDiff {
  pre: PrestateTrace
  post: PrestateTrace
}
