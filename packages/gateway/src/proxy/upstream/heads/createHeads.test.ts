import { describe, expect, test } from 'vitest'
import { createHeads } from './createHeads.ts'

/** Far above every chain. */
const wrong = 30_000_000

const start = ({ trusting = false } = {}) => {
  let at = 0
  const heads = createHeads({ tolerance: 8, trusting, now: () => at })
  /** Compares heads after some seconds. */
  const after = (seconds: number, ...all: readonly (number | undefined)[]): number => {
    at += seconds * 1_000
    return heads.compare(all)
  }
  const pass = (seconds: number): void => void (at += seconds * 1_000)
  return { heads, after, pass }
}

describe('a head far above the others', () => {
  test('does not count, and the node is doubted until it is back', () => {
    const { heads, after } = start()
    after(0, 100, 100, 100)
    for (let time = 0; time < 600; time += 5) expect(after(5, 100, 100, wrong)).toBe(100)
    expect([0, 1, 2].map(heads.isDoubted)).toEqual([false, false, true])
    expect(heads.get(2)).toBe(100)
    expect(after(5, 101, 101, 101)).toBe(101)
    expect(heads.isDoubted(2)).toBe(false)
  })

  test('of one of two nodes does not count either', () => {
    const { after } = start()
    after(0, 100, 100)
    for (let time = 0; time < 600; time += 5) expect(after(5, 100 + time / 5, wrong)).toBe(100 + time / 5)
  })

  test('at the start does not count if two other nodes agree', () => {
    const { heads, after } = start()
    expect(after(0, 100, wrong, 103)).toBe(103)
    expect(heads.isDoubted(1)).toBe(true)
  })

  test('counts once a second node has it', () => {
    const { heads, after } = start()
    after(0, 100, 100, 100)
    expect(heads.report(0, 5_000)).toBe(false)
    expect(heads.report(1, 5_001)).toBe(true)
    expect([0, 1].map(heads.get)).toEqual([5_000, 5_001])
    expect(heads.isDoubted(0)).toBe(false)
  })

  test('of the only node left counts after half a minute: the chain has jumped', () => {
    const { after } = start()
    after(0, 100, 100)
    expect([after(5, 100, 100), after(5, 5_000, undefined), after(25, 5_001, undefined)]).toEqual([100, 0, 0])
    expect(after(5, 5_002, undefined)).toBe(5_002)
  })

  test.each([1, 10, 60, 3_600])('does not count because nobody has compared heads for %i seconds', (seconds) => {
    const { heads, after, pass } = start()
    after(0, 100, 100, 100)
    after(5, 101, 101, 101)
    pass(seconds)
    expect(heads.report(0, wrong)).toBe(false)
    expect(after(0, 101, 101, wrong)).toBe(101)
  })

  test('at the start of two nodes does not count again once both had lower ones', () => {
    const { after } = start()
    expect(after(0, 100, wrong)).toBe(wrong)
    for (let time = 0; time < 40; time += 5) expect(after(5, 101, 101)).toBe(101)
    expect(after(5, 101, wrong)).toBe(101)
  })

  test.each([
    ['the only one at the start', [[undefined, undefined, wrong]]],
    [
      'the only one at the start, before a second node',
      [
        [undefined, undefined, wrong],
        [200, undefined, wrong],
      ],
    ],
    ['one of two at the start', [[undefined, 200, wrong]]],
    [
      'reported by two nodes once',
      [
        [200, 200, 200],
        [wrong, 200, wrong],
      ],
    ],
  ])('does not count any more once two other nodes agree, if it was %s', (_, before) => {
    const { heads, after } = start()
    for (const round of before) after(5, ...round)
    for (let block = 256; block < 656; block += 1) expect(after(5, block, block, wrong)).toBe(block)
    expect([0, 1, 2].map(heads.isDoubted)).toEqual([false, false, true])
    expect(heads.isCredible(wrong)).toBe(false)
    expect(heads.get(2)).not.toBe(wrong)
  })

  test.each([
    ['two other nodes were', [undefined, undefined, wrong], [300, 300, wrong]],
    ['one other node was', [undefined, wrong], [300, wrong]],
  ])('counts while %s down, and no longer', (_, alone, back) => {
    const { heads, after } = start()
    after(0, ...back.map((head) => (head === wrong ? 256 : head - 44)))
    after(5, ...back.map((head) => (head === wrong ? wrong : 256)))
    for (let time = 0; time <= 60; time += 5) after(5, ...alone)
    expect(after(5, ...alone)).toBe(wrong)
    for (let time = 0; time < 1_000; time += 5) expect(after(5, ...back)).toBe(300)
    expect(heads.isDoubted(back.length - 1)).toBe(true)
    expect(heads.isCredible(wrong)).toBe(false)
  })

  test('counts if two nodes agreed on it for half a minute, and the others come from behind', () => {
    const { after } = start()
    after(0, 100, 100, 100)
    for (let time = 0; time <= 35; time += 5) after(5, undefined, 5_000, 5_000)
    for (let block = 100; block < 500; block += 1) expect(after(5, block, block, 5_000)).toBe(5_000)
  })

  test('counts at once if callers can rewrite the chain', () => {
    const { after } = start({ trusting: true })
    after(0, 100, 100)
    expect(after(1, 100, 5_000)).toBe(5_000)
  })
})

describe('a head that the chain can have got to', () => {
  test('counts although the other nodes are stuck', () => {
    const { after } = start()
    after(0, 100, 100, 100)
    for (let block = 1; block < 100; block += 1) expect(after(12, 100, 100, 100 + block)).toBe(100 + block)
  })

  test('counts on a fast chain of one node', () => {
    const { after } = start()
    after(0, 100)
    for (let round = 1; round < 100; round += 1) expect(after(30, 100 + round * 120)).toBe(100 + round * 120)
  })

  test('counts after the chain has stood still', () => {
    const { after } = start()
    after(0, 100, 100)
    for (let time = 0; time < 3_600; time += 60) after(60, 100, 100)
    expect(after(5, 400, 401)).toBe(401)
    expect(after(5, 405, 402)).toBe(405)
  })

  test.each([
    ['of a quarter of a second', 0.25],
    ['of 0.4 seconds', 0.4],
    ['of two seconds', 2],
    ['of twelve seconds', 12],
    ['of ten minutes', 600],
  ])('counts with blocks %s, while another node is stuck, and after an hour without calls', (_, blockSeconds) => {
    const { after } = start()
    let time = 0
    const getHead = (): number => 1_000 + Math.floor(time / blockSeconds)
    const compare = (seconds: number): void => {
      time += seconds
      expect(after(seconds, 1_000, getHead())).toBe(getHead())
    }
    for (let round = 0; round < 200; round += 1) compare(5)
    compare(3_600)
    // The chain has no new blocks.
    for (let round = 0; round < 1_000; round += 1) after(60, 1_000, getHead())
    for (let round = 0; round < 200; round += 1) compare(5)
  })

  test('does not count beyond the pace that was measured', () => {
    const { heads, after } = start()
    after(0, 100, 100)
    for (let block = 1; block <= 20; block += 1) after(12, 100 + block, 100 + block)
    // Three blocks of tolerance and pace each second would not do.
    expect(after(6, 120, 120 + 200)).toBe(120)
    expect(heads.isDoubted(1)).toBe(true)
  })
})

test('a reset of the chain counts after half a minute although a node is down', () => {
  const { heads, after } = start()
  for (let time = 0; time < 60; time += 5) after(5, 5_000, 5_000, undefined)
  for (let time = 0; time < 35; time += 5) expect(after(5, 3, 3, undefined)).toBe(3)
  expect(after(5, 4, 4, 5_000)).toBe(4)
  expect(heads.isDoubted(2)).toBe(true)
})

test('a lower head always counts: a node can be behind, and a chain can be reset', () => {
  const { heads, after } = start()
  after(0, 100, 100)
  expect(after(5, 3, 3)).toBe(3)
  expect([0, 1].map(heads.get)).toEqual([3, 3])
})
