import { describe, expectTypeOf, test } from 'vitest'
import type { EthereumRpc } from './ethereumRpc.ts'
import type { RpcLog } from './log.ts'

declare const node: EthereumRpc

describe('logs', () => {
  test('a filter has a range or a block hash', () => {
    expectTypeOf(node.eth_getLogs({ fromBlock: '0x1', toBlock: 'finalized' })).resolves.toEqualTypeOf<RpcLog[]>()
    expectTypeOf(node.eth_getLogs({ blockHash: '0x1', address: null })).resolves.toEqualTypeOf<RpcLog[]>()
    // @ts-expect-error a range and a block hash at once
    void node.eth_getLogs({ blockHash: '0x1', fromBlock: '0x1' })
    // @ts-expect-error logs are of blocks in the chain
    void node.eth_getLogs({ toBlock: 'pending' })
  })

  test('topics match by position: any, one, or one of several', () => {
    const topics = [null, '0x1', ['0x2', '0x3'], []] as const
    expectTypeOf(node.eth_getLogs({ topics })).resolves.toEqualTypeOf<RpcLog[]>()
    void node.eth_newFilter({ topics: null, address: ['0x1', '0x2'] })
    // @ts-expect-error a topic is hex
    void node.eth_getLogs({ topics: ['Transfer'] })
  })
})
