import type { Address, Quantity } from './hex.ts'

/** A signed permission to run a contract's code in the signer's account. Source: EIP-7702. */
export interface Authorization {
  chainId: Quantity
  address: Address
  nonce: Quantity
  yParity: Quantity
  r: Quantity
  s: Quantity
}

/** The authorizations of a `0x4` transaction. Source: EIP-7702. */
export type AuthorizationList = readonly Authorization[]
