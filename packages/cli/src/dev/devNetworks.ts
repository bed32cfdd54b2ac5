import { findKnownNetwork, listKnownNetworks } from '@keyrail/gateway'
import { findNearestName } from '@keyrail/core/internal'
import { wrongUsage } from '../cliError.ts'

/** A network of `keyrail dev`. */
export interface DevNetwork {
  /** Its name in URLs and files. */
  readonly name: string
  readonly chainId: number
  /** Whether its API keys are those of a test network. */
  readonly testnet: boolean
  /** What the service shows about it; a well-known network has its own. */
  readonly details?: { readonly chain: string; readonly title: string; readonly symbol: string; readonly aliases: [] }
  /** How long its first history is. It differs between neighbors, so that they cannot be confused. */
  readonly seedRounds: number
  /** The chain that its node continues, if any. */
  readonly fork?: Fork
}

/** The chain that a node continues. */
export interface Fork {
  /** The URL of a node of that chain. It may contain a key. */
  readonly url: string
  readonly redactedUrl: string
  /** The last block of that chain. @default its latest block */
  readonly block: number | undefined
}

/** One value for each network. */
export type ByNetwork<T> = Readonly<Record<string, T>>

const describeDevelopment = (title: string): NonNullable<DevNetwork['details']> => ({
  chain: 'development',
  title,
  symbol: 'DEV',
  aliases: [],
})

/**
 * The networks without `--networks`. The bytes of their chain ids spell them: `0x74657374` is "test" and `0x6d61696e` is "main".
 * No public chain uses them, so a transaction signed for one is invalid on any real chain (EIP-155), and wallets do not confuse them with 1337
 * and 31337 of other development nodes. Both fit in 31 bits, which every library supports.
 */
export const defaultNetworks: readonly DevNetwork[] = [
  { name: 'testnet', chainId: 0x74657374, testnet: true, details: describeDevelopment('Test network'), seedRounds: 2 },
  { name: 'mainnet', chainId: 0x6d61696e, testnet: false, details: describeDevelopment('Main network'), seedRounds: 3 },
]

/** The network of a fork of a chain that is not well-known. Its chain id is that of the forked chain. */
export const unknownFork: DevNetwork = {
  name: 'fork',
  chainId: 0,
  testnet: true,
  details: describeDevelopment('Fork'),
  seedRounds: 2,
}

/** Each network is a process with tens of megabytes. */
const maxNetworks = 20

/** Finds a network of `keyrail dev`: one of the default ones, or a well-known one by its name or an alias. */
export function findDevNetwork(name: string): DevNetwork | undefined {
  const own = defaultNetworks.find((one) => one.name === name)
  if (own !== undefined) return own
  const known = findKnownNetwork(name, undefined)
  return known && { name, chainId: known.chainId, testnet: known.testnet, seedRounds: 2 }
}

/**
 * Reads `--networks`: names, separated by commas.
 *
 * @param text - The option's value. @default the default networks
 * @throws {CliError} exit code 2 for an unknown name, two names of the same chain, or too many.
 */
export function readDevNetworks(text: string | undefined): readonly DevNetwork[] {
  if (text === undefined) return defaultNetworks
  const names = text.split(',').map((name) => name.trim())
  if (names.length > maxNetworks) throw wrongUsage(`--networks can have at most ${maxNetworks} names`)
  const byChainId = new Map<number, string>()
  return names.map((name, at) => {
    const network = findDevNetwork(name)
    if (network === undefined) {
      const known = listKnownNetworks().flatMap((one) => [one.name, ...one.aliases])
      const meant = findNearestName(name, ['testnet', 'mainnet', ...known])
      throw wrongUsage(
        `unknown network ${JSON.stringify(name)} in --networks`,
        `${meant === undefined ? '' : `did you mean ${meant}? `}Use names of well-known networks, such as ethereum, base and ethereum-sepolia`,
      )
    }
    const same = byChainId.get(network.chainId)
    if (same !== undefined) throw wrongUsage(`--networks has chain ${network.chainId} twice: ${same} and ${name}`)
    byChainId.set(network.chainId, name)
    return { ...network, seedRounds: 2 + (at % 8) }
  })
}
