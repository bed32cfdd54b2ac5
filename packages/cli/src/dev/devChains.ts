/** The name of a network of `keyrail dev`. */
export type Network = 'testnet' | 'mainnet'

/** The two networks, in the order they are shown. */
export const networks: readonly Network[] = ['testnet', 'mainnet']

/** One value for each network. */
export type ByNetwork<T> = Readonly<Record<Network, T>>

/**
 * The chain ids of the two embedded nodes: on the wire their hex spells the network, `0x74657374` is "test" and `0x6d61696e` is "main".
 * No chain in the public registry has one of them, so a transaction signed for such a node is worth nothing on a real chain (EIP-155),
 * and a wallet keeps it apart from 1337 and 31337, which every other development node claims. Both fit in 31 bits: no library cuts them short.
 */
export const devChainIds: ByNetwork<number> = { testnet: 0x74657374, mainnet: 0x6d61696e }

/** How often each chain's example blocks are mined again: different, so that the networks cannot be mistaken for one another. */
export const seedRounds: ByNetwork<number> = { testnet: 2, mainnet: 3 }
