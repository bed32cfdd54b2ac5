import { expect, test } from 'vitest'
import { createBlock, createScriptedNodes } from '../../../../test/subscription/scriptedChainNodes.ts'
import type { ScriptedBlock, ScriptedNode, ScriptedNodes } from '../../../../test/subscription/scriptedChainNodes.ts'
import type { BlockPosition } from '../followedChain.ts'
import { createLogReader } from './createLogReader.ts'
import { parseBlock } from './parseBlock.ts'
import type { ChainBlock } from './parseBlock.ts'

interface Started {
  readonly nodes: ScriptedNodes
  readonly first: ScriptedNode
  readonly second: ScriptedNode
  /** Adds a block to both nodes. */
  readonly add: (overrides?: Parameters<typeof createBlock>[1]) => ChainBlock
  readonly read: (block: ChainBlock) => Promise<readonly string[]>
  readonly incomplete: BlockPosition[]
  readonly waits: number[]
  /** How often each method was called at the first and at the second node. */
  readonly calls: () => readonly (readonly [logs: number, receipts: number])[]
}

const start = (check = true): Started => {
  const nodes = createScriptedNodes(2, 1)
  const [first, second] = nodes.list as [ScriptedNode, ScriptedNode]
  const incomplete: BlockPosition[] = []
  const waits: number[] = []
  const readLogs = createLogReader(nodes, {
    check: () => check,
    onIncomplete: (block) => incomplete.push(block),
    wait: (ms) => {
      waits.push(ms)
      return Promise.resolve()
    },
  })
  const count = (node: ScriptedNode, method: string): number =>
    node.calls.filter((call) => call.method === method).length
  return {
    nodes,
    first,
    second,
    add: (overrides = { logCount: 2 }) => {
      const block: ScriptedBlock = createBlock(first.chain.at(-1), overrides)
      for (const node of [first, second]) node.chain.push(block)
      return parseBlock(block.text) as ChainBlock
    },
    read: async (block) => (await readLogs(block)).map(({ text }) => text),
    incomplete,
    waits,
    calls: () => [first, second].map((node) => [count(node, 'eth_getLogs'), count(node, 'eth_getBlockReceipts')]),
  }
}
const noBloom = `0x${'0'.repeat(512)}`
const noLogs: readonly string[] = []

test('complete logs are read once, without receipts', async () => {
  const { add, read, calls, first, incomplete } = start()
  expect(await read(add())).toEqual(first.chain.at(-1)?.logs)
  expect(await read(add({ logCount: 0 }))).toEqual(noLogs)
  expect(calls()).toEqual([
    [2, 0],
    [0, 0],
  ])
  expect(incomplete).toEqual([])
})

test('concurrent reads of a block are one', async () => {
  const { add, read, calls } = start()
  const block = add()
  expect(new Set((await Promise.all([read(block), read(block), read(block)])).map(String)).size).toBe(1)
  expect(calls()[0]).toEqual([1, 0])
})

test('a node that has a block but not its logs yet is queried again until it has them', async () => {
  const { add, read, first, waits, incomplete } = start()
  first.lateLogs = 3
  expect(await read(add())).toHaveLength(2)
  expect(waits).toEqual([50, 150, 400])
  expect(incomplete).toEqual([])
})

test('a node that does not have them within two seconds is replaced by another one', async () => {
  const { add, read, first, waits, calls, incomplete } = start()
  first.lateLogs = 100
  expect(await read(add())).toHaveLength(2)
  expect(waits.reduce((sum, ms) => sum + ms)).toBe(2_000)
  expect(calls()).toEqual([
    [5, 5],
    [1, 0],
  ])
  expect(incomplete).toEqual([])
})

test('logs that no node confirms are delivered, and counted', async () => {
  const { add, read, first, second, incomplete, waits } = start()
  const block = add({ logCount: 2, logsBloom: `0x${'f'.repeat(512)}` })
  for (const node of [first, second]) node.lacks.add('eth_getBlockReceipts')
  expect(await read(block)).toHaveLength(2)
  expect(incomplete).toEqual([{ number: block.number, hash: block.hash }])
  expect(waits.reduce((sum, ms) => sum + ms)).toBe(4_000)
})

test('a block with only some of its logs is incomplete', async () => {
  const { add, read, first } = start()
  const block = add({ logCount: 3 })
  const whole = first.call
  let times = 0
  Object.assign(first, {
    call: async (...args: Parameters<typeof whole>) => {
      const text = await whole(...args)
      times += 1
      return times === 1 ? `[${(first.chain.at(-1)?.logs ?? []).slice(0, 2).join(',')}]` : text
    },
  })
  expect(await read(block)).toHaveLength(3)
})

test('logs of another block are not delivered', async () => {
  const { add, read, first, second } = start()
  const block = add()
  const other = createBlock(first.chain.at(-2), { logCount: 2 })
  for (const node of [first, second]) Object.assign(node, { call: () => Promise.resolve(`[${other.logs.join(',')}]`) })
  await expect(read(block)).rejects.toThrow(`no node sent the logs of block ${block.number}`)
})

test('a chain whose blocks have empty filters is noticed by the receipts, and checked by them from then on', async () => {
  const { add, read, first, calls, waits, incomplete } = start()
  expect(await read(add({ logCount: 2, logsBloom: noBloom }))).toHaveLength(2)
  expect(calls()[0]).toEqual([1, 1])
  // By the filter alone, an empty list would be complete.
  first.lateLogs = 2
  expect(await read(add({ logCount: 1, logsBloom: noBloom }))).toHaveLength(1)
  expect(waits).toEqual([50, 150])
  // A block without transactions needs no receipts.
  const before = calls()[0]?.[1]
  expect(await read(add({ logCount: 0, logsBloom: noBloom }))).toEqual(noLogs)
  expect(calls()[0]?.[1]).toBe(before)
  expect(incomplete).toEqual([])
})

test('a failed node is replaced by the other one at once', async () => {
  const { add, read, first, waits } = start()
  first.isDown = true
  expect(await read(add())).toHaveLength(2)
  expect(waits).toEqual([])
})

test('if every node fails, nothing is delivered', async () => {
  const { add, read, first, second, incomplete } = start()
  for (const node of [first, second]) node.isDown = true
  await expect(read(add())).rejects.toThrow('down')
  expect(incomplete).toEqual([])
})

test('a node that fails before it has the logs has not confirmed that there are none', async () => {
  const { add, read, first, second, incomplete } = start()
  first.lateLogs = 100
  second.isDown = true
  first.before = (method) => {
    first.isDown = method === 'eth_getLogs' && first.calls.filter((call) => call.method === method).length > 2
  }
  await expect(read(add())).rejects.toThrow('down')
  expect(incomplete).toEqual([])
})

test('without the check, the first list is delivered', async () => {
  const { add, read, first, calls, incomplete } = start(false)
  first.lateLogs = 1
  expect(await read(add())).toEqual(noLogs)
  expect(calls()).toEqual([
    [1, 0],
    [0, 0],
  ])
  expect(incomplete).toEqual([])
})
