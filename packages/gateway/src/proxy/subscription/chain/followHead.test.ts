import { createPollSchedule } from '@keyrail/core/internal'
import { expect, test } from 'vitest'
import { createBlock } from '../../../../test/subscription/scriptedChainNodes.ts'
import type { ScriptedBlock } from '../../../../test/subscription/scriptedChainNodes.ts'
import type { ChainNode } from './chainNodes.ts'
import { createChainRing } from './createChainRing.ts'
import { followHead } from './followHead.ts'
import { parseBlock } from './parseBlock.ts'
import type { ChainBlock } from './parseBlock.ts'

test('a follower that is stopped while it reads a branch emits nothing more', async () => {
  const root = createBlock(undefined)
  const [known, forked] = [createBlock(root), createBlock(root)]
  const head = createBlock(forked)
  const ring = createChainRing()
  ring.extend(parseBlock((known as ScriptedBlock).text) as ChainBlock)
  const stopping = new AbortController()
  const node: ChainNode = {
    call: (method) => {
      if (method === 'eth_getBlockByNumber') return Promise.resolve(head.text)
      stopping.abort()
      ring.clear()
      return Promise.resolve(forked.text)
    },
  }
  const emitted: unknown[] = []
  const poll = followHead({
    ring,
    nodes: { followed: () => node, other: () => undefined, leave: () => false, sawHead: () => true },
    schedule: createPollSchedule(),
    readLogs: () => Promise.resolve([]),
    needLogs: () => false,
    loadBelow: () => Promise.resolve(true),
    emit: (step) => emitted.push(step),
    signal: stopping.signal,
  })
  await expect(poll()).rejects.toThrow('stopped')
  expect(emitted).toEqual([])
})
