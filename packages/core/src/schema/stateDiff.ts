import type { Address, Bytes, Hash, Quantity } from './hex.ts'

/** A value that was created. */
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

/** The change of a value; `=` means unchanged. Source: OpenEthereum docs, trace module, `stateDiff`. */
export type Delta<Value> = '=' | Added<Value> | Removed<Value> | Changed<Value>

/** The changes of the storage slots of an account. */
export interface StorageDiff {
  [slot: Hash]: Delta<Hash>
}

/** The changes of an account. */
export interface AccountDiff {
  balance: Delta<Quantity>
  code: Delta<Bytes>
  nonce: Delta<Quantity>
  storage: StorageDiff
}

/** The changes of each account that was touched. Source: OpenEthereum docs, trace module, `stateDiff`. */
export interface StateDiff {
  [address: Address]: AccountDiff
}
