import type { Network } from '@keyrail/core'

export type { Network }

/** Both networks, in the order they are shown. */
export const networkNames: readonly Network[] = ['testnet', 'mainnet']
