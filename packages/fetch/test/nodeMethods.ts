import type { EthereumRpc, Hex } from '@keyrail/core'

/** What tests use of anvil's own methods. */
export interface AnvilMethods {
  anvil_mine(blocks: Hex): Promise<null>
  anvil_reorg(depth: number, transactions: []): Promise<null>
  anvil_dropTransaction(hash: Hex): Promise<Hex | null>
  anvil_setBalance(address: Hex, wei: Hex): Promise<null>
  evm_setAutomine(on: boolean): Promise<null>
  evm_snapshot(): Promise<Hex>
  evm_revert(snapshot: Hex): Promise<boolean>
}

/** The schema of an anvil. */
export type AnvilRpc = EthereumRpc & AnvilMethods
