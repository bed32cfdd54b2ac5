import { createTransport } from '@keyrail/core'
import { findKnownNetwork } from '@keyrail/gateway'
import { defaultNetworks, unknownFork } from './devNetworks.ts'
import type { DevNetwork } from './devNetworks.ts'

/**
 * Creates the network of `--fork`, with the chain id of the forked chain. A well-known chain has its name; any other chain is named `fork`.
 *
 * @param url - The URL of a node of the chain.
 * @param block - The last block to take from it. @default its latest block
 * @throws {KeyrailError} if the URL is invalid, or the node does not return its chain id. The URL in it is redacted.
 */
export async function createForkNetwork(url: string, block: number | undefined): Promise<DevNetwork> {
  const transport = createTransport({ url })
  try {
    const chainId = Number(await transport.request({ method: 'eth_chainId', params: [] }))
    const known = findKnownNetwork('', chainId)
    const named: Omit<DevNetwork, 'seedRounds'> =
      defaultNetworks.find((network) => network.chainId === chainId) ??
      (known && { name: known.name, chainId, testnet: known.testnet }) ??
      unknownFork
    return { ...named, chainId, seedRounds: 2, fork: { url, redactedUrl: transport.redactedUrl, block } }
  } finally {
    transport.close()
  }
}
