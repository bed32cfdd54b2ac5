/** One of the two networks of the chain that a deployment serves. */
export type Network = 'testnet' | 'mainnet'

/** Both networks, in the order they are shown. */
export const networkNames: readonly Network[] = ['testnet', 'mainnet']
