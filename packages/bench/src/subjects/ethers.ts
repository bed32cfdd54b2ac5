import type { TransportOptions } from '@keyrail/core'
import { KeyrailProvider } from '@keyrail/ethers'
import { JsonRpcProvider, Network } from 'ethers'
import { createReadsSubject } from './createReadsSubject.ts'
import type { Subject } from './subject.ts'

/** ethers' raw request over Keyrail. */
export function openEthers(url: string, options: Partial<TransportOptions> = {}): Subject {
  const provider = new KeyrailProvider({ url, chainId: 1, ...options } as TransportOptions)
  return {
    call: (method, params) => provider.send(method, params as unknown[]),
    close: () => provider.destroy(),
  }
}

const reads = (provider: JsonRpcProvider): Subject =>
  createReadsSubject(
    {
      balance: (account) => provider.getBalance(account),
      blockByHash: (hash) => provider.getBlock(hash),
      blockByNumber: (hex) => provider.getBlock(hex, true),
      logs: (range) => provider.getLogs(range),
    },
    () => provider.destroy(),
  )

/** ethers' reads over Keyrail. */
export const openEthersReads = (url: string): Subject => reads(new KeyrailProvider({ url, chainId: 1 }))

/** ethers' reads over its own provider in its fastest form: with a static network and without batches. */
export const openOwnEthersReads = (url: string): Subject =>
  reads(new JsonRpcProvider(url, undefined, { staticNetwork: Network.from(1), batchMaxCount: 1 }))
