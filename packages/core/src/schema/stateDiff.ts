import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/** A value that came to be. */
export interface Added<Value> {
  '+': Value
}

/** A value that ceased to be. */
export interface Removed<Value> {
  '-': Value
}

/** A value that changed. */
export interface Changed<Value> {
  '*': { from: Value; to: Value }
}

/** What became of a value: `=` where it stayed. Source: OpenEthereum docs, trace module, `stateDiff`. */
export type Delta<Value> = '=' | Added<Value> | Removed<Value> | Changed<Value>

/** What became of the storage slots of an account. */
export interface StorageDiff {
  [slot: Hash]: Delta<Hash>
}

/** What became of an account. */
export interface AccountDiff {
  balance: Delta<Quantity>
  code: Delta<Bytes>
  nonce: Delta<Quantity>
  storage: StorageDiff
}

/** What became of each account that was touched. Source: OpenEthereum docs, trace module, `stateDiff`. */
export interface StateDiff {
  [address: Address]: AccountDiff
}
