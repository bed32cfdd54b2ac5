import type { Address, EIP1193Provider } from 'viem'

/** A visitor with a connected wallet. */
export interface Visitor {
  readonly account: Address
  readonly provider: EIP1193Provider
}
