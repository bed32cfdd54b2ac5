import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBlock } from '../../../../test/subscription/scriptedChainNodes.ts'
import type { ScriptedBlock } from '../../../../test/subscription/scriptedChainNodes.ts'
import { createChainRing, maxDepth } from './createChainRing.ts'
import { parseBlock } from './parseBlock.ts'
import type { ChainBlock } from './parseBlock.ts'

const parse = ({ text }: ScriptedBlock): ChainBlock => parseBlock(text) as ChainBlock

test('a ring that is extended and cut at random has the newest blocks of the chain', () => {
  const action = fc.oneof(
    fc.record({ type: fc.constant('extend' as const), count: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ type: fc.constant('remove' as const), count: fc.integer({ min: 0, max: 40 }) }),
    fc.record({ type: fc.constant('append' as const), count: fc.integer({ min: 1, max: 40 }) }),
  )
  fc.assert(
    fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
      const ring = createChainRing()
      const chain = [createBlock(undefined)]
      for (let index = 0; index < 50; index += 1) chain.push(createBlock(chain.at(-1)))
      ring.extend(parse(chain.at(-1) as ScriptedBlock))
      let floor = 50
      for (const { type, count } of actions) {
        if (type === 'append') {
          for (let index = 0; index < count; index += 1) {
            const below = chain[floor - 1]
            if (below === undefined || chain.length - floor > maxDepth) break
            expect(ring.append(parse(below))).toBe('added')
            floor -= 1
          }
        } else if (type === 'extend') {
          for (let index = 0; index < count; index += 1) {
            chain.push(createBlock(chain.at(-1)))
            ring.extend(parse(chain.at(-1) as ScriptedBlock))
          }
          floor = Math.max(floor, chain.length - maxDepth - 1)
        } else {
          const last = Math.max(chain.length - 1 - count, floor)
          const removed = chain.splice(last + 1).reverse()
          expect(ring.removeAbove(last).map(({ hash }) => hash)).toEqual(removed.map(({ hash }) => hash))
          for (const { hash } of removed) expect(ring.find(hash)).toBeUndefined()
        }
        const expected = chain.slice(floor)
        expect(ring.blocks.length).toBe(expected.length)
        expect(ring.oldest()?.hash).toBe(expected[0]?.hash)
        expect(ring.newest()?.hash).toBe(expected.at(-1)?.hash)
        expect(ring.above(floor - 1).map(({ hash }) => hash)).toEqual(expected.map(({ hash }) => hash))
        for (const { number, hash } of expected)
          expect([ring.above(number - 1)[0]?.hash, ring.find(hash)?.number]).toEqual([hash, number])
      }
    }),
  )
})

test('only a child of the newest block extends it, and only the parent of the oldest one is appended', () => {
  const [first, second, third] = [createBlock(undefined)].flatMap((root) => {
    const child = createBlock(root)
    return [root, child, createBlock(child)]
  }) as [ScriptedBlock, ScriptedBlock, ScriptedBlock]
  const ring = createChainRing()
  expect(ring.append(parse(first))).toBe('notParent')
  ring.extend(parse(second))
  expect(() => ring.extend(parse(createBlock(first)))).toThrow('block 1 is no child of block 1')
  ring.extend(parse(third))
  expect(ring.append(parse(createBlock(undefined)))).toBe('notParent')
  expect(ring.append(parse(first))).toBe('added')
  ring.clear()
  expect([ring.blocks.length, ring.newest(), ring.oldest(), ring.find(third.hash)]).toEqual([
    0,
    undefined,
    undefined,
    undefined,
  ])
})

test('logs are set on the block that is still there', () => {
  const root = parse(createBlock(undefined))
  const ring = createChainRing()
  ring.extend(root)
  ring.setLogs(root.hash, [], 0)
  expect([ring.newest()?.logs, ring.find(root.hash)?.logs]).toEqual([[], []])
  ring.removeAbove(-1)
  ring.setLogs(root.hash, [], 0)
  expect(ring.blocks.length).toBe(0)
})
