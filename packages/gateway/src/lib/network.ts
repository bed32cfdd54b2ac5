/** The name of a network that the gateway serves. */
export type Network = 'testnet' | 'mainnet'

/** All networks, in display order. */
export const networkNames: readonly Network[] = ['testnet', 'mainnet']
