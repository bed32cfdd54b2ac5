import type { Hex } from '@keyrail/core'
import { setupServer } from 'msw/node'
import { expect } from 'vitest'
import { createMockNode } from '@keyrail/msw'
import type { MockNode, ProviderName } from '@keyrail/msw'

/** A block, as a subscriber has received it. */
export interface SeenBlock {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
}

/** A log, as a subscriber has received it. */
export interface SeenLog {
  readonly blockHash: string
  readonly logIndex: number
  readonly removed: boolean
}

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

/** Applies blocks in the order in which they were received. Each must have its parent below it, and none may be received twice in a row. */
export function applyBlocks(seen: readonly SeenBlock[]): SeenBlock[] {
  const chain: SeenBlock[] = []
  for (const block of seen) {
    const newest = chain.at(-1)
    if (newest?.hash === block.hash) throw new Error(`block ${block.number} was received twice`)
    while (chain.length > 0 && (chain.at(-1) as SeenBlock).number >= block.number) chain.pop()
    const parent = chain.at(-1)
    if (parent && parent.hash !== block.parentHash)
      throw new Error(`block ${block.number} was received without its parent`)
    chain.push(block)
  }
  return chain
}

/** Applies logs in the order in which they were received. Only the newest one may be removed. */
export function applyLogs(seen: readonly SeenLog[]): SeenLog[] {
  const logs: SeenLog[] = []
  for (const { blockHash, logIndex, removed } of seen) {
    const newest = logs.at(-1)
    if (!removed) logs.push({ blockHash, logIndex, removed })
    else if (newest?.blockHash === blockHash && newest.logIndex === logIndex) logs.pop()
    else throw new Error(`log ${logIndex} of ${blockHash} was removed out of order`)
  }
  return logs
}
