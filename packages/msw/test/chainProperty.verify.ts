import type { Hex, RpcLog } from '@keyrail/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTestNode, toWord } from './createTestNode.ts'
import type { TestNode } from './createTestNode.ts'
import { checkChain } from './checkChain.ts'

type Step =
  | { readonly do: 'mine'; readonly count: number }
  | { readonly do: 'send'; readonly from: number; readonly to: number; readonly wei: number }
  | { readonly do: 'emit'; readonly logs: number; readonly topic: number }
  | { readonly do: 'reorg'; readonly depth: number; readonly drop: boolean }
  | { readonly do: 'snapshot' }
  | { readonly do: 'revert'; readonly which: number }
  | { readonly do: 'balance'; readonly of: number; readonly wei: number }
  | { readonly do: 'advance'; readonly seconds: number }

const account = fc.nat(3)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('mine'), count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant('send'), from: account, to: account, wei: fc.nat(1_000) }),
  fc.record({ do: fc.constant('emit'), logs: fc.integer({ min: 1, max: 3 }), topic: fc.nat(3) }),
  fc.record({ do: fc.constant('reorg'), depth: fc.integer({ min: 1, max: 4 }), drop: fc.boolean() }),
  fc.record({ do: fc.constant('snapshot') }),
  fc.record({ do: fc.constant('revert'), which: fc.nat(3) }),
  fc.record({ do: fc.constant('balance'), of: account, wei: fc.nat(1_000) }),
  fc.record({ do: fc.constant('advance'), seconds: fc.nat(30) }),
) as fc.Arbitrary<Step>

/** The state of a node as seen through RPC. */
async function readState({ request, node }: TestNode): Promise<unknown> {
  return {
    head: await request('eth_getBlockByNumber', 'latest', true),
    balances: await Promise.all(node.accounts.map(({ address }) => request('eth_getBalance', address, 'latest'))),
    nonces: await Promise.all(
      node.accounts.map(({ address }) => request('eth_getTransactionCount', address, 'pending')),
    ),
    pending: await request('txpool_content'),
  }
}

test.each([true, false])(
  'any sequence of mine, send, emit, reorg, snapshot and revert leaves a consistent chain (automine %s)',
  async (automine) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const testNode = createTestNode({ automine })
        const { node, request } = testNode
        const saved: { readonly id: string; readonly state: unknown }[] = []
        const sent = new Set<Hex>()
        /** The logs that a client collects from a filter. */
        const filter = await request('eth_newFilter', { fromBlock: '0x0' })
        const followed = new Map<string, RpcLog>()
        for (const one of steps) {
          if (one.do === 'mine') node.mine(one.count)
          else if (one.do === 'advance') node.advanceTime(one.seconds)
          else if (one.do === 'balance') {
            node.setBalance(node.accounts[one.of]!.address, 10n ** 20n + BigInt(one.wei))
            expect(BigInt(await request('eth_getBalance', node.accounts[one.of]!.address))).toBe(
              10n ** 20n + BigInt(one.wei),
            )
          } else if (one.do === 'send') {
            const [from, to] = [node.accounts[one.from]!, node.accounts[one.to]!]
            sent.add(
              await request('eth_sendTransaction', {
                from: from.address,
                to: to.address,
                value: `0x${one.wei.toString(16)}`,
              }),
            )
          } else if (one.do === 'emit') {
            const log = {
              address: node.accounts[one.topic]!.address,
              topics: [toWord(one.topic)],
              data: toWord(one.logs),
            }
            sent.add(node.emit(Array.from({ length: one.logs }, () => log)))
          } else if (one.do === 'reorg') {
            const depth = Math.min(one.depth, node.blockNumber())
            const before = await request('eth_getBlockByNumber', 'latest', false)
            if (depth > 0) {
              node.reorg(depth, { drop: one.drop })
              const after = await request('eth_getBlockByNumber', 'latest', false)
              expect((after as { hash: Hex }).hash).not.toBe((before as { hash: Hex }).hash)
              expect((after as { number: Hex }).number).toBe((before as { number: Hex }).number)
            }
          } else if (one.do === 'snapshot') saved.push({ id: node.snapshot(), state: await readState(testNode) })
          else if (saved.length > 0) {
            const [found] = saved.splice(one.which % saved.length)
            node.revert(found!.id)
            expect(await readState(testNode)).toEqual(found!.state)
          }
          for (const log of (await request('eth_getFilterChanges', filter)) as RpcLog[]) {
            const place = `${log.blockHash}/${log.logIndex}`
            if (log.removed) expect(followed.delete(place)).toBe(true)
            else followed.set(place, log)
          }
        }
        const mined = await checkChain(request as never)
        for (const hash of mined) expect(sent.has(hash)).toBe(true)
        expect([...followed.values()]).toEqual(await request('eth_getLogs', { fromBlock: '0x0' }))
        const waiting = (await request('eth_pendingTransactions')) as { hash: Hex }[]
        expect(waiting.filter(({ hash }) => mined.includes(hash))).toEqual([])
      }),
      { numRuns: 20 },
    )
  },
  60_000,
)

test('the same steps with the same seed produce the same chain', async () => {
  const heads: unknown[] = []
  for (const seed of ['one', 'one', 'two']) {
    const testNode = createTestNode({ seed })
    testNode.node.emit({ address: `0x${'11'.repeat(20)}` })
    testNode.node.mine(2)
    testNode.node.reorg(1)
    heads.push(await testNode.request('eth_getBlockByNumber', 'latest', true))
  }
  expect(heads[0]).toEqual(heads[1])
  expect(heads[0]).not.toEqual(heads[2])
})
