import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createReadAhead, followToHead, mostMissing, switchBranch } from './followSteps.ts'
import type { FollowEnd, FollowSteps, KnownChain, LinkedBlock } from './followSteps.ts'

/** A block whose hash is its branch and its number. */
const createBlock = (branch: string, number: number, parent = branch): LinkedBlock => ({
  number,
  hash: `${branch}${number}`,
  parentHash: `${parent}${number - 1}`,
})

const createBlocks = (branch: string, from: number, to: number, parent = branch): LinkedBlock[] =>
  Array.from({ length: to - from + 1 }, (_, at) => createBlock(branch, from + at, at === 0 ? parent : branch))

const toKnown = (blocks: readonly LinkedBlock[], complete = false): KnownChain<LinkedBlock> => ({ blocks, complete })

/** Performs steps on a node's blocks. `reported` is changed as a driver would. */
const drive = (
  steps: FollowSteps<LinkedBlock, LinkedBlock>,
  reported: LinkedBlock[],
  node: () => readonly LinkedBlock[],
): FollowEnd => {
  let step = steps.next()
  while (step.done !== true) {
    const { value } = step
    let block: LinkedBlock | undefined
    if ('read' in value) block = node().find(({ hash, number }) => hash === value.read || number === value.read)
    else if ('report' in value) reported.push(value.report)
    else reported.splice(value.undoAbove ? reported.indexOf(value.undoAbove) + 1 : 0)
    step = steps.next(block)
  }
  return step.value
}

const toHashes = (blocks: readonly LinkedBlock[]): readonly string[] => blocks.map(({ hash }) => hash)

describe('the steps of a follower', () => {
  test('report the blocks up to the head, over numbers without a block', () => {
    const node = [...createBlocks('a', 1, 3), { number: 6, hash: 'a6', parentHash: 'a3' }, createBlock('a', 7)]
    const reported = node.slice(0, 1)
    expect(drive(followToHead(toKnown(reported), 2, node[4] as LinkedBlock), reported, () => node)).toBe(true)
    expect(toHashes(reported)).toEqual(['a1', 'a2', 'a3', 'a6', 'a7'])
  })

  test('undo what a branch replaces', () => {
    const node = [...createBlocks('a', 1, 3), ...createBlocks('b', 4, 7, 'a')]
    const reported = createBlocks('a', 1, 5)
    expect(drive(followToHead(toKnown(reported), 6, node[6] as LinkedBlock), reported, () => node)).toBe(true)
    expect(toHashes(reported)).toEqual(toHashes(node))
  })

  test('undo the blocks above a known one', () => {
    const reported = createBlocks('a', 1, 5)
    expect(drive(switchBranch(toKnown(reported), createBlock('a', 3)), reported, () => [])).toBe(true)
    expect(toHashes(reported)).toEqual(['a1', 'a2', 'a3'])
  })

  test('end where a branch starts below the known blocks, unless it may replace all of them', () => {
    const node = [createBlock('a', 4), ...createBlocks('b', 5, 7, 'a')]
    const head = createBlock('b', 7)
    expect(drive(switchBranch(toKnown(createBlocks('c', 6, 6)), head), [], () => node)).toBe('tooDeep')
    const reported = createBlocks('c', 5, 6)
    expect(drive(switchBranch(toKnown(reported, true), head), reported, () => node)).toBe(true)
    expect(toHashes(reported)).toEqual(['b5', 'b6', 'b7'])
  })

  test('end if the known blocks are forgotten while a parent is read', () => {
    const chain = { blocks: toKnown(createBlocks('a', 1, 3)).blocks, complete: false }
    const steps = switchBranch(chain, createBlock('b', 6))
    expect(steps.next().value).toEqual({ read: createBlock('b', 6).parentHash })
    chain.blocks = []
    expect(steps.next(createBlock('b', 5))).toEqual({ done: true, value: 'tooDeep' })
  })

  test('end with a parent that is not below its child', () => {
    const node = [{ number: 9, hash: 'b6', parentHash: 'b5' }]
    const reported = createBlocks('a', 1, 5)
    expect(drive(switchBranch(toKnown(reported), createBlock('b', 7)), reported, () => node)).toBe('wrongParent')
  })

  test('undo a block whose number was estimated too high', () => {
    // Number 5 has no block, so that the parent of 6 is 4. Only its hash was known.
    const reported = [...createBlocks('a', 5, 5), createBlock('a', 6)]
    const head = { number: 5, hash: 'b5', parentHash: 'a5' }
    expect(drive(switchBranch(toKnown(reported), head), reported, () => [])).toBe(true)
    expect(toHashes(reported)).toEqual(['a5', 'b5'])
  })

  test.each([
    ['skip numbers before the first block if its parent is below them', 'a2', ['a5', 'a6']],
    ['end where the node lacks the first block, whose child it has', 'a4', []],
    ['end where the node has not even the parent of the first block that it has', 'none', []],
  ])('%s', (_, parentHash, expected) => {
    const node = [...createBlocks('a', 1, 2), { number: 5, hash: 'a5', parentHash }, createBlock('a', 6)]
    const parents = [...node, createBlock('a', 4)]
    const reported: LinkedBlock[] = []
    const steps = followToHead(toKnown(reported, true), 3, createBlock('a', 6))
    let step = steps.next()
    while (step.done !== true) {
      const { value } = step
      if ('report' in value) reported.push(value.report)
      const read = 'read' in value ? value.read : undefined
      step = steps.next(
        typeof read === 'string'
          ? parents.find(({ hash }) => hash === read)
          : node.find(({ number }) => number === read),
      )
    }
    expect(toHashes(reported)).toEqual(expected)
    expect(step.value).toEqual(expected.length > 0 ? true : { missing: 3 })
  })

  test('end where too many numbers have no block', () => {
    const head = createBlock('a', 1_000_000)
    const reported = createBlocks('a', 1, 1)
    let reads = 0
    const end = drive(followToHead(toKnown(reported), 2, head), reported, () => {
      reads += 1
      return []
    })
    expect([end, reads]).toEqual([{ missing: 2 }, mostMissing + 1])
  })

  test('end where blocks that were read at the same time belong to different branches', () => {
    const reported = createBlocks('a', 1, 1)
    const node = [createBlock('a', 2), createBlock('b', 3), createBlock('b', 4)]
    expect(drive(followToHead(toKnown(reported), 2, createBlock('b', 4)), reported, () => node)).toBe(false)
    expect(toHashes(reported)).toEqual(['a1', 'a2'])
  })

  test('form one chain, however the chain changes between two reads', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ above: fc.nat(9), length: fc.integer({ min: 1, max: 6 }) })), (reorgs) => {
        const left = [...reorgs]
        let node = createBlocks('a', 1, 12)
        let branch = 0
        const reported = node.slice(0, 2)
        const known = toKnown(reported, true)
        for (let polls = 0; polls < 30 + 2 * reorgs.length; polls += 1) {
          const newest = reported.at(-1) as LinkedBlock
          const head = node.at(-1) as LinkedBlock
          const steps =
            head.number > newest.number ? followToHead(known, newest.number + 1, head) : switchBranch(known, head)
          const old = [...node]
          drive(steps, reported, () => {
            const reorg = left.pop()
            if (reorg !== undefined) {
              const kept = node.slice(0, -reorg.above - 1)
              const from = kept.length + 1
              branch += 1
              node = kept.concat(createBlocks(`b${branch}-`, from, 13 + branch, kept.length === 0 ? 'genesis' : ''))
              const [first] = node.slice(kept.length)
              if (first !== undefined) node[kept.length] = { ...first, parentHash: kept.at(-1)?.hash ?? 'genesis' }
            }
            // Nodes still serve replaced blocks by their hashes.
            return [...node, ...old]
          })
          for (const [at, block] of reported.entries())
            if (at > 0) expect(block.parentHash).toBe(reported[at - 1]?.hash)
        }
        expect(toHashes(reported)).toEqual(toHashes(node))
      }),
    )
  })
})

test('blocks are read ahead, at most 8 at a time, and each once', async () => {
  const reads: number[] = []
  const readAhead = createReadAhead(async (number) => {
    reads.push(number)
    if (number === 6) throw new Error('no block 6')
    return number
  })
  expect(await readAhead(5, 20)).toBe(5)
  expect(reads).toEqual([5, 6, 7, 8, 9, 10, 11, 12])
  await expect(readAhead(6, 20)).rejects.toThrow('no block 6')
  expect(await readAhead(7, 20)).toBe(7)
  expect(reads.at(-1)).toBe(14)
})
