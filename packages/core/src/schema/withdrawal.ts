import type { Address, Quantity } from './hex.ts'

/** A payment from the beacon chain. `amount` is in gwei. Source: EIP-4895. */
export interface RpcWithdrawal {
  index: Quantity
  validatorIndex: Quantity
  address: Address
  amount: Quantity
}
