import { describe, expect, test } from 'vitest'
import { read, send } from './callOrList.ts'
import { result } from './fakeUpstream.ts'
import type { Behaviour, FakeUpstream } from './fakeUpstream.ts'
import { error } from './nodeFailures.ts'

const unavailable: Behaviour = (_, response) => {
  response.statusCode = 503
  return ''
}
const toHex = (block: number): string => `0x${block.toString(16)}`

/** Lets a node respond by its head, and to any other call with its name. */
const respondByHead = (node: FakeUpstream, name: string): void => {
  node.behave = (call) => {
    if (call.method === 'eth_blockNumber') return result(call, `"${toHex(node.head)}"`)
    if (call.method !== 'eth_getBlockByNumber') return result(call, `"${name}"`)
    const [block] = call.params as [string]
    const number = block === 'latest' ? toHex(node.head) : block.startsWith('0x') ? block : toHex(node.finalized)
    return result(call, JSON.stringify({ number, transactions: [] }))
  }
}

type Change = (first: FakeUpstream, second: FakeUpstream) => void

const blockNumber = read('eth_blockNumber')
const latest = read('eth_getBlockByNumber', 'latest', false)
const call = read('eth_call', { to: `0x${'12'.repeat(20)}` }, 'latest')
const fail: Change = (first) => (first.behave = unavailable)
const rejectBlock: Change = (first) => (first.behave = error(-32602, 'invalid block range params'))
const rejectTag: Change = (first) => (first.behave = error(-32602, 'invalid argument 0: hex string without 0x prefix'))
const block = (number: string) => ({ number, transactions: [] })

/** The reads that name block 101, which the second node has. */
const naming = [
  read('eth_getLogs', { fromBlock: '0x65', toBlock: 'latest' }),
  read('eth_getLogs', { fromBlock: 'finalized', toBlock: '0x65' }),
  read('eth_getLogs', { fromBlock: '0x65' }),
  read('eth_feeHistory', '0x2', '0x65', []),
  read('eth_estimateGas', {}, '0x65'),
  read('debug_traceBlockByNumber', '0x65', {}),
]

describe('calls get heads alone as in lists of one, if', () => {
  test.each<{
    readonly name: string
    readonly heads: readonly [number, number]
    readonly seenBlock?: number
    /** Each call with its result, and what changes before it. */
    readonly steps: readonly (readonly [call: string, result: unknown, change?: Change])[]
  }>([
    {
      name: 'the node with the newest block fails',
      heads: [101, 100],
      steps: [
        [blockNumber, '0x65'],
        [blockNumber, '0x65', fail],
        [blockNumber, '0x66', (_, second) => (second.head = 102)],
      ],
    },
    {
      name: 'the block at latest was newer',
      heads: [101, 100],
      steps: [
        [latest, block('0x65')],
        [blockNumber, '0x65', fail],
        [latest, block('0x64')],
      ],
    },
    {
      name: 'the first node does not have the block that the caller has seen',
      heads: [100, 101],
      steps: [
        [call, 'first'],
        [blockNumber, '0x65', fail],
        [call, 'second', (first) => respondByHead(first, 'first')],
        [read('eth_estimateGas', {}, 'latest'), 'second'],
        [read('eth_getLogs', { fromBlock: '0x64', toBlock: '0x65' }), 'second'],
        [read('eth_getLogs', { fromBlock: '0x63', toBlock: '0x64' }), 'first'],
        [read('eth_call', {}, '0x10'), 'first'],
        [read('eth_getBlockByHash', `0x${'ab'.repeat(32)}`, false), 'first'],
      ],
    },
    { name: 'the first node is behind', heads: [97, 100], steps: [[latest, block('0x64')]] },
    { name: 'the caller says what it has seen', heads: [100, 101], seenBlock: 101, steps: [[call, 'second']] },
    {
      name: 'a read names a block that only the second node has',
      heads: [100, 101],
      steps: naming.map((one) => [one, 'second'] as const),
    },
    {
      name: 'a read names a block that the first node rejects',
      heads: [100, 100],
      steps: naming.map((one) => [one, 'second', rejectBlock] as const),
    },
    {
      name: 'the first node does not know a tag',
      heads: [100, 100],
      steps: [
        [read('eth_call', {}, 'finalized'), 'second', rejectTag],
        [read('eth_getLogs', { fromBlock: 'safe', toBlock: 'latest' }), 'second'],
      ],
    },
    ...['safe', 'finalized'].map((tag) => {
      const final = read('eth_getBlockByNumber', tag, false)
      return {
        name: `the ${tag} block of the second node is earlier`,
        heads: [100, 100] as const,
        steps: [
          [final, block('0x50'), (first, second) => ((first.finalized = 0x50), (second.finalized = 0x46))],
          [final, block('0x50'), fail],
          [final, block('0x51'), (_, second) => (second.finalized = 0x51)],
        ] as const satisfies readonly (readonly [string, unknown, Change?])[],
      }
    }),
  ])('$name', async ({ heads, steps, ...more }) => {
    const before = (nodes: readonly FakeUpstream[], index: number): void => {
      const [first, second] = nodes as [FakeUpstream, FakeUpstream]
      if (index === 0)
        for (const [place, node] of nodes.entries()) respondByHead(node, place === 0 ? 'first' : 'second')
      steps[index]?.[2]?.(first, second)
    }
    const scenario = { nodes: [unavailable, unavailable], heads, calls: steps.map(([one]) => one), before, ...more }
    const alone = await send(scenario, false)
    expect(await send(scenario, true)).toEqual(alone)
    expect(alone.responses).toMatchObject(steps.map(([, expected]) => ({ result: expected })))
  })
})
