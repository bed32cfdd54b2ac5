/** The name of a network that the gateway serves. */
export type Network = 'testnet' | 'mainnet'

/** Both networks, in the order they are shown. */
export const networkNames: readonly Network[] = ['testnet', 'mainnet']
