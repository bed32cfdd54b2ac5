import { createTransport } from '@keyrail/core'
import type { ApiKeyUrlOptions, AppUrlOptions } from '@keyrail/core'
import { createClient } from '@keyrail/fetch'
import type { BlockHead } from '../../node/callNode.ts'

/** The endpoint of a first call. The chain id is known, so that no library has to request it. */
export type FirstEndpoint = (AppUrlOptions | ApiKeyUrlOptions) & { readonly chainId: number }

/** A library connected to one endpoint. */
export interface OpenLibrary {
  readonly latestBlock: () => Promise<BlockHead>
  readonly close: () => void
}

/** A library that `keyrail dev` makes first calls with. To add one, define it here and list it in `libraries`. */
export interface Library {
  /** The name of our package for it. */
  readonly name: string
  /** Loads the library. Loading takes longer than a call, so it happens once, before any call is timed. */
  readonly load: () => Promise<(endpoint: FirstEndpoint) => OpenLibrary>
}

/**
 * Converts a library's block to the JSON-RPC form, in which first calls are compared.
 *
 * @param block - The block. Libraries return its number as a number, a bigint or a hex string.
 * @throws {Error} if it has no number or no hash, which means that it is not mined yet.
 */
function toBlockHead(
  block:
    | {
        readonly number?: number | bigint | string | null | undefined
        readonly hash?: string | null | undefined
      }
    | null
    | undefined,
): BlockHead {
  if (block?.number == null || block.hash == null) throw new Error('the latest block has no number or no hash')
  return { number: `0x${BigInt(block.number).toString(16)}`, hash: block.hash }
}

const fetchLibrary: Library = {
  name: '@keyrail/fetch',
  load: async () => (endpoint) => {
    const client = createClient(endpoint)
    return {
      latestBlock: async () => toBlockHead(await client.eth_getBlockByNumber('latest', false)),
      close: client.close,
    }
  },
}

const ethersLibrary: Library = {
  name: '@keyrail/ethers',
  load: async () => {
    const { KeyrailProvider } = await import('@keyrail/ethers')
    return (endpoint) => {
      const provider = new KeyrailProvider(endpoint)
      return {
        latestBlock: async () => toBlockHead(await provider.getBlock('latest')),
        close: () => provider.destroy(),
      }
    }
  },
}

const web3Library: Library = {
  name: '@keyrail/web3',
  load: async () => {
    const [{ KeyrailProvider }, { Web3 }] = await Promise.all([import('@keyrail/web3'), import('web3')])
    return (endpoint) => {
      const provider = new KeyrailProvider(endpoint)
      const { eth } = new Web3(provider)
      return {
        latestBlock: async () => toBlockHead(await eth.getBlock('latest')),
        close: () => provider.disconnect(),
      }
    }
  },
}

const viemLibrary: Library = {
  name: '@keyrail/viem',
  load: async () => {
    const [{ keyrail }, { createPublicClient }] = await Promise.all([import('@keyrail/viem'), import('viem')])
    return (endpoint) => {
      const transport = createTransport(endpoint)
      const client = createPublicClient({ transport: keyrail(transport) })
      return {
        latestBlock: async () => toBlockHead(await client.getBlock({ blockTag: 'latest' })),
        close: transport.close,
      }
    }
  },
}

/** Every library that first calls are made with, in display order. All but the first are skipped if they are not installed. */
export const libraries: readonly Library[] = [fetchLibrary, ethersLibrary, web3Library, viemLibrary]
