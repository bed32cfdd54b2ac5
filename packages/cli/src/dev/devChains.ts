/** A network of `keyrail dev`. */
export type Network = 'testnet' | 'mainnet'

/** The networks, in display order. */
export const networks: readonly Network[] = ['testnet', 'mainnet']

/** One value for each network. */
export type ByNetwork<T> = Readonly<Record<Network, T>>

/**
 * The chain ids of the embedded nodes. Their bytes spell the network: `0x74657374` is "test" and `0x6d61696e` is "main".
 * No public chain uses them, so a transaction signed for one is invalid on any real chain (EIP-155), and wallets do not confuse them with 1337
 * and 31337 of other development nodes. Both fit in 31 bits, which every library supports.
 */
export const devChainIds: ByNetwork<number> = { testnet: 0x74657374, mainnet: 0x6d61696e }

/** The seed rounds of each chain. They differ, so that the networks cannot be confused. */
export const seedRounds: ByNetwork<number> = { testnet: 2, mainnet: 3 }
