import type { Hex } from '@keyrail/core'
import type { SeenBlock, SeenLog } from '@keyrail/contracts/test/appliedEvents.ts'
import { setupServer } from 'msw/node'
import { expect } from 'vitest'
import { createMockNode } from '../src/index.ts'
import type { MockNode, ProviderName } from '../src/index.ts'

/** A mock node behind which everything goes wrong for subscribers. */
export interface DisruptedNode {
  readonly node: MockNode
  readonly options: { readonly baseUrl: string; readonly apiKey: string; readonly chainId: number }
  /** The contract that emits the logs. */
  readonly address: Hex
  readonly request: (method: string, ...params: unknown[]) => Promise<unknown>
  /** Mines through lost notifications, broken connections, reorganizations and failing calls. Waits after each step until the head was seen. */
  readonly disrupt: (getSeenNumbers: () => readonly unknown[]) => Promise<void>
  /** Returns the blocks above the first one. */
  readonly getBlocks: () => Promise<SeenBlock[]>
  /** Returns the logs of the chain. */
  readonly getLogs: () => Promise<SeenLog[]>
}

const url = 'https://node.example/testnet'
const apiKey = 'kr_a00000000000000000000000000000000'
const address: Hex = `0x${'aa'.repeat(20)}`
const log = { address, topics: [`0x${'11'.repeat(32)}`] } as const

/** The steps. Each one ends with a block that has a log, which is the head. */
const steps: readonly ((node: MockNode) => void)[] = [
  () => {},
  (node) => node.mine(20),
  (node) => {
    // Followed by others: nobody notices a connection that loses the newest one.
    node.failNotifications('drop', { subscription: 'newHeads', times: 2 })
    node.mine(2)
  },
  (node) => {
    node.failNotifications('duplicate', { subscription: 'newHeads' })
    node.failNotifications('swap', { subscription: 'newHeads' })
    node.mine(3)
  },
  (node) => {
    node.disconnect()
    node.emit([log, log])
    node.mine(2)
  },
  (node) => node.reorg(2),
  (node) => {
    node.disconnect()
    node.reorg(3, { drop: true })
    node.mine(2)
    node.reorg(1)
  },
  (node) => {
    node.fail('network', { times: 6 })
    node.disconnect()
    node.mine(2)
    node.reorg(1, { drop: true })
  },
  (node) => {
    node.fail('unavailable', { times: 6 })
    node.mine()
  },
]

/** Lets the mock node respond to the program's requests. Call it once in a test file. */
export const mockServer = setupServer()

/** Creates a {@link DisruptedNode}. */
export function createDisruptedNode(provider: ProviderName): DisruptedNode {
  const options = { baseUrl: url, apiKey, chainId: 31_337 }
  const node = createMockNode({ ...options, provider })
  mockServer.resetHandlers(...node.handlers)
  node.mine(5)
  const request: DisruptedNode['request'] = async (method, ...params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(`${url}/v2/${apiKey}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    return ((await response.json()) as { readonly result: unknown }).result
  }
  const getBlock = async (number: number): Promise<SeenBlock> => {
    const block = await request('eth_getBlockByNumber', `0x${number.toString(16)}`, false)
    const { hash, parentHash } = block as SeenBlock
    return { number, hash, parentHash }
  }
  return {
    node,
    options,
    address,
    request,
    disrupt: async (getSeenNumbers) => {
      for (const step of steps) {
        step(node)
        node.emit(log)
        await expect
          .poll(() => getSeenNumbers().map(Number), { message: `after ${step.toString()}` })
          .toEqual(getSeenNumbers().map(() => node.blockNumber()))
        node.clearFaults()
      }
    },
    getBlocks: async () => {
      const blocks: SeenBlock[] = []
      for (let number = 6; number <= node.blockNumber(); number++) blocks.push(await getBlock(number))
      return blocks
    },
    getLogs: async () => {
      const logs = (await request('eth_getLogs', { address, fromBlock: '0x6' })) as readonly Record<string, string>[]
      return logs.map(({ blockHash, logIndex }) => ({
        blockHash: blockHash as string,
        logIndex: Number(logIndex),
        removed: false,
      }))
    },
  }
}
