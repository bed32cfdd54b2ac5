import type { Address, Bytes, Hash, Quantity } from './hex.ts'
import type { RpcWithdrawal } from './withdrawal.ts'

/** Storage slots and the values they shall have. Source: execution-apis, `AccountStorage`. */
export interface StorageOverride {
  [slot: Hash]: Hash
}

/** Overrides of an account during a call, except its storage. */
export interface AccountOverrideFields {
  nonce?: Quantity | undefined
  balance?: Quantity | undefined
  code?: Bytes | undefined
  /** Moves a precompile's code to this address. */
  movePrecompileToAddress?: Address | undefined
}

/** An account whose whole storage is replaced. Source: execution-apis, `AccountOverrideState`. */
export interface AccountOverrideState extends AccountOverrideFields {
  state?: StorageOverride | undefined
  stateDiff?: undefined
}

/** An account with some storage slots changed. Source: execution-apis, `AccountOverrideStateDiff`. */
export interface AccountOverrideStateDiff extends AccountOverrideFields {
  stateDiff?: StorageOverride | undefined
  state?: undefined
}

/** Overrides of an account during a call. Source: execution-apis, `AccountOverride`. */
export type AccountOverride = AccountOverrideState | AccountOverrideStateDiff

/** Overrides of accounts during a call. Source: execution-apis, `StateOverrides`. */
export interface StateOverrides {
  [address: Address]: AccountOverride
}

/** Overrides of the block during a call. Source: execution-apis, `BlockOverrides`; geth for `difficulty` and `beaconRoot`. */
export interface BlockOverrides {
  number?: Quantity | undefined
  prevRandao?: Quantity | undefined
  time?: Quantity | undefined
  gasLimit?: Quantity | undefined
  feeRecipient?: Address | undefined
  baseFeePerGas?: Quantity | undefined
  withdrawals?: readonly RpcWithdrawal[] | undefined
  blobBaseFee?: Quantity | undefined
  difficulty?: Quantity | undefined
  beaconRoot?: Hash | undefined
}
