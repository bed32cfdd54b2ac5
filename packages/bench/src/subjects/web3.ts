import type { TransportOptions } from '@keyrail/core'
import { KeyrailProvider } from '@keyrail/web3'
import { Web3 } from 'web3'
import { createReadsSubject } from './createReadsSubject.ts'
import type { Subject } from './subject.ts'

/** The provider's raw request, as web3.js makes it. */
export function openWeb3(url: string, options: Partial<TransportOptions> = {}): Subject {
  const provider = new KeyrailProvider({ url, chainId: 1, ...options } as TransportOptions)
  const request = provider.request as (payload: object) => Promise<{ readonly result?: unknown }>
  let lastId = 0
  return {
    call: async (method, params) => (await request({ jsonrpc: '2.0', id: ++lastId, method, params })).result,
    close: () => provider.disconnect(),
  }
}

const reads = (provider: KeyrailProvider | string, close: () => void): Subject => {
  const { eth } = new Web3(provider)
  return createReadsSubject(
    {
      balance: (account) => eth.getBalance(account),
      blockByHash: (hash) => eth.getBlock(hash),
      // web3 treats a hex string as a hash.
      blockByNumber: (hex) => eth.getBlock(BigInt(hex), true),
      logs: (range) => eth.getPastLogs(range),
    },
    close,
  )
}

/** web3's reads over Keyrail. */
export function openWeb3Reads(url: string): Subject {
  const provider = new KeyrailProvider({ url, chainId: 1 })
  return reads(provider, () => provider.disconnect())
}

/** web3's reads over its own provider. */
export const openOwnWeb3Reads = (url: string): Subject => reads(url, () => {})
