import { createTransport } from '@keyrail/core'
import type { TransportOptions } from '@keyrail/core'
import { keyrail } from '@keyrail/viem'
import { createPublicClient, http } from 'viem'
import type { Transport } from 'viem'
import { createReadsSubject } from './createReadsSubject.ts'
import type { Subject } from './subject.ts'

/** viem's raw request over Keyrail. */
export function openViem(url: string, options: Partial<TransportOptions> = {}): Subject {
  const transport = createTransport({ url, chainId: 1, ...options } as TransportOptions)
  const client = createPublicClient({ transport: keyrail(transport) })
  const request = client.request as (args: object) => Promise<unknown>
  return { call: (method, params) => request({ method, params }), close: transport.close }
}

const reads = (transport: Transport, close: () => void): Subject => {
  const client = createPublicClient({ transport })
  type Hex = `0x${string}`
  return createReadsSubject(
    {
      balance: (address) => client.getBalance({ address: address as Hex }),
      blockByHash: (blockHash) => client.getBlock({ blockHash: blockHash as Hex }),
      blockByNumber: (hex) => client.getBlock({ blockNumber: BigInt(hex), includeTransactions: true }),
      logs: ({ fromBlock, toBlock }) => client.getLogs({ fromBlock: BigInt(fromBlock), toBlock: BigInt(toBlock) }),
    },
    close,
  )
}

/** viem's reads over Keyrail. */
export function openViemReads(url: string): Subject {
  const transport = createTransport({ url, chainId: 1 })
  return reads(keyrail(transport), transport.close)
}

/** viem's reads over its own `http`. */
export const openOwnViemReads = (url: string): Subject => reads(http(url), () => {})
